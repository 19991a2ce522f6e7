# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read PyTorch's report about ranks that call different collective operations: which did not come, and where the others wait."""

import re
from typing import List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.plugin_utils.failure.place import Places

# The ranks in the report that did not do what the others did.
LAGGING = re.compile(
    r"^\s*(?:- ?)?\[(?P<ranks>\d{1,7}(?:, ?\d{1,7}){0,60})(?:, ?\.\.\.)?\] (?P<what>(?:finished collective #\d+, but didn't join "
    r"collective #\d+|joined but didn't finish collective #\d+|never joined any collectives?))"
)
STACK = re.compile(r"Stack trace of the failed collective")
CALL = re.compile(r"^#\d+ (?P<function>\S{1,120}) from (?P<file>\S{1,300}):(?P<number>\d+)\s*$")
INSTALLED = re.compile(r"/(?:site|dist)-packages/|/torch/|<string>")
MOST_CALLS = 40


class Apart(NamedTuple):
    """The ranks, the end of the sentence about them, and what to do first."""

    ranks: List[int]
    found: str
    fix: str


def apart(places: Places) -> Optional[Apart]:
    """The ranks that the report names, with the call of the others; None without a report."""
    lines = places.lines
    match = next(
        (match for match in (LAGGING.match(line.text) for line in lines if "collective" in line.text) if match), None
    )
    if not match:
        return None
    ranks = sorted(int(rank) for rank in match["ranks"].split(","))
    begin = next((number for number, line in enumerate(lines) if STACK.search(line.text)), len(lines))
    calls = (CALL.match(line.text) for line in lines[begin + 1 : begin + MOST_CALLS])
    call = next((call for call in calls if call and not INSTALLED.search(call["file"])), None)
    at = f", which the others called in {call['function']} at {call['file']}:{call['number']}" if call else ""
    where = f"line {call['number']} of {call['file']}" if call else "the stack of the failed collective"
    return Apart(
        ranks,
        f"{match['what']}{at}",
        f"make every rank call this operation, or none: look at {where} for a condition on the rank or the data",
    )
