# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller is killed at a task. Run again, or not, and rolled back, the nodes of the Docker lab are as they were before.

`make test` runs a few points. With EVERY_TASK=1 all are run, as in `make test-all`.
"""

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import faults
import pytest
from integration import host_tree
from integration.paths import ROOT

INVENTORY = "inventories/lab"
NODES = ("taco-lab-node-0", "taco-lab-node-1")
FORTH, BACK = ("playbooks/prepare.yml", "playbooks/deploy.yml"), ("playbooks/rollback.yml",)
# The tasks that change something on the hosts; a test below holds them against what a run says.
CHANGES = {
    FORTH: (
        "hugepages : Reserve hugepages in the boot configuration or restore it",
        "harp : Configure HARP or restore its original configuration",
        "training_container : Run or remove the training container",
        "ssh_trust : Create the SSH keys",
        "ssh_trust : Trust the public keys of all hosts",
    ),
    BACK: (
        "ssh_trust : Remove the SSH trust",
        "training_container : Run or remove the training container",
        "harp : Configure HARP or restore its original configuration",
        "hugepages : Reserve hugepages in the boot configuration or restore it",
        "Remove the folders that did not exist before the first run",
    ),
}
# Seconds after the start of the task. Between tasks, and while the module runs on the hosts.
MOMENTS = (0, 0.8)
# On the hosts the module goes on without its controller. Or it is killed as well, as by a host that loses its power.
GOES_ON, KILLED = "module goes on", "module killed"
AGAIN, AT_ONCE = "run again", "rolled back at once"

EVERY = [
    (way, task, moment, (AGAIN, AT_ONCE)[number % 2], (GOES_ON, KILLED)[number // 2 % 2 if moment else 0])
    for way, tasks in CHANGES.items()
    for number, (task, moment) in enumerate((task, moment) for task in tasks for moment in MOMENTS)
]
SAMPLE = [
    (FORTH, CHANGES[FORTH][1], 0.8, AGAIN, GOES_ON),
    (FORTH, CHANGES[FORTH][0], 0.8, AT_ONCE, KILLED),
    (BACK, CHANGES[BACK][4], 0, AT_ONCE, GOES_ON),
]
POINTS = EVERY if os.environ.get("EVERY_TASK") else SAMPLE

# A module that came through a pipe, as it runs with pipelining, and what it may have started.
MODULES = "^/usr/bin/[p]ython3 *$|[p]ython3 && sleep 0|[A]nsiballZ|[g]rub-mkconfig|[u]pdate-grub|[h]arp/setup-"
ENGINE_WAIT = 30


def on_node(node, script, stdin=None):
    done = subprocess.run(
        faults.command(node, script),
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def on_nodes(script, stdin=None):
    with ThreadPoolExecutor(len(NODES)) as pool:
        return list(pool.map(lambda node: on_node(node, script, stdin), NODES))


def trees():
    return [host_tree.json.loads(text) for text in on_nodes("python3 -", Path(host_tree.__file__).read_text())]


def difference(before, after):
    """Return {node: {path: [before, after]}} of what is another."""
    return {
        node: {
            path: [one.get(path), other.get(path)] for path in set(one) | set(other) if one.get(path) != other.get(path)
        }
        for node, one, other in zip(NODES, before, after)
        if one != other
    }


def environment(**variables):
    callbacks = {
        "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "tests/integration/callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "kill_at_task",
    }
    path = str(ROOT / ".venv/bin") + os.pathsep + os.environ["PATH"]
    return dict(os.environ, PATH=path, ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"), **callbacks, **variables)


def play(playbooks, **variables):
    """Run playbooks in a process group of their own and return the exit status and the output."""
    process = subprocess.Popen(
        ["ansible-playbook", *playbooks, "-i", INVENTORY],
        cwd=str(ROOT),
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    output = process.communicate(timeout=300)[0]
    return process.returncode, output


def whole(playbooks, **variables):
    status, output = play(playbooks, **variables)
    assert status == 0, output


def end_modules(kill):
    """Wait until no module runs on the nodes any more, or kill them first."""
    if kill:
        on_nodes(f"pkill -KILL -f '{MODULES}' || test $? -eq 1")
    deadline = time.monotonic() + ENGINE_WAIT
    while any(text.strip() for text in on_nodes(f"pgrep -fa '{MODULES}' || test $? -eq 1")):
        assert time.monotonic() < deadline, on_nodes("ps -ef")
        time.sleep(0.3)


@pytest.fixture(scope="module")
def bare():
    """Return the trees of the nodes as a user has them before the first run."""
    whole(BACK)
    # Earlier versions have no record of the folders that they created.
    on_nodes("rm -rf /var/lib/taco-train /usr/local/tfabric")
    return trees()


def test_these_are_the_tasks_that_change_something(bare, tmp_path):
    for way, tasks in CHANGES.items():
        changed = tmp_path / way[0].replace("/", "-")
        whole(way, CHANGED_TASKS=str(changed))
        found = list(dict.fromkeys(name.replace("taco.train.", "") for name in changed.read_text().splitlines()))
        assert found == list(tasks)
    assert difference(bare, trees()) == {}


@pytest.mark.parametrize(("way", "task", "moment", "then", "module"), POINTS)
def test_killed_at_a_task_the_hosts_are_as_they_were(bare, way, task, moment, then, module):
    if way == BACK:
        whole(FORTH)
    status, output = play(way, KILL_AT_TASK=task, KILL_AFTER_SECONDS=str(moment))
    # A task that took less time than the moment was over; the kill then came later, or not at all.
    assert status == -signal.SIGKILL or (moment and status == 0), output
    end_modules(module == KILLED)
    if then == AGAIN:
        whole(FORTH)
    whole(BACK)
    assert difference(bare, trees()) == {}
