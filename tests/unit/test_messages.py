# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A failure is read far from where it happened: it names its host, and the variable or command that puts it right."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

COLLECTION = Path(__file__).parents[2] / "collections/ansible_collections/taco/train"
TASKS = sorted([*COLLECTION.glob("roles/*/tasks/*.yml"), *COLLECTION.glob("playbooks/*.yml")])
TARGET_CODE = sorted(
    [*(COLLECTION / "plugins/modules").glob("*.py"), *(COLLECTION / "plugins/module_utils").rglob("*.py")]
)
MODULES = sorted((COLLECTION / "plugins/modules").glob("*.py"))
# What a message names that somebody can set, run or look at.
FIX = re.compile(r"\b[a-z]+(_[a-z]+)+\b|`[^`]+`|journalctl|set |run |see |correct |mend |install ", re.I)
# The message of a module, which names the host.
REFUSAL = re.compile(r"{{ \w+\.refusal }}")
# It answers to the action of module benchmark, which adds the host and what helps.
RUNS_A_COMMAND = {"command_job"}


def tasks_of(found):
    """Return every task of a file of tasks or of a playbook, those in blocks too."""
    for one in found if isinstance(found, list) else []:
        yield one
        for key in ("tasks", "pre_tasks", "post_tasks", "block", "rescue", "always"):
            yield from tasks_of(one.get(key))


def failures():
    """Yield (file, task, message) of each task that fails, or asserts, in words."""
    for path in TASKS:
        for task in tasks_of(yaml.safe_load(path.read_text())):
            fail, check = task.get("ansible.builtin.fail"), task.get("ansible.builtin.assert")
            if fail is not None or check is not None:
                yield path, task, (fail or check).get("msg") or (check or {}).get("fail_msg", "")


FAILURES = [
    pytest.param(task, text, id=f"{path.parts[-3]}/{path.stem}: {task['name']}") for path, task, text in failures()
]


def test_there_are_messages_to_read():
    assert len(FAILURES) > 5


@pytest.mark.parametrize("task, text", FAILURES)
def test_the_message_of_a_task_names_the_host_and_what_helps(task, text):
    # What a function says in full has tests of its own.
    computed = text and not re.sub(r"{{.*?}}", "", text, flags=re.S).strip()
    assert computed or FIX.search(text)
    # A task that runs once speaks of all hosts.
    assert "inventory_hostname" in text or task.get("run_once") or REFUSAL.fullmatch(text)


# Where a machine's own name is data: a comment in a public key, and a fact of the host.
OWN_NAME = re.compile(r"os\.uname|nodename|gethostname|platform\.node|/etc/hostname")
OWN_NAME_IS_DATA = {"identity.py", "node.py"}


def test_no_module_names_the_host_by_the_name_that_the_machine_gives_itself():
    """Ansible prints the name in the inventory beside each message; another name would confuse the reader."""
    assert {path.name for path in TARGET_CODE if OWN_NAME.search(path.read_text())} <= OWN_NAME_IS_DATA


def test_a_module_that_failed_for_an_error_tells_how_to_get_missing_rights():
    found = {path.stem for path in MODULES if re.search(r"fail_json\(\s*msg=str\(", path.read_text())}
    assert found <= RUNS_A_COMMAND


def test_a_module_on_a_machine_with_another_name_gives_only_the_cause(tmp_path):
    """As Ansible shows it: the name in the inventory, and a message without a second name."""
    done = subprocess.run(
        ["ansible", "gpu-in-inventory", "-i", "gpu-in-inventory,", "-c", "local", "-m", "taco.train.eni_check"]
        + ["-e", f"ansible_python_interpreter={sys.executable}"]
        + ["-a", json.dumps({"expected": 4, "sysroot": str(tmp_path)})],
        cwd=COLLECTION.parents[3],
        env=dict(os.environ, ANSIBLE_CALLBACK_RESULT_FORMAT="json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 2, done.stdout
    message = re.search(r'"msg": "(.*)"', done.stdout).group(1)
    assert "gpu-in-inventory" in done.stdout
    assert os.uname().nodename not in message
