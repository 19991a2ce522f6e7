# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do about a cause in this log: the fix of the table, or the one for pods, or the line of the script that raised."""

import re
from typing import Mapping, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.crash import advice_of, crash_at
from ansible_collections.taco.train.plugins.plugin_utils.failure.exceptions import what_to_see
from ansible_collections.taco.train.plugins.plugin_utils.failure.lookup import whole_name
from ansible_collections.taco.train.plugins.plugin_utils.failure.pods import (
    BARE_NAME,
    FIXES,
    MASTER,
    MOST_CHARACTERS,
    NAMES,
    NO_NAME,
    in_pods,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.tracebacks import BEGIN, FRAME, LAUNCHER
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import filled
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# Files that are not the user's.
INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python\d|^<|importlib|/__autograph_generated_file")
MOST_FRAMES = 400


def fix_of(cause: Cause, lines: Sequence[Line], place: int, values: Mapping[str, str]) -> str:
    """What to do about a cause that a line shows with its values."""
    if cause.name == "master_address" and NO_NAME.search(lines[place].text[:MOST_CHARACTERS]) and in_pods(lines):
        return MASTER
    if cause.name == "master_address" and BARE_NAME.search(lines[place].text[:MOST_CHARACTERS]):
        return f"{filled(cause.fix, values)}; for a pod {MASTER}"
    # A fix with values of the line is for this log already.
    fix = FIXES.get(cause.name) if "{" not in cause.fix else None
    if fix and in_pods(lines):
        return fix
    if fix == NAMES and BARE_NAME.search(lines[place].text[:MOST_CHARACTERS]):
        return f"{cause.fix}; for a pod {fix}"
    whole = whole_name(lines, values.get("host", "")) if cause.name == "ssh_resolve" else None
    if whole:
        return (
            f"Open MPI cuts the domain off {whole}: set orte_keep_fqdn_hostnames: 1 in benchmark_mca (before 5.0), or "
            "plm_rsh_no_tree_spawn: 1 where the launcher knows the name and other hosts do not, or make the short name known on every host "
            "(/etc/hosts, search in resolv.conf)"
        )
    crash = crash_at(lines, place) if cause.name == "segfault" and not cause.context else None
    if crash:
        return advice_of(crash)
    raised = frame(lines, place) if cause.name == "traceback" else None
    if raised and LAUNCHER.search(raised[0]):
        return (
            f"the launcher failed, not the script (line {raised[1]} of {raised[0]}): check its options, the hosts and their slots, and its "
            "version on every host"
        )
    if raised:
        return f"look at line {raised[1]} of {raised[0]}, and at {what_to_see(lines[place].text)}"
    return filled(cause.fix, values)


def frame(lines: Sequence[Line], place: int) -> Optional[Tuple[str, str]]:
    """File and line of the last call of the user's own code in the traceback above a line, of any code without one."""
    last, rank = None, lines[place].rank
    for line in reversed(lines[max(place - MOST_FRAMES, 0) : place]):
        if line.rank != rank:
            continue
        if line.text.rstrip().endswith(BEGIN):
            break
        match = FRAME.match(line.text)
        if match and not INSTALLED.search(match["path"]):
            return match["path"], match["number"]
        last = last or match
    return (last["path"], last["number"]) if last else None
