# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which of the causes that a log shows is that of the others: the first in the table, but for what follows from another process's end."""

from typing import Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import (
    CAUSES,
    EXPLAINED_BY,
    FIRST_COUNTS,
    FIRST_OF_NAME,
    FOLLOWS,
    FROM_OUTSIDE,
    LISTED,
    OF_ONE,
    OF_TWO,
    OF_TWO_AFTERWARDS,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line


def the_first(places: Mapping[int, int], lines: Sequence[Line]) -> int:
    """The cause of highest priority, and not what follows from the end of another process."""
    best = min(places)
    name = CAUSES[best].name
    explained = [
        index for other in EXPLAINED_BY.get(name, ()) for index in sorted(places) if CAUSES[index].name == other
    ]
    if explained and name in FIRST_OF_NAME:
        return explained[0]
    if name in FIRST_OF_NAME:
        return min((index for index in places if CAUSES[index].name == name), key=lambda index: places[index])
    outside = [index for index in places if CAUSES[index].name in FROM_OUTSIDE and places[index] < places[best]]
    if outside and name in FOLLOWS - FROM_OUTSIDE:
        return min(outside, key=lambda index: places[index])
    if explained:
        return explained[0]
    if name in FIRST_COUNTS and LISTED.match(lines[places[best]].text):
        listed = [
            index for index in places if CAUSES[index].name in FIRST_COUNTS and LISTED.match(lines[places[index]].text)
        ]
        return min(listed, key=lambda index: places[index])
    if name in OF_TWO or name in OF_TWO_AFTERWARDS:
        of_one = [index for index in places if CAUSES[index].name in OF_ONE]
        return min((index for index in of_one if places[index] < places[best] or decides(index, name)), default=best)
    return best


def decides(index: int, name: str) -> bool:
    """Whether the cause of one process comes before another between processes wherever it stands: launchers say it at their end."""
    return name in OF_TWO and (CAUSES[index].name == "killed" or name == "stalled")
