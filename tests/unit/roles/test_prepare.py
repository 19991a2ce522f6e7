# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The roles of prepare.yml each call their module once, a second run changes nothing, and wrong values are named."""

import json
import re

import playbook
import pytest
from boot_host import LINE, debian_host
from observed import NODE
from playbook import COLLECTIONS
from played import check, run

PLAY = f"""
- name: Prepare
  ansible.builtin.import_playbook: {COLLECTIONS}/ansible_collections/taco/train/playbooks/prepare.yml
"""
VARIABLES = {"hugepages_count": 50, "taco_gpus_per_node": 8, "harp_source": "none", "eni_count": 8}
ROLE_TASK = "TASK [taco.train.hugepages"
# The roles of the playbook on a copy of a boot configuration.
ROLES = """
- name: Prepare
  hosts: all
  gather_facts: false
  module_defaults: {taco.train.hugepages: {sysroot: "{{ playbook_dir }}/root"}}
  roles: [taco.train.hugepages, taco.train.reboot, taco.train.eni, taco.train.harp]
"""


def executed(folder):
    """The modules that ran on the host in the last play, by the names of their tasks, and whether they changed it."""
    lines = [json.loads(line) for line in (folder / playbook.RESULTS).read_text().splitlines()]
    return [(line["task"], line["result"]["changed"]) for line in lines if "invocation" in line["result"]]


def test_a_second_run_executes_each_module_once_and_changes_nothing(tmp_path):
    root = debian_host(tmp_path / "root")
    hosts = {"gpu1": dict(VARIABLES, reboot_required_now=False)}
    options = {"taco_state_dir": str(tmp_path / "state"), "taco_results_dir": str(tmp_path / "results")}
    status, output = run(tmp_path, ROLES, hosts, options)
    assert status == 0 and [changed for _task, changed in executed(tmp_path)] == [True, False, True], output
    # The host boots.
    (root / "proc/cmdline").write_text("BOOT_IMAGE=/boot/vmlinuz ro " + LINE.format(50))
    (root / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("50\n")
    status, output = run(tmp_path, ROLES, hosts, options)
    assert status == 0 and executed(tmp_path) == [
        ("taco.train.hugepages : Reserve hugepages in the boot configuration or restore it", False),
        ("taco.train.eni : Check that there is an ENI for each GPU", False),
        ("taco.train.harp : Configure HARP or restore its original configuration", False),
    ], output


# What is wrong on each host of a play, and the words that say it.
WRONG = {
    "eni": ([{"eni_subnets": ["10.90.0"]}, {"eni_pattern": "("}], [f"gpu{n}: the role taco.train.eni" for n in (0, 1)]),
    "harp": (
        [{"harp_template": "{{ nobody_set_this }}", "harp_source": "template"}],
        ["'nobody_set_this' is undefined"],
    ),
}


@pytest.mark.parametrize("role", WRONG)
def test_what_is_wrong_with_the_variables_is_said_before_a_module_of_the_role_runs(tmp_path, role):
    wrong, words = WRONG[role]
    hosts = {f"gpu{n}": {**VARIABLES, "taco_node": NODE, **own} for n, own in enumerate(wrong)}
    status, output = run(tmp_path, PLAY, hosts, {"taco_hosts": "all"}, ["--check", "--tags", role])
    assert status != 0 and executed(tmp_path) == [], output
    assert [text for text in words if text not in output] == [], output


def test_wrong_values_of_the_first_role_are_said_for_all_hosts_before_it_begins(tmp_path):
    shares = {"gpu0": "much", "gpu1": 2}
    hosts = {name: dict(VARIABLES, hugepages_max_memory_fraction=share) for name, share in shares.items()}
    status, output = run(tmp_path, PLAY, hosts, {"taco_hosts": "all"}, ["--check", "--tags", "hugepages"])
    assert status != 0 and "TASK [taco.train.hugepages" not in output, output
    for name, share in shares.items():
        assert f"{name}: the role taco.train.hugepages" in output, output
        assert f"hugepages_max_memory_fraction: {share}; expected" in output, output


def test_a_host_with_another_number_of_enis_ends_the_play_for_all(tmp_path):
    hosts = {"gpu1": VARIABLES, "gpu2": dict(VARIABLES, eni_count=9)}
    status, output = run(tmp_path, PLAY, hosts, {"taco_hosts": "all"}, ["--check", "--tags", "eni,harp"])
    assert status != 0 and "TASK [taco.train.harp" not in output, output
    assert "8 of 9 secondary ENIs found" in output and re.search(r"gpu2\s+: ok=\d+ .*failed=1", output), output


def test_variables_of_the_reboot_are_checked_though_none_is_needed(tmp_path):
    hosts, options = {"gpu1": dict(VARIABLES, taco_node=NODE)}, {"taco_hosts": "all", "reboot_batch": "many"}
    status, output = run(tmp_path, PLAY, hosts, options, ["--check", "--tags", "reboot"])
    assert status != 0 and "reboot_batch" in output, output


def test_hosts_that_do_not_use_harp_are_prepared_for_nothing_and_those_that_do_are(tmp_path):
    bare = dict(taco_node=dict(NODE, nics=NODE["nics"][:1]), taco_gpus_per_node=8)
    hosts = {"gpu1": dict(bare, training_container_profile="lightcc"), "gpu2": dict(VARIABLES, taco_node=NODE)}
    status, output = check(tmp_path, PLAY, hosts, {"taco_hosts": "all"})
    tasks = output.partition(ROLE_TASK)[2]
    assert tasks and "[gpu1]" not in tasks and "[gpu2]" in tasks, output
    assert re.search(r"gpu1\s+: ok=\d+\s+changed=0 .*failed=0", output), (status, output)


DEPLOY = PLAY.replace("prepare", "deploy")


@pytest.mark.parametrize("profile", ["ttf", "lightcc"])
def test_one_host_whose_container_has_a_network_of_its_own_gets_no_ssh(tmp_path, profile):
    # Of the roles only that of SSH is asked for, as there is no Docker Engine here.
    status, output = run(
        tmp_path,
        DEPLOY,
        {"gpu1": {"training_container_profile": profile}},
        {"taco_hosts": "all"},
        ["--check", "--tags", "ssh_trust"],
    )
    tried = re.findall(r"TASK \[taco\.train\.ssh_trust.*\n(?!skipping)", output)
    assert bool(tried) == (profile == "lightcc"), output
    assert status == 0 or profile == "lightcc", output


def test_deploy_checks_the_hosts_of_docker_although_the_first_host_is_a_node_of_a_cluster(tmp_path):
    hosts = {"node1": {"taco_platform": "tke"}, "gpu1": {"taco_state_dir": "no/path"}}
    status, output = check(tmp_path, DEPLOY, hosts, {"taco_hosts": "all"})
    assert status == 2 and "gpu1: the role taco.train.common can't run" in output, output
    assert "[node1]" not in output.partition("TASK [taco.train.common")[2], output


def test_an_empty_path_of_a_plan_is_refused_because_the_playbook_alone_applies_none(tmp_path):
    status, output = check(tmp_path, PLAY, {"gpu1": VARIABLES}, {"taco_hosts": "all", "taco_plan": ""})
    assert status == 2 and ROLE_TASK not in output, output
    assert "this playbook does not apply plans" in output and "taco.train.site" in output, output
