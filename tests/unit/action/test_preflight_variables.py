# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wrong variables of hosts, in real playbooks."""

from preflight_site import GOOD, PLAYBOOK, status


def test_wrong_values_of_any_role_stop_every_host_and_are_named_with_their_hosts(site):
    hosts = {"gpu1": dict(GOOD, taco_ssh_port=99999), "gpu2": dict(GOOD, eni_subnets=["10.0.1.0/33"])}
    given = ["-e", "benchmark_arm=nope", "-e", "benchmark_timeout=abc", "-e", "reboot_batch=lots"]
    given += [
        "-e",
        "hugepages_count=fifty",
        "-e",
        '{"benchmark_options": {"script": "files/../nosuch.py"}}',
        "-e",
        '{"compare_arms": ["tcp", "nope"]}',
    ]
    done = site.play(hosts, *given, group={"hugepages_page_size": "4G", "harp_script_sha256": "0" * 64})
    assert done.returncode == 2 and "Traceback" not in done.output, done.output
    (verdict,) = site.verdicts()
    of_hosts = {
        name: {check["found"].split(":")[0] for check in host["checks"] if check["status"] == "fail"}
        for name, host in verdict["hosts"].items()
    }
    everywhere = {"benchmark_arm", "benchmark_timeout", "reboot_batch", "hugepages_count", "compare_arms"}
    everywhere |= {"hugepages_page_size", "harp_script_sha256", "benchmark_options.script"}
    assert of_hosts == {"gpu1": everywhere | {"taco_ssh_port"}, "gpu2": everywhere | {"eni_subnets"}}


def test_options_that_the_chosen_workload_does_not_have_are_found_before_anything_is_prepared(site):
    done = site.play({"gpu1": GOOD, "gpu2": dict(GOOD, benchmark_options={"scrip": "files/x.py"})})
    assert done.returncode == 2, done.output
    (verdict,) = site.verdicts()
    assert verdict["hosts"]["gpu1"]["status"] == "pass"
    (found,) = [check["found"] for check in verdict["hosts"]["gpu2"]["checks"] if check["status"] == "fail"]
    assert "benchmark_options has scrip, which is no option of workload horovod_synthetic" in found


def test_variables_of_other_roles_are_declared_and_do_not_stop_the_play(site):
    group = {"reboot_required": True, "eni_subnet": "10.0.0.0/8", "taco_api_key": "x"}
    declared = {"preflight_known_variables": ["reboot_required", "eni_subnet", "taco_api_*"]}
    done = site.play({"gpu1": GOOD}, group=group, plays=[dict(PLAYBOOK[0], vars=declared), *PLAYBOOK])
    first, second = done.output.split("PLAY [")[1:]
    assert "fatal:" not in first and "WARNING" not in done.output, done.output
    assert done.returncode == 2 and "preflight_known_variables" in second, done.output


def test_values_at_which_conversion_itself_fails_are_rows_of_the_table(site):
    (site.folder / "group_vars").mkdir()
    (site.folder / "group_vars/all.yml").write_text("benchmark_timeout: .inf\n")
    done = site.play({"gpu1": GOOD}, group={"preflight_known_variables": 5})
    assert done.returncode == 2, done.output
    (verdict,) = site.verdicts()
    found = [check["found"] for check in verdict["hosts"]["gpu1"]["checks"] if check["status"] == "fail"]
    assert found == ["benchmark_timeout: inf"], found
    (site.folder / "group_vars/all.yml").write_text("taco_api_key: 1\npreflight_known_variables: taco_api_*\n")
    done = site.play({"gpu1": GOOD})
    assert done.returncode == 0 and "WARNING" not in done.output, done.output


def test_a_value_that_cannot_be_computed_is_named_and_not_taken_for_a_missing_one(site):
    done = site.play({"gpu1": GOOD}, group={"harp_script_sha256": "{{ vault_of_site }}"})
    assert done.returncode == 2, done.output
    (verdict,) = site.verdicts()
    assert status(verdict, "gpu1", "harp.checksum") == "skip" and status(verdict, "gpu1", "variables.known") == "fail"
    (found,) = [check["found"] for check in verdict["hosts"]["gpu1"]["checks"] if check["status"] == "fail"]
    assert found.startswith("harp_script_sha256 can't be computed") and "vault_of_site" in found


def test_a_value_without_its_vault_password_is_named(site):
    vaulted = "$ANSIBLE_VAULT;1.1;AES256\n" + "61" * 40 + "\n"
    site.folder.joinpath("group_vars").mkdir()
    text = "harp_script_sha256: !vault |\n" + "".join(f"  {line}\n" for line in vaulted.splitlines())
    site.folder.joinpath("group_vars/all.yml").write_text(text)
    done = site.play({"gpu1": GOOD}, without=["harp_script_sha256"])
    assert done.returncode == 2, done.output
    (verdict,) = site.verdicts()
    (found,) = [check["found"] for check in verdict["hosts"]["gpu1"]["checks"] if check["status"] == "fail"]
    assert found.startswith("harp_script_sha256 can't be computed") and "vault" in found


def test_variables_of_the_command_line_and_of_the_play_count(site):
    bad = site.play({"gpu1": GOOD}, "-e", '{"eni_count": 3, "hugepages_max_memroy_fraction": 1}')
    assert bad.returncode == 2 and "8 of 3" in bad.output, bad.output
    playbook = [dict(PLAYBOOK[0], vars={"eni_count": 5, "taco_gpus_per_node": 4})]
    bad = site.play({"gpu1": GOOD}, plays=playbook)
    assert bad.returncode == 2 and "8 of 5" in bad.output, bad.output
    assert "set taco_gpus_per_node: 8 to use them all" in " ".join(bad.output.split())
