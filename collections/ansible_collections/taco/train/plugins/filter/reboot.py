# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of the rolling reboot."""

from collections.abc import Mapping
from itertools import chain

from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.plugin_utils.reboot.planned_change import planned_change
from ansible_collections.taco.train.plugins.plugin_utils.reboot.proof import boot_problems
from ansible_collections.taco.train.plugins.plugin_utils.reboot.rolling import (
    Rebooted,
    messages,
    plan,
    progress,
    read_history,
    result,
    stopped,
    with_reboots,
)
from ansible_collections.taco.train.plugins.plugin_utils.summary.tally import message
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError


def reboot_plan(hosts, batch=1, may_fail=0, boot_seconds=300):
    """Return batches, budget and forecast of a rolling reboot."""
    try:
        return plan(list(hosts), batch, may_fail, int(boot_seconds))._asdict()
    except InvalidValueError as error:
        raise AnsibleFilterError(str(error)) from error


def _rebooted(names, hostvars, active):
    """Read what the role noted of the hosts; one that has left the play was unreachable at some task."""
    hosts = []
    for name in names:
        known = hostvars[name]
        # A host without a note has not reached the task that writes it.
        problems = list(known.get("taco_reboot_problems", ["no result"])) if name in active else ["unreachable"]
        # What the user's own tasks or the drain say about a node that does not come back.
        left = (known.get("taco_boot") or {}).get("left") or (known.get("kubernetes_node_drained") or {}).get("left")
        problems += [left] if problems and left else []
        hosts.append(Rebooted(name, problems, (known.get("taco_reboot_done") or {}).get("elapsed")))
    return hosts


def reboot_result(batches, hostvars, active, done, may_fail, took, history=""):
    """Judge the batches so far, of which the first ones have run, and describe the last of them."""
    names, waiting = (list(chain.from_iterable(part)) for part in (batches[: int(done)], batches[int(done) :]))
    last = _rebooted(batches[int(done) - 1], hostvars, active)
    hosts = _rebooted(names, hostvars, active)
    found = result(hosts, waiting, int(may_fail))
    reason = stopped(found, int(may_fail))
    return {
        **found._asdict(),
        "stopped": reason,
        "messages": messages(hosts, list(active), reason if found.stop else None),
        "progress": progress(last, int(done), len(batches), float(took)),
        "history": with_reboots(read_history(history), last, float(took)),
    }


def reboot_failure(found, task=None):
    """Describe the failure of a task around a reboot; both are undefined where Ansible failed the host for another one."""
    if not isinstance(found, Mapping):
        return "stopped, because a task failed on another host"
    name = (task or {}).get("name") if isinstance(task, Mapping) else getattr(task, "name", None)
    # The reboot itself: the command was accepted, and that is all.
    late = "; no other boot ID was seen within reboot_timeout: see its console, or set reboot_timeout higher"
    return f"{name or 'A task'} failed: {message(found)}{late if found.get('rebooted') else ''}"


class FilterModule:
    """Offer the filters to Ansible."""

    def filters(self):
        return {
            "boot_problems": boot_problems,
            "reboot_change": planned_change,
            "reboot_failure": reboot_failure,
            "reboot_plan": reboot_plan,
            "reboot_result": reboot_result,
        }
