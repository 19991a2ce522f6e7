# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A failure is read far from where it happened: it names its host, and the variable or command that puts it right."""

import re
from pathlib import Path

import pytest
import yaml

COLLECTION = Path(__file__).parents[2] / "collections/ansible_collections/taco/train"
TASKS = sorted([*COLLECTION.glob("roles/*/tasks/*.yml"), *COLLECTION.glob("playbooks/*.yml")])
MODULES = sorted((COLLECTION / "plugins/modules").glob("*.py"))
# What a message names that somebody can set, run or look at.
FIX = re.compile(r"\b[a-z]+(_[a-z]+)+\b|`[^`]+`|journalctl|set |run |see |correct |mend |install ", re.I)
# What can't fail on a host of its own, or answers to another plugin that names the host.
ON_THEIR_OWN = {"command_job"}


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
    assert "inventory_hostname" in text or task.get("run_once")


@pytest.mark.parametrize(
    "module", [path for path in MODULES if path.stem not in ON_THEIR_OWN], ids=lambda path: path.stem
)
def test_a_module_fails_with_the_name_of_its_host(module):
    for call in re.findall(r"fail_json\(\s*msg=(.*)", module.read_text()):
        assert call.startswith(("failure(error)", 'f"{os.uname().nodename}: ')), call
