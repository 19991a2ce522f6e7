# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read numbers by a user's regular expression, for programs whose output nobody else knows."""

import re
from typing import Iterable, NamedTuple, Optional, Pattern

from ansible_collections.taco.train.plugins.plugin_utils.workloads import lines as log_lines
from ansible_collections.taco.train.plugins.plugin_utils.workloads import result
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, WorkloadError


class Found(NamedTuple):
    """What a pattern found, line by line."""

    texts: list[str]
    numbers: list[Optional[float]]
    """The same as numbers, null for what is none."""
    ranks: Optional[int]
    """What the last line said in the group `ranks`, where the pattern has one."""


def compiled(options: Options, name: str) -> Pattern[str] | None:
    """Return the option's regular expression, None of an option that isn't set, or raise what is wrong with it."""
    pattern = options.get(name)
    if pattern in (None, ""):
        return None
    try:
        regex = re.compile(pattern)
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        raise WorkloadError(f"benchmark_{name} is {pattern!r}, which is no regular expression: {error}.") from error
    if "value" not in regex.groupindex:
        raise WorkloadError(
            f"benchmark_{name} is {pattern!r}; it must name the group of the number, such as "
            r"'speed: (?P<value>[0-9.]+)'."
        )
    return regex


def find(regex: Pattern[str], lines: Iterable[str]) -> Found:
    """Return what the expression finds in the lines, once in each. It need not, but may, match what a launcher prefixed."""
    matches = [match for match in (found_in(regex, line) for line in lines) if match]
    texts = [match.group("value") for match in matches]
    ranks = [match.group("ranks") for match in matches] if "ranks" in regex.groupindex else []
    count = result.finite(ranks[-1]) if ranks else None
    return Found(texts, [result.finite(text) for text in texts], int(count) if count is not None else None)


def found_in(regex: Pattern[str], raw: str) -> re.Match[str] | None:
    """Return what the expression finds in a line without its prefixes, or else in the whole line."""
    line = log_lines.clean(raw)
    return regex.search(line.text) or (regex.search(raw) if line.text != raw else None)


def problems(found: Found, name: str, pattern: str) -> list[str]:
    """Return what makes a pattern's numbers unfit for use."""
    if not found.texts:
        return [f"No line of the output matches benchmark_{name}, {pattern!r}: the run did not finish, or it is wrong."]
    bad = [text for text, number in zip(found.texts, found.numbers) if result.unusable([number])]
    if bad:
        return [f"benchmark_{name} found {bad[0]!r}, which is not a usable number."]
    return []
