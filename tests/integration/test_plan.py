# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans on the Docker lab: exactly the plan is applied, drift is shown, and a host that differs is refused before any is changed.

From bare nodes through a plan that is applied and drift to a plan of the rollback: each test begins where the one before ended.
"""

import json
import os
import re
import signal
import subprocess
from collections import Counter

import faults
import jsonschema
import pytest
from integration.paths import COLLECTION, ROOT

INVENTORY = "inventories/lab"
NODES = ("taco-lab-node-0", "taco-lab-node-1")
ROLES = ["hugepages", "harp", "training_container", "ssh_trust"]
# The observation, and one module in check mode each for the hugepages, the ENIs, HARP, the training container and the SSH trust.
MOST_EXECUTIONS = 6
AUTHORIZED = "/var/lib/taco-train/ssh/authorized_keys"
LOCK = "/var/lib/taco-train/plan.lock"


def on_node(node, script):
    done = subprocess.run(
        faults.command(node, script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


class Fleet:
    """Runs playbooks on the lab, with plans in one folder."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, playbook, *extra, **variables):
        """The exit status and the output of a playbook."""
        path = str(ROOT / ".venv/bin") + os.pathsep + os.environ["PATH"]
        environment = dict(os.environ, PATH=path, ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"), **variables)
        done = subprocess.run(
            ["ansible-playbook", f"playbooks/{playbook}.yml", "-i", INVENTORY, *extra]
            + ["-e", f"taco_results_dir={self.folder}"],
            cwd=str(ROOT),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            start_new_session=True,
        )
        return done.returncode, done.stdout

    def plan(self, name, *extra, status=0):
        """The document of a new plan, and the output."""
        path = self.folder / f"{name}.json"
        found, output = self.run("plan", "-e", f"plan_file={path}", *extra)
        assert found == status, output
        return json.loads(path.read_text()), output

    def apply(self, name, *extra, playbook="site", **variables):
        return self.run(playbook, "-e", f"taco_plan={self.folder / name}.json", *extra, **variables)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    fleet = Fleet(tmp_path_factory.mktemp("plans"))
    status, output = fleet.run("rollback")
    assert status == 0, output
    return fleet


def roles(document):
    return {host: [change["role"] for change in found["changes"]] for host, found in document["hosts"].items()}


def listing(node):
    """The files that the roles would change, with their times."""
    return on_node(
        node, "find /etc/default /boot /usr/local /root /var/lib/taco-train* -printf '%p %s %T@\\n' 2>&1 | sort"
    )


def listings():
    return [listing(node) for node in NODES]


def test_the_plan_of_bare_nodes_and_a_check_of_it_with_reboots_change_nothing(fleet):
    before = listings()
    document, output = fleet.plan("bare")
    assert listings() == before
    jsonschema.validate(document, json.loads((COLLECTION / "docs/schemas/plan-2.json").read_text()))
    assert roles(document) == dict.fromkeys(NODES, ROLES) and document["changes"] == 8
    assert "8 changes on 2 of 2 hosts, in 4 entries." in output
    assert "reboot required and not allowed: 2 hosts" in output and "reboot_allowed: true" in output, output
    assert (fleet.folder / "bare.html").read_text().startswith("<!DOCTYPE html>")

    allowed = ("-e", "reboot_allowed=true")
    document, _output = fleet.plan("reboots", *allowed)
    assert document["reboots"]["batches"] == [[node] for node in NODES] and not document["reboots"]["not_allowed"]
    status, output = fleet.apply("reboots", "--check", *allowed)
    assert status == 0 and "differ from the plan" not in output, output
    assert listings() == before


def test_killed_while_it_is_applied_the_next_plan_has_exactly_the_rest(fleet):
    """After `rest` the nodes are as required: a further plan is empty and costs few executions."""
    callbacks = {
        "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "tests/integration/callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "kill_at_task",
    }
    task = "reboot : Plan the rolling reboot"
    status, output = fleet.apply("bare", KILL_AT_TASK=task, KILL_AFTER_SECONDS="0", **callbacks)
    assert status == -signal.SIGKILL, output
    rest, _output = fleet.plan("rest")
    assert roles(rest) == dict.fromkeys(NODES, ROLES[1:])
    on_node(NODES[0], f"""echo '{{"controller": "ci-2", "pid": 1, "user": "alice"}}' > {LOCK}""")
    status, output = fleet.apply("rest")
    assert status == 2 and "of the user alice on ci-2 applies a plan" in " ".join(output.split()), output
    on_node(NODES[0], f"rm {LOCK}")
    status, output = fleet.apply("rest")
    assert status == 0, output
    assert "taco.train.benchmark :" not in output
    for node in NODES:
        on_node(node, f"test ! -e {LOCK}")
        assert "hugepages=1" in on_node(node, "cat /boot/grub/grub.cfg")
        assert on_node(node, "docker ps --format '{{.Names}}'").split() == ["taco-train"]

    path = fleet.folder / "again.json"
    status, output = fleet.run(
        "plan", "-e", f"plan_file={path}", "-e", "plan_fail_on_change=true", ANSIBLE_VERBOSITY="3"
    )
    assert status == 0, output
    assert json.loads(path.read_text())["changes"] == 0 and "No change on 2 hosts." in output
    executions = Counter(re.findall(r"^<(\S+)> SSH: EXEC ssh ", output, re.MULTILINE))
    assert len(executions) == len(NODES) and all(count <= MOST_EXECUTIONS for count in executions.values()), executions


def test_drift_fails_a_pipeline_and_a_host_that_differs_from_the_plan_is_refused(fleet):
    for number, node in enumerate(NODES):
        on_node(node, f"echo '# edit {number}' >> {AUTHORIZED}")
    document, output = fleet.plan("drift", "-e", "plan_fail_on_change=true", status=2)
    assert roles(document) == dict.fromkeys(NODES, ["ssh_trust"])
    assert "-# edit 0" in output and "-# edit 1" in output and "plan_fail_on_change is true" in output, output

    identity = on_node(NODES[0], "cat /etc/machine-id").strip()
    on_node(NODES[0], f"echo '# another edit' >> {AUTHORIZED}")
    on_node(NODES[0], "cp /etc/machine-id /tmp/machine-id && sed -i y/0123456789/1234567890/ /etc/machine-id")
    on_node(NODES[1], "echo '# irrelevant' >> /etc/motd")
    status, output = fleet.apply("drift")
    said = " ".join(output.split())
    assert status == 2 and f"{NODES[0]} differs from the plan" in said, output
    assert f"machine_id: in the plan {identity}, now {on_node(NODES[0], 'cat /etc/machine-id').strip()}" in said, output
    on_node(NODES[0], "mv /tmp/machine-id /etc/machine-id")
    assert f"file {AUTHORIZED}: in the plan sha256 " in said and f"{NODES[1]} differs from the plan" not in said, output
    assert "# edit 1" in on_node(NODES[1], f"cat {AUTHORIZED}")

    status, output = fleet.apply("drift", "-e", "plan_partial=true")
    assert status == 2 and f"{NODES[0]} differs from the plan" in " ".join(output.split()), output
    assert "# another edit" in on_node(NODES[0], f"cat {AUTHORIZED}")
    keys = on_node(NODES[1], f"cat {AUTHORIZED}")
    assert "# edit" not in keys and keys.count("ssh-ed25519") == len(NODES), keys
    assert "the applied changes differ" not in output, output
    on_node(NODES[1], "sed -i '/^# irrelevant$/d' /etc/motd")


def test_a_file_that_is_no_plan_changes_nothing(fleet):
    (fleet.folder / "none.json").write_text('{"schema": 1, "dig')
    status, output = fleet.apply("none")
    assert status == 2 and "is truncated" in " ".join(output.split()), output
    assert "PLAY [Reserve hugepages" not in output


def test_a_rollback_is_planned_and_applied_alike(fleet):
    document, _output = fleet.plan("rollback", "-e", "plan_of=rollback")
    assert document["of"] == "rollback" and roles(document) == dict.fromkeys(NODES, ROLES)
    status, output = fleet.apply("rollback", playbook="rollback")
    assert status == 0, output
    assert fleet.plan("restored", "-e", "plan_of=rollback")[0]["changes"] == 0
