# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real playbooks: what the user sees when hosts are wrong in several ways at once."""

import json
import re

from observed import NODE, node
from preflight_site import GOOD, PLAYBOOK, recap, status


def test_good_hosts_pass_and_leave_a_verdict_below_the_working_directory_whatever_pwd_says(site):
    # A program that starts Ansible elsewhere than in its own folder, such as ansible-runner, leaves PWD as it was.
    (site.folder / "stale").mkdir()
    done = site.play({"gpu1": GOOD, "gpu2": GOOD}, pwd=site.folder / "stale")
    assert done.returncode == 0 and not list((site.folder / "stale").iterdir()), done.output
    (verdict,) = site.verdicts()
    assert verdict["status"] == "pass" and list(verdict["hosts"]) == ["gpu1", "gpu2"]
    assert verdict["created"].endswith("+00:00")
    assert "changed=0" in done.output and "FAILED" not in done.output


def test_everything_that_is_wrong_is_in_one_table_and_stops_every_host(site):
    hosts = {
        "fine": GOOD,
        "no-enis": {"taco_node": node("nics", []), "hugepages_max_memroy_fraction": 0.5, "eni_cuont": 3},
        "no-gpus": {"taco_node": NODE, "taco_gpus_per_node": 0, "taco_image": "{{ nowhere }}/image:1"},
        "away": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9},
        "no-python": {"ansible_python_interpreter": "/no/such/python3"},
    }
    after = {"hosts": "gpu_nodes", "gather_facts": False, "tasks": [{"ansible.builtin.debug": {"msg": "went on"}}]}
    done = site.play(hosts, plays=PLAYBOOK + [after], group={"harp_script_sha256": None, "report_mail": "a@b"})
    # Ansible's status when a host is unreachable.
    assert done.returncode == 4 and "went on" not in done.output, done.output
    assert "Traceback" not in done.output
    words = ["eni.count", "gpu.declared", "variables.known", "harp.checksum", "host.observed", "cluster.same_gpus"]
    words += ["eni_cuont (did you mean", "taco_gpus_per_node", "nowhere", "/no/such/python3"]
    text = " ".join(done.output.split())
    for word in words + list(hosts):
        assert word in text, word
    (verdict,) = site.verdicts()
    assert status(verdict, "away", "host.observed") == status(verdict, "no-python", "host.observed") == "fail"
    assert status(verdict, "fine", "host.observed") == "pass"
    assert status(verdict, "no-enis", "eni.count") == "fail" and status(verdict, "fine", "eni.count") == "pass"
    assert status(verdict, "no-enis", "variables.known") == "fail"
    assert status(verdict, "fine", "harp.checksum") == "fail"
    # A failure is reported at the host that has it.
    rows = {host: (row["failed"], row["unreachable"]) for host, row in recap(done.output).items()}
    assert (rows["fine"], rows["no-enis"], rows["away"]) == ((1, 0), (1, 0), (0, 1)), done.output
    assert done.output.count("Preflight: ") == 1
    # The table is shown once, with the path of the verdict; then each host has a line.
    assert text.count("eni_cuont (did you mean") == 1 and "wait for host.observed" in text, done.output
    (path,) = site.folder.glob("results/*/verdict.json")
    assert f"\nAll checks: {path}\n" in done.output or f"\nAll checks: {path.relative_to(site.folder)}\n" in done.output
    for host, failed in (("fine", "FAILED"), ("no-enis", "FAILED"), ("away", "UNREACHABLE")):
        assert re.search(rf"(?m)^fatal: \[{host}\]: {failed}! => {{.*see the rows of this host.*}}$", done.output), host


def test_a_failure_of_all_hosts_together_is_reported_at_each_and_values_of_a_host_count_for_it_alone(site):
    done = site.play({"gpu1": GOOD, "gpu2": dict(GOOD, taco_image="other:1", eni_count=7)})
    assert {host: row["failed"] for host, row in recap(done.output).items()} == {"gpu1": 1, "gpu2": 1}, done.output
    assert done.output.count("cluster.same_image") == 1, done.output
    (verdict,) = site.verdicts()
    assert [status(verdict, host, "eni.count") for host in ("gpu1", "gpu2")] == ["pass", "fail"]


