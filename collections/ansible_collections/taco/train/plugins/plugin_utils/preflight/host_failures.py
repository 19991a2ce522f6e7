# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Attribute the failures of a verdict to the hosts that they concern. Values in, values out."""

from typing import Any, Dict, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.text import some


def _line(check: Mapping[str, Any]) -> str:
    expected = f"expected {check['expected']}, found" if check["expected"] else "found"
    text = f"{check['id']}: {expected} {check['found']}" if check["found"] else str(check["id"])
    return " ".join((f"{text}; {check['fix']}" if check["fix"] else text).split()) + "."


def _of_host(verdict: Mapping[str, Any], name: str) -> List[str]:
    checks = [*verdict["hosts"][name]["checks"], *verdict["fleet"]]
    return [_line(check) for check in checks if check["status"] == "fail"]


def failures(verdict: Mapping[str, Any], unreachable: Sequence[str] = ()) -> Dict[str, Dict[str, Any]]:
    """The failed checks of each host that has some, in a line each. A check of all hosts together is a failure of every host."""
    found = {name: _of_host(verdict, name) for name in verdict["hosts"]}
    return {
        name: {"msg": "\n".join(lines), "unreachable": name in unreachable} for name, lines in found.items() if lines
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
