# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role plan on this machine as two hosts: it saves what the roles decide in check mode, and refuses a host that differs."""

import json

import pytest
from boot_host import debian_host
from guides import COLLECTION
from observed import NODE
from observed import VARIABLES as COMMON
from played import run

from ansible_collections.taco.train.plugins.plugin_utils.run.owner import identity

# The boot configuration of the hosts is a copy.
DEFAULTS = "module_defaults: {taco.train.hugepages: {sysroot: '{{ boot_root }}'}}"
PLAY = f"""
- name: Plan
  hosts: all
  gather_facts: false
  {DEFAULTS}
  # A plan has the addresses of the inventory.
  vars: {{ansible_host: of the play}}
  roles:
    - role: taco.train.plan
"""
CHECK = f"""
- name: Check
  hosts: all
  gather_facts: false
  {DEFAULTS}
  tasks:
    - name: Compare the hosts with the plan
      ansible.builtin.include_role:
        name: taco.train.plan
        tasks_from: checked
      vars:
        plan_playbook: site
    - name: Show that the host goes on
      ansible.builtin.debug:
        msg: "{{{{ inventory_hostname }}}} goes on"
"""
LOSE = """
    - name: Lose a host
      ansible.builtin.fail:
        msg: lost
      when: inventory_hostname == 'gpu2'
"""
LOST = CHECK.replace("  tasks:\n", "  tasks:" + LOSE)
COMPARE = (
    CHECK
    + """
    - name: Compare the applied changes with the plan
      ansible.builtin.include_role:
        name: taco.train.plan
        tasks_from: compared
      vars:
        plan_playbook: site
"""
)
APPLY = """
- name: Apply
  hosts: all
  gather_facts: false
  pre_tasks:
    - name: Compare the hosts with the plan
      ansible.builtin.include_role:
        name: taco.train.plan
        tasks_from: checked
  roles:
    - role: taco.train.reboot
    - role: taco.train.container_engine
    - role: taco.train.training_container
    - role: taco.train.ssh_trust
  tasks:
    - name: Compare the applied changes with the plan
      ansible.builtin.include_role:
        name: taco.train.plan
        tasks_from: compared
"""
VARIABLES = {**COMMON, "harp_source": "none", "eni_count": 8, "hugepages_count": 50, "container_engine_gpu": False}


def hosts(folder, **observed):
    """Two hosts without Docker Engine. observed is {host: facts that differ}."""
    root = folder / "root"
    if not root.exists():
        debian_host(root)
    node = dict(NODE, container_engine=None)
    return {
        host: dict(VARIABLES, boot_root=str(root), observed_node=dict(node, hostname=host, **observed.get(host, {})))
        for host in ("gpu1", "gpu2")
    }


