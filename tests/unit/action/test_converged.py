# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What deploy.yml asks: known by the observation alone."""

from pathlib import Path
from unittest.mock import MagicMock

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.task import Task
from ansible.template import Templar, trust_as_template
from observed import NODE

from ansible_collections.taco.train.plugins.action import converged
from ansible_collections.taco.train.plugins.module_utils._node.engine import OPTIONS_LABEL
from ansible_collections.taco.train.plugins.plugin_utils.container.options import module_options, spec_of
from ansible_collections.taco.train.plugins.plugin_utils.convergence.converged import ROLES as CONVERGED

ROLES = Path(__file__).parents[3] / "collections/ansible_collections/taco/train/roles"
DEPLOYED = ["container_engine", "training_container", "ssh_trust"]
CONTAINER = {
    "name": "taco-train",
    "status": "running",
    "image": "training:1",
    "image_id": "sha256:1",
    "image_id_by_name": "sha256:1",
    "restart_policy": "unless-stopped",
}
TRUST = {
    "public_key": "ssh-ed25519 A",
    "host_key": "ssh-ed25519 B",
    "port": 2222,
    "name": "gpu1",
    "address": "10.0.0.8",
    "peers": 2,
    "peers_sha256": "abc",
    "proven": True,
    "active_in": "taco-train",
}
SETTLED = dict(
    NODE, ssh_trust=TRUST, harp=dict(NODE["harp"], config_files=[{"path": "/etc/ztcp0.conf", "size": 9, "sha256": "0"}])
)


def trusted(value):
    """Return a value as Ansible takes it from a file of a role."""
    if isinstance(value, dict):
        return {key: trusted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [trusted(inner) for inner in value]
    return trust_as_template(value) if isinstance(value, str) else value


def variables(node, given):
    """Return what a task of deploy.yml sees of a host."""
    found = {}
    for part in ("defaults", "vars"):
        for role in ["common", *DEPLOYED]:
            path = ROLES / role / part / "main.yml"
            found.update(trusted(yaml.safe_load(path.read_text())) if path.exists() else {})
    own = {"taco_image": "training:1", "taco_node": node, "inventory_hostname": "gpu1"}
    magic = {"omit": "__omitted__", "ansible_check_mode": False, "ansible_play_hosts": ["gpu1", "gpu2"]}
    return {**found, **own, **magic, **given}


def container(options):
    """Return what is observed of a container that was made from these options of the module."""
    defaults = {"pull": "missing", "require_harp": None, "network_mode": None, "command": None, "mounts": None}
    spec = spec_of({**defaults, "restart_policy": None, "gpus": None, "privileged": None, **options})
    return dict(CONTAINER, options_sha256=module_options(spec, "missing")["labels"][OPTIONS_LABEL])


MADE = container(
    {
        "name": "taco-train",
        "image": "training:1",
        "profile": "harp",
        "shm_size": "32g",
        "ulimits": ["memlock=-1", "stack=67108864"],
        "environment": {},
        "mounts_extra": [
            f"/var/lib/taco-train/{one}"
            for one in ("ssh:/var/lib/taco-train/ssh:ro", "horovod:/var/lib/taco-train/horovod")
        ],
    }
)


@pytest.fixture
def act():
    """Return a function that asks of a host, which must not be asked itself, and returns the result."""

    def run(node=None, check=False, **given):
        task = Task()
        task.args, task.check_mode = {"roles": DEPLOYED}, check
        seen = {**SETTLED, "training_container": MADE, **(node or {})}
        task_vars = variables(seen, given)
        action = converged.ActionModule(
            task, MagicMock(), MagicMock(), DataLoader(), Templar(loader=DataLoader(), variables=task_vars), None
        )
        action._execute_module = None
        return action.run(task_vars=task_vars)

    return run


def test_a_host_as_required_is_known_without_asking_it(act):
    result = act()
    assert result["converged"] and result["roles"] == dict.fromkeys(DEPLOYED, True)
    assert result["peers_sha256"] == "abc" and result["remaining"] == []


@pytest.mark.parametrize(
    ("node", "role"),
    [
        ({"container_engine": None}, "container_engine"),
        ({"training_container": None}, "training_container"),
        ({"training_container": dict(MADE, status="exited")}, "training_container"),
        ({"ssh_trust": None}, "ssh_trust"),
        ({"ssh_trust": dict(TRUST, peers=3)}, "ssh_trust"),
        ({"ssh_trust": dict(TRUST, proven=False)}, "ssh_trust"),
        ({"ssh_trust": dict(TRUST, active_in=None)}, "ssh_trust"),
        ({"ssh_trust": dict(TRUST, active_in="other")}, "ssh_trust"),
    ],
)
def test_a_host_that_was_seen_to_differ_goes_through_the_role_and_those_after_it(act, node, role):
    result = act(node=node)
    assert result["roles"] == {name: name != role for name in DEPLOYED} and result["converged"] is False
    assert result["remaining"] == DEPLOYED[DEPLOYED.index(role) :]
    assert (result["peers_sha256"] is None) is (role == "ssh_trust")


def test_an_observation_from_before_a_change_tells_nothing(act):
    result = act(node={"observed_at": None})
    assert result["remaining"] == DEPLOYED and result["peers_sha256"] is None


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ({"container_engine_force": True}, "container_engine"),
        ({"container_engine_prove": True}, "container_engine"),
        ({"training_container_state": "absent"}, "training_container"),
        ({"training_container_shm_size": "64g"}, "training_container"),
        ({"training_container_gpus": [0]}, "training_container"),
        ({"training_container_pull": "always"}, "training_container"),
        ({"ssh_trust_state": "Present"}, "ssh_trust"),
        ({"ssh_trust_state": None}, "ssh_trust"),
        ({"ssh_trust_state": "absent"}, "ssh_trust"),
        ({"taco_ssh_port": 2223}, "ssh_trust"),
        ({"ssh_trust_address": "10.0.9.9"}, "ssh_trust"),
        ({"taco_interface": "eth7"}, "ssh_trust"),
        ({"taco_container_name": "other"}, "training_container"),
        ({"taco_image": "{{ nobody_set_this }}"}, "training_container"),
    ],
)
def test_what_is_asked_for_and_isn_t_there_is_left_to_the_roles(act, given, role):
    result = act(**trusted(given))
    assert result["roles"][role] is False and result["converged"] is False


