# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Attribute the failures of a verdict to the hosts that they concern. Values in, values out."""

from typing import Any, Dict, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.text import some

# The same at every host, so that Ansible prints it once and then a line for each host: the table has the failures.
FAILED = "a check of preflight failed: see the rows of this host in the table above"


def failures(verdict: Mapping[str, Any], unreachable: Sequence[str] = ()) -> Dict[str, Dict[str, Any]]:
    """The failed checks of each host that has some. A check of all hosts together is a failure of every host."""
    together = [check["id"] for check in verdict["fleet"] if check["status"] == "fail"]
    found = {
        name: list(dict.fromkeys([check["id"] for check in host["checks"] if check["status"] == "fail"] + together))
        for name, host in verdict["hosts"].items()
    }
    return {
        name: {"msg": FAILED, "checks": checks, "unreachable": name in unreachable}
        for name, checks in found.items()
        if checks
    }


def outcome(
    host: str, hosts_here: Sequence[str], found: Mapping[str, Mapping[str, Any]]
) -> Optional[Mapping[str, Any]]:
    """The failure to report at a host, or None.

    When no host of the batch has a failure of its own, every host of it fails: the play must not go on without the hosts
    of other batches.
    """
    if host in found:
        return found[host]
    if not found or any(name in found for name in hosts_here):
        return None
    return {"msg": f"this host passed every check, but checks failed on {some(sorted(found))}.", "unreachable": False}
