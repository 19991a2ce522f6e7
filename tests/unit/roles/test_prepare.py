# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""prepare.yml ends when all hosts were observed to be as its roles would leave them, and never else."""

import hashlib
import json
import re

import playbook
import pytest
from observed import NODE
from playbook import COLLECTIONS
from played import check, run

from ansible_collections.taco.train.plugins.module_utils._harp.harp import manifest_text

PLAY = f"""
- name: Prepare
  ansible.builtin.import_playbook: {COLLECTIONS}/ansible_collections/taco/train/playbooks/prepare.yml
"""
RESERVED = {
    "reboot_required": False,
    "layout": "grub-d",
    "page_size": "1G",
    "count": 50,
    "said": ["50"],
    "kernel_args": {"before": [], "after": []},
    "kept": [],
    "trial": False,
    "state_dir": "/var/lib/taco-train",
}
MANIFEST = hashlib.sha256(manifest_text(NODE, [f"eth{number}" for number in range(1, 9)]).encode()).hexdigest()
SETTLED = dict(
    NODE,
    boot=dict(NODE["boot"], hugepages=RESERVED),
    harp=dict(NODE["harp"], manifest="/var/lib/taco-train/host-manifest.json", manifest_sha256=MANIFEST),
)
VARIABLES = {"hugepages_count": 50, "taco_gpus_per_node": 8, "harp_source": "none", "eni_count": 8}
ROLE_TASK = "TASK [taco.train.hugepages"


def played(folder, options=(), node=SETTLED):
    """Return the exit status and what was said of one host, observed like this, with these extra variables."""
    return check(folder, PLAY, {"gpu1": dict(VARIABLES, taco_node=node)}, {"taco_hosts": "all", **dict(options)})


def test_a_host_that_is_as_it_should_be_sees_no_task_of_the_roles(tmp_path):
    # Extra variables arrive as text, and count alike.
    status, output = played(tmp_path, {"hugepages_count": "50", "hugepages_trial": "false"})
    assert status == 0, output
    assert ROLE_TASK not in output
    assert re.search(r"gpu1\s+: ok=\d+\s+changed=0 .*failed=0", output)


def seen(**parts):
    return {"taco_node": dict(SETTLED, **parts)}


# Of each host its variables, and the roles that would change it.
HOSTS = {
    "settled": ({}, []),
    "other-pages": (seen(boot=dict(NODE["boot"], hugepages=dict(RESERVED, count=49))), ["hugepages"]),
    "other-manifest": (seen(harp=dict(SETTLED["harp"], manifest_sha256="0" * 64)), ["harp"]),
    "fewer-nics": (seen(nics=NODE["nics"][:8]), ["eni", "harp"]),
    # A null is no default.
    "null": ({"hugepages_runtime": None}, ["hugepages"]),
    # For a node of a cluster the cluster is asked, too.
    "cluster": ({"taco_platform": "tke"}, None),
}


def test_each_role_and_each_host_counts(tmp_path):
    hosts = {name: {**VARIABLES, "taco_node": SETTLED, **own} for name, (own, _found) in HOSTS.items()}
    run(tmp_path, PLAY, hosts, {"taco_hosts": "all"}, ["--check", "--tags", "always"])
    results = playbook.results(tmp_path, "Check whether the host already has the desired state")
    roles = {name: results[name].get("roles") for name in hosts}
    found = {name: own and [role for role, converged in own.items() if not converged] for name, own in roles.items()}
    assert found == {name: expected for name, (_own, expected) in HOSTS.items()}
    assert {name for name in hosts if results[name].get("converged")} == {"settled"}


def test_one_host_with_a_fault_has_all_go_through_the_roles(tmp_path):
    common = dict(VARIABLES, taco_node=SETTLED)
    hosts = {"gpu1": common, "gpu2": dict(common, eni_count=9)}
    status, output = check(tmp_path, PLAY, hosts, {"taco_hosts": "all"})
    assert status != 0
    assert f"{ROLE_TASK} : Reserve hugepages" in output
    assert "8 of 9 secondary ENIs found" in output and re.search(r"gpu2\s+: ok=\d+ .*failed=1", output), output


# What is wrong on each host of a play. The first role at which one fails ends it.
WRONG = {
    "hugepages": [{"hugepages_max_memory_fraction": "much"}, {"hugepages_count": "{{ nobody_set_this }}"}],
    "eni": [{"eni_subnets": ["10.90.0.0/16"]}, {"eni_pattern": "("}],
    "harp": [{"harp_template": "{{ nobody_set_this }}", "harp_source": "template"}],
}


@pytest.mark.parametrize("role", WRONG)
def test_what_is_wrong_with_the_variables_is_said_by_the_roles(tmp_path, role):
    hosts = {f"gpu{n}": {**VARIABLES, "taco_node": SETTLED, **own} for n, own in enumerate(WRONG[role])}
    status, output = check(tmp_path, PLAY, hosts, {"taco_hosts": "all"})
    before, *said = output.split("fatal: [")
    assert status != 0 and {text.split("]")[0] for text in said} == set(hosts), output
    assert before.rpartition("TASK [")[2].startswith(f"taco.train.{role} : "), output
    assert "taco.train.converged" not in said[0], output


def test_a_role_of_which_nothing_is_known_is_refused(tmp_path):
    play = json.dumps(
        [
            {
                "name": "Ask",
                "hosts": "all",
                "gather_facts": False,
                "tasks": [{"name": "Ask", "taco.train.converged": {"roles": ["report"]}}],
            }
        ]
    )
    status, output = check(tmp_path, play, {"gpu1": {}}, {})
    assert status != 0 and "value of roles must be one or more of: container_engine, eni" in output, output


def test_variables_of_the_reboot_are_checked_though_none_is_needed(tmp_path):
    status, output = played(tmp_path, {"reboot_batch": "many"})
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


def test_a_node_of_a_cluster_is_prepared_with_an_empty_plan_whichever_host_is_first(tmp_path):
    checked = {"taco_hosts": "all", "taco_plan": "plan.json", "plan_checked": {"empty": True}}
    hosts = {"gpu1": dict(VARIABLES, taco_node=SETTLED), "node1": dict(VARIABLES, taco_node=NODE, taco_platform="tke")}
    _status, output = check(tmp_path, PLAY, hosts, checked)
    assert ROLE_TASK in output, output


def test_where_variables_of_roles_are_private_the_roles_find_out(tmp_path, monkeypatch):
    monkeypatch.setenv("ANSIBLE_PRIVATE_ROLE_VARS", "1")
    status, output = played(tmp_path)
    assert status == 0 and ROLE_TASK in output, output


def test_an_empty_plan_ends_it_early(tmp_path):
    checked = {"taco_plan": "plan.json", "plan_checked": {"empty": True}}
    status, output = played(tmp_path, checked, node=NODE)
    assert status == 0 and ROLE_TASK not in output, output


def test_an_empty_path_of_a_plan_is_refused_because_the_playbook_alone_applies_none(tmp_path):
    status, output = played(tmp_path, {"taco_plan": ""})
    assert status == 2 and ROLE_TASK not in output, output
    assert "this playbook does not apply plans" in output and "taco.train.site" in output, output