def played(folder, play, observed=None, arguments=(), **options):
    common = {"taco_state_dir": str(folder / "state"), "taco_results_dir": str(folder / "results")}
    # Over each observation of this machine.
    common["taco_node"] = "{{ observed_node }}"
    # Also on a machine with Docker Engine.
    without = {"DOCKER_HOST": "unix:///no/engine"}
    return run(folder, play, hosts(folder, **(observed or {})), {**common, **options}, arguments, **without)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with the plan of both hosts, and the output."""
    folder = tmp_path_factory.mktemp("plan")
    status, output = played(folder, PLAY, plan_file=str(folder / "plan.json"), plan_fail_on_change=True)
    assert status == 2 and "plan_fail_on_change is true and the plan has a change for this host" in output, output
    return folder, output


def test_the_plan_has_what_the_roles_decide_and_no_host_is_changed(saved):
    folder, output = saved
    document = json.loads((folder / "plan.json").read_text())
    roles = ["hugepages", "harp", "container_engine", "training_container", "ssh_trust"]
    assert {host: [change["role"] for change in one["changes"]] for host, one in document["hosts"].items()} == {
        "gpu1": roles,
        "gpu2": roles,
    }
    assert "10 changes on 2 of 2 hosts, in 5 entries." in output and not (folder / "state").exists()
    assert "host gpu2" in output and "known after apply" in output
    assert (folder / "plan.json").stat().st_mode & 0o777 == 0o600


def test_a_host_that_differs_is_refused_and_what_differs_is_named(saved):
    folder, _output = saved
    observed = {"gpu2": {"identity": dict(NODE["identity"], board_serial="5VX2M14")}}
    # The playbook decides which plan it applies.
    options = {
        "taco_plan": str(folder / "plan.json"),
        "plan_of": "rollback",
        "taco_image": "registry.example.com/other:2",
    }
    status, output = played(folder, CHECK, observed, **options)
    lines = output.replace("\\n", "\n")
    assert status == 2 and "goes on" not in output, output
    assert "gpu1 differs from the plan" in lines and "gpu2 differs from the plan" in lines, output
    assert "board_serial: in the plan 5VX2M13, now 5VX2M14" in lines, output
    # Of long values the part around the first difference is shown.
    assert "new content of training_container: in the plan ...egistry.example.com/taco-training:1;" in lines, output
    assert ", now ...egistry.example.com/other:2;" in lines, output
    assert not (folder / "state").exists()


def test_hosts_that_another_playbook_has_locked_are_refused_and_it_is_named(saved):
    folder, _output = saved
    lock, options = folder / "state/plan.lock", {"taco_plan": str(folder / "plan.json")}
    owner = {"controller": "ci-2", "pid": 4711, "started": "9", "user": "alice", "since": "2026-11-25T15:00:00Z"}
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(json.dumps(owner))
    status, output = played(folder, CHECK, **options)
    assert status == 2 and "goes on" not in output, output
    assert "gpu2: the process 4711 of the user alice on ci-2 applies a plan to this host since 2026-11-25T15" in output
    assert f"'path={lock} state=absent'" in output and json.loads(lock.read_text()) == owner, output
    # One that has ended.
    lock.write_text(json.dumps(dict(owner, **{name: identity(1)[name] for name in ("controller", "system")})))
    status, output = played(folder, CHECK, **options)
    assert status == 0 and "gpu1 goes on" in output and json.loads(lock.read_text())["pid"] != 4711, output
    status, output = played(folder, COMPARE, **options)
    assert status == 2 and "the applied changes differ from the plan" in output and not lock.exists(), output


def test_a_partial_plan_lets_other_hosts_go_on_and_facts_that_no_change_rests_on_do_not_matter(saved):
    folder, _output = saved
    observed = {
        "gpu1": {"memory": dict(NODE["memory"], available_bytes=1), "disk": {"root_free_bytes": 1}},
        "gpu2": {"os": dict(NODE["os"], version_id="24.04")},
    }
    status, output = played(folder, CHECK, observed, taco_plan=str(folder / "plan.json"), plan_partial=True)
    assert status == 2 and "gpu1 goes on" in output and "gpu2 goes on" not in output, output


# Without HARP no role reserves pages, so the hosts keep this fact.
REBOOT = {
    "training_container_profile": "lightcc",
    "taco_boot": {"reboot_required": True, "count": 50, "page_size": "1G", "said": ["50"], "trial": False},
}


def test_a_reboot_that_is_required_and_not_allowed_is_listed_with_the_variable(tmp_path):
    status, output = played(tmp_path, PLAY, plan_file=str(tmp_path / "plan.json"), **REBOOT)
    assert status == 0, output
    reboots = json.loads((tmp_path / "plan.json").read_text())["reboots"]
    assert reboots["batches"] == [] and list(reboots["not_allowed"]) == ["gpu1", "gpu2"]
    assert "50 pages of 1G" in reboots["not_allowed"]["gpu2"]
    assert "reboot required and not allowed: 2 hosts: gpu1, gpu2" in output and "reboot_allowed: true" in output, output


@pytest.mark.parametrize("partial", [False, True])
def test_a_host_that_is_lost_stops_all_others_unless_the_plan_is_partial(saved, partial):
    folder, _output = saved
    status, output = played(folder, LOST, taco_plan=str(folder / "plan.json"), plan_partial=partial)
    assert status == 2 and ("gpu1 goes on" in output) == partial, output
    assert ("Not compared with the plan" in output and "1 host: gpu2, failed or unreachable" in output) != partial, (
        output
    )


def test_a_plan_for_more_hosts_than_the_play_has_is_refused(saved):
    folder, _output = saved
    status, output = played(folder, CHECK, None, ["--limit", "gpu1"], taco_plan=str(folder / "plan.json"))
    assert status == 2 and "and not in this play (taco_hosts, --limit): 1 host: gpu2." in output, output


def test_a_plan_of_another_inventory_is_refused_and_leaves_no_lock(saved):
    folder, _output = saved
    # Other tests of this folder may have made the folder of the state. The options have the address of every host.
    locks = sorted(folder.rglob("plan.lock"))
    options = {"taco_plan": str(folder / "plan.json"), "plan_partial": True, "ansible_host": "10.0.9.9"}
    status, output = played(folder, CHECK, **options)
    assert status == 2 and "goes on" not in output and "gpu1 has the address 10.0.9.9, in the plan gpu1" in output, (
        output
    )
    assert sorted(folder.rglob("plan.lock")) == locks


def test_a_plan_of_one_host_is_refused_before_a_host_is_locked(tmp_path):
    found = hosts(tmp_path)
    found["gpu2"]["taco_plan"] = "plan.json"
    play = CHECK.replace("      vars:", "      when: taco_plan | default(none) is not none\n      vars:")
    common = {"taco_state_dir": str(tmp_path / "state"), "taco_results_dir": str(tmp_path), "taco_node": NODE}
    status, output = run(tmp_path, play, found, common)
    assert status == 2 and "taco_plan is plan.json for gpu2, and has another value or none for gpu1" in output, output
    assert "-e taco_plan=plan.json" in output and "Lock the host" not in output and not (tmp_path / "state").exists()


def test_an_empty_path_of_a_plan_is_refused(saved):
    status, output = played(saved[0], CHECK, taco_plan="")
    assert status == 2 and "taco_plan is empty" in output and "goes on" not in output, output


def test_the_rollback_of_a_kubernetes_cluster_has_no_plan(tmp_path):
    # Of the second host alone: the task runs on the first.
    platform = "{{ 'tke' if inventory_hostname == 'gpu2' else 'cvm' }}"
    status, output = played(tmp_path, PLAY, plan_of="rollback", taco_platform=platform)
    assert status == 2 and "removes the MPIJob" in output and "which no plan lists" in " ".join(output.split()), output


def test_the_plan_of_a_rollback_lists_what_it_removes(tmp_path):
    keys, path = tmp_path / "state/ssh", tmp_path / "plan.json"
    keys.mkdir(parents=True)
    (keys / "id_ed25519.pub").write_text("ssh-ed25519 AAAA taco-train@gpu1\n")
    status, output = played(tmp_path, PLAY, plan_file=str(path), plan_of="rollback")
    assert status == 0 and "ssh_trust: state is absent" in output, output
    for host in json.loads(path.read_text())["hosts"].values():
        change = {change["role"]: change for change in host["changes"]}["ssh_trust"]
        assert [part["name"] for part in change["parts"]] == ["files of the SSH trust"] and not change["later"]


def test_check_mode_applies_a_plan_with_a_reboot_without_a_difference(tmp_path):
    path, options = str(tmp_path / "plan.json"), {"reboot_allowed": True, **REBOOT}
    (tmp_path / "results").mkdir()
    (tmp_path / "results/reboots.json").write_text('{"gpu1": [100]}')
    status, output = played(tmp_path, PLAY, plan_file=path, **options)
    forecast = "reboots: 2 hosts in 2 batches, about 3 min (1 earlier reboot of 1 host)"
    assert status == 0 and forecast in output, output
    # As with -e reboot_allowed=true.
    options["reboot_allowed"] = "true"
    status, output = played(tmp_path, APPLY, None, ["--check"], taco_plan=path, **options)
    assert status == 0 and "differ from the plan" not in output, output


PLAYBOOK = f"""
- name: Plan
  ansible.builtin.import_playbook: {COLLECTION}/playbooks/plan.yml
"""


def test_a_wrong_value_of_one_host_is_refused_with_the_host_and_the_variable(tmp_path):
    options = {"taco_hosts": "all", "taco_state_dir": str(tmp_path), "taco_results_dir": str(tmp_path)}
    found = hosts(tmp_path)
    found["gpu2"]["preflight_min_disk_gib"] = "much"
    status, output = run(tmp_path, PLAYBOOK, found, dict(options, preflight_gate=False))
    assert status == 2 and "gpu2: the role taco.train.preflight can't run with these values of its" in output, output
    assert "\\npreflight_min_disk_gib: much; expected a number" in output, output