def test_in_check_mode_it_is_the_same(act):
    assert act(check=True, ansible_check_mode=True)["converged"]


@pytest.mark.parametrize("prove", ["false", None])
def test_without_a_proof_none_has_to_be_there(act, prove):
    unproven = {"ssh_trust": dict(TRUST, proven=False)}
    assert act(node=unproven, ssh_trust_prove=prove)["converged"] is True


def test_a_run_on_a_part_of_the_hosts_is_settled_though_others_are_trusted_too(act):
    few = {"ansible_play_hosts": ["gpu1"], "ansible_limit": "gpu1"}
    assert act(**few)["converged"] is True
    assert act(ansible_play_hosts=["gpu1"])["converged"] is False


def ends(deployed, ssh_trust=True):
    """Say whether deploy.yml ends early for hosts of which this was told."""
    (play,) = yaml.safe_load((ROLES.parent / "playbooks/deploy.yml").read_text())
    (task,) = [task for task in play["pre_tasks"] if task.get("ansible.builtin.meta") == "end_play"]
    hosts = [f"gpu{number}" for number in range(len(deployed))]
    known = {"ansible_play_hosts": hosts, "hostvars": dict(zip(hosts, ({"__deploy": one} for one in deployed)))}
    known["__deploy_needs"] = {"ssh_trust": ssh_trust}
    templar = Templar(loader=DataLoader(), variables={**known, **trusted(task["vars"])})
    return templar.template(trusted(f"{{{{ {task['when']} }}}}"))


THERE = {"converged": True, "peers_sha256": "abc"}


@pytest.mark.parametrize(
    ("deployed", "early"),
    [
        ([THERE, THERE], True),
        ([THERE, dict(THERE, peers_sha256="abd")], False),  # they agree with themselves and not with each other
        ([THERE, dict(THERE, converged=False)], False),
        ([dict(THERE, peers_sha256=None)] * 2, False),
        ([THERE, {"skipped": True}], False),
        ([{"skipped": True}] * 2, False),
    ],
)
def test_deploy_ends_early_when_every_host_is_settled_and_all_trust_the_same(deployed, early):
    assert ends(deployed) is early


def test_a_host_that_needs_no_ssh_trusts_nobody_and_deploy_ends_early():
    assert ends([dict(THERE, peers_sha256=None)], ssh_trust=False) is True


@pytest.mark.parametrize("role", CONVERGED)
def test_each_role_passes_what_it_desires(role):
    """What converged compares is what the role gives to its module, and not a copy of it."""
    tasks = "".join(path.read_text() for path in sorted((ROLES / role / "tasks").glob("*.yml")))
    assert f"{role}_desired" in yaml.safe_load((ROLES / role / "vars/main.yml").read_text())
    assert f"{role}_desired" in tasks
