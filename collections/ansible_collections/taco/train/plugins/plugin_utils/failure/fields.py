# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the `name: value` lines of a text, as the boxed help texts of Open MPI and PRRTE and torchrun's table of failures have them."""

import re
from typing import Dict, Mapping, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# A help text of mpirun is shorter than this many lines.
NEAR = 14
RULE = re.compile(r"^\s*-{40,}\s*$")
END = re.compile(r"^\s*[-=]{40,}\s*$")
# A help text of mpirun has its fields at its end.
MOST_OF_A_TEXT = 24
FIELD = re.compile(r"^\s{0,12}(?P<name>[A-Za-z][^:]{0,60}?) {0,20}: {0,30}(?P<value>[^\s:].{0,300}?)\s*$")
# What stands behind a name: the number of a process.
PARENTHESES = re.compile(r"\s*\([^)]*\)")
# A host stands alone, or behind words: [[51230,0],1] on node gpu2
HOST = re.compile(r"(?:.* on node )?(?P<host>[A-Za-z0-9][\w.-]*)")


def fields_near(lines: Sequence[Line], place: int) -> Dict[str, str]:
    """The values by their names in lower case, of the lines from one on up to a rule, and then of those before it."""
    values: Dict[str, str] = {}
    behind = range(place, min(place + MOST_OF_A_TEXT, len(lines)))
    before = range(place - 1, max(place - NEAR, 0) - 1, -1)
    for numbers in (behind, before):
        for number in numbers:
            if END.match(lines[number].text):
                break
            match = FIELD.match(lines[number].text)
            if match:
                values.setdefault(PARENTHESES.sub("", match["name"]).lower(), match["value"])
    return values


def groups_of(wanted: Mapping[str, Tuple[str, ...]], lines: Sequence[Line], place: int) -> Dict[str, str]:
    """The values near a line by the names of a cause's groups, each of the first of its fields that is there."""
    near = fields_near(lines, place) if wanted else {}
    groups: Dict[str, str] = {}
    for group, names in wanted.items():
        value = next((near[name] for name in names if name in near), None)
        if value and group == "host":
            match = HOST.match(value)
            value = match["host"] if match else None
        if value:
            groups[group] = value
    return groups