def test_a_host_that_can_not_be_observed_ends_no_other_one_in_a_play_with_any_errors_fatal(site):
    hosts = {"a-fine": {}, "b-broken": {"ansible_python_interpreter": "/nowhere/python3"}}
    done = site.play(hosts, plays=[dict(PLAYBOOK[0], any_errors_fatal=True)])
    assert done.returncode == 2 and "is undefined" not in done.output, done.output
    (verdict,) = site.verdicts()
    assert status(verdict, "a-fine", "host.observed") == "pass", done.output
    assert status(verdict, "b-broken", "host.observed") == "fail", done.output


def test_a_batch_without_a_failure_of_its_own_stops_for_those_of_other_batches(site):
    hosts = {"gpu1": GOOD, "gpu2": {"taco_node": node("nics", [])}}
    then = dict(PLAYBOOK[0], serial=1, tasks=[{"ansible.builtin.debug": {"msg": "went on"}}])
    done = site.play(hosts, plays=[then])
    assert done.returncode == 2 and "went on" not in done.output, done.output
    assert "this host passed every check, but checks failed on gpu2" in " ".join(done.output.split())
    # A host that is observed later only is not called broken.
    done = site.play({"gpu1": GOOD, "gpu2": {}}, plays=[then])
    assert done.returncode == 2 and "another batch of the play" in done.output, done.output
    assert "remove `serial` from the play" in done.output


def test_check_mode_shows_the_table_and_neither_stops_nor_writes(site):
    done = site.play({"gpu1": {"taco_node": node("nics", [])}}, "--check")
    assert done.returncode == 0, done.output
    assert "eni.count" in done.output and "0 of 8" in done.output and "All checks:" not in done.output
    assert not (site.folder / "results").exists()


def test_without_the_gate_the_table_is_shown_and_the_run_goes_on(site):
    done = site.play({"gpu1": {"taco_node": node("nics", [])}}, group={"preflight_gate": False})
    assert done.returncode == 0 and "eni.count" in done.output, done.output
    assert site.verdicts()[0]["status"] == "fail"


def test_users_leave_out_checks_and_add_their_own_of_which_one_that_can_not_be_computed_is_a_row(site):
    own = [
        {"id": "site.driver", "query": "gpus.driver_version", "expected": "999", "fix": "install driver 999"},
        {"id": "site.broken", "query": "[["},
        {"id": "site.null", "query": "starts_with(gpus.nothing, '5')"},
    ]
    group = {"preflight_skip": ["eni.count"], "preflight_extra_checks": own}
    done = site.play({"gpu1": {"taco_node": node("nics", [])}}, group=group)
    assert done.returncode == 2 and "Traceback" not in done.output, done.output
    (verdict,) = site.verdicts()
    assert status(verdict, "gpu1", "eni.count") == "skip"
    assert [status(verdict, "gpu1", one["id"]) for one in own] == ["fail"] * 3 and verdict["summary"]["fail"] == 3
    for word in ("site.driver", "site.broken", "site.null", "'[['", "preflight_extra_checks"):
        assert word in done.output, word


# Of each play its wrong variable, and what is said.
WRONG = [
    ({"preflight_skip": ["eni.cuont"]}, ["eni.cuont", "eni.count"]),
    ({"preflight_extra_checks": [{"query": "x"}]}, ["missing required arguments: id"]),
    ({"preflight_gpu_source": "guess"}, ["preflight_gpu_source", "observed, inventory"]),
]


