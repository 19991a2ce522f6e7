# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The error for a play that no host matches. Values in, text out."""

from typing import Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.text import counted, some

# Ansible's own groups: every inventory has them.
BUILT_IN = ("all", "ungrouped")
CHOOSE = "with -e taco_hosts=GROUP (a value in group_vars or host_vars has no effect)"


def _groups(groups: Mapping[str, Sequence[str]]) -> str:
    found = sorted(name for name in groups if name not in BUILT_IN)
    said = [f"{name} ({counted(len(groups[name]), 'host')})" for name in found]
    return f"groups in the inventory: {some(said)}" if said else "the inventory has no groups"


def no_host(pattern: str, groups: Mapping[str, Sequence[str]], matched: Sequence[str], limit: Optional[str]) -> str:
    """The error for a pattern that leaves no host.

    Matched are the hosts of the pattern without the limit; the caller has found that no host is left with the limit.
    """
    if matched and limit:
        found = f"--limit {limit} excludes every host of {pattern!r} ({some(matched)})"
        return f"No host to work on: {found}. Change --limit, or choose another group {CHOOSE}."
    if not groups.get("all"):
        return "No host to work on: the inventory has no hosts. Pass an inventory with -i INVENTORY."
    found = f"no host matches {pattern!r} (variable taco_hosts)" if pattern else "the variable taco_hosts is empty"
    return (
        f"No host to work on: {found}; {_groups(groups)}. Add the hosts to that group, or choose another one {CHOOSE}."
    )