def test_bad_options_are_refused_in_words(site):
    role = {"ansible.builtin.include_role": {"name": "taco.train.preflight"}}
    tasks = [{"block": [role], "rescue": [{"ansible.builtin.debug": {"msg": "refused"}}]}]
    plays = [dict(PLAYBOOK[0], roles=[], tasks=tasks, vars=variables) for variables, _words in WRONG]
    done = site.play({"gpu1": GOOD}, plays=plays)
    said = done.output.split("PLAY [")[1:]
    assert done.returncode == 0 and "Traceback" not in done.output and len(said) == len(WRONG), done.output
    for text, (_variables, words) in zip(said, WRONG):
        assert "fatal: [gpu1]" in text and [word for word in words if word not in text] == [], text


def test_the_action_judges_the_hosts_it_is_given(site):
    tasks = [
        {"taco.train.preflight": {"hosts": [host], "verdict_path": "out/verdict.json"}, "run_once": True}
        for host in ("gpu2", "elsewhere")
    ]
    plays = [{"hosts": "gpu_nodes", "gather_facts": False, "tasks": tasks}]
    done = site.play({"gpu1": {}, "gpu2": GOOD}, plays=plays)
    assert list(json.loads((site.folder / "out/verdict.json").read_text())["hosts"]) == ["gpu2"]
    assert done.returncode == 2 and "elsewhere" in done.output, done.output


def test_a_verdict_that_cannot_be_written_is_an_error_that_names_the_file(site):
    (site.folder / "file").write_text("")
    task = {"taco.train.preflight": {"verdict_path": str(site.folder / "file/verdict.json")}, "run_once": True}
    playbook = [{"hosts": "gpu_nodes", "gather_facts": False, "tasks": [task]}]
    done = site.play({"gpu1": {"taco_node": node("nics", [])}}, plays=playbook)
    assert "eni.count" in done.output and "0 of 8" in done.output
    # A long path may be broken where a line of the message ends.
    said = "".join(done.output.split())
    assert done.returncode == 2 and "file/verdict.json" in said and "Traceback" not in said


def test_the_role_observes_by_itself(site):
    # This machine is a host like any other; what is wrong with it depends on the machine.
    done = site.play({"here": {}}, group={"preflight_gate": False})
    assert done.returncode == 0, done.output
    (verdict,) = site.verdicts()
    assert status(verdict, "here", "host.observed") == "pass"


def test_the_role_eni_counts_and_names_what_it_found(site):
    play = {"hosts": "gpu_nodes", "gather_facts": False, "roles": ["taco.train.eni"]}
    plays = [dict(play, vars={"eni_count": count}) for count in (0, 8)]
    done = site.play({"gpu1": GOOD}, group={"eni_pattern": "^no-such-interface$"}, plays=plays)
    first, second = done.output.split("PLAY [")[1:]
    assert "fatal:" not in first and "changed=0" in second, done.output
    assert done.returncode == 2 and "0 of 8 secondary ENIs found (8 missing)" in second, done.output


def test_each_host_is_looked_for_among_the_nodes_by_its_own_name(site):
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    found = {
        "error": None,
        "missing": [],
        "crd": None,
        "nodes": [dict(ready, metadata={"name": name}) for name in ("gpu1", "10.0.0.3")],
    }
    tasks = [
        {"ansible.builtin.import_role": {"name": "taco.train.common", "tasks_from": "run"}},
        {"taco.train.preflight": {"verdict_path": "verdict.json", "gate": False}, "run_once": True},
    ]
    hosts = {"gpu1": GOOD, "gpu2": GOOD, "gpu3": dict(GOOD, taco_node_name="10.0.0.3")}
    play = [{"hosts": "gpu_nodes", "gather_facts": False, "tasks": tasks}]
    done = site.play(hosts, plays=play, group={"taco_platform": "tke", "__preflight_cluster": {"kubernetes": found}})
    assert done.returncode == 0, done.output
    verdict = json.loads((site.folder / "verdict.json").read_text())
    assert [status(verdict, host, "kubernetes.node") for host in hosts] == ["pass", "fail", "pass"]
    assert status(verdict, "gpu1", "engine.present") == "skip"
    assert [check["id"] for check in verdict["fleet"] if check["status"] == "fail"] == ["kubernetes.mpijob"]
