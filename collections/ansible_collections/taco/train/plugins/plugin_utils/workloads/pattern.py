# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read numbers by a user's regular expression, for programs whose output nobody else knows."""

import re
from typing import Iterable, NamedTuple, Optional, Pattern

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import lines as log_lines
from ansible_collections.taco.train.plugins.plugin_utils.workloads import result
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options

# A comma between groups of three digits; any other is that of a decimal fraction or of a list.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:\.\d{3})*,\d+")
# What a number goes on with, before and behind what an expression takes of it.
BEFORE = re.compile(r"\d[.,]?$")
BEHIND = re.compile(r"[.,]?\d")
NUMBER = re.compile(r"[\d.,]*\d")
# A user's expression may take a time that grows with the square of a line, or more.
MOST_OF_A_LINE = 2000


class Found(NamedTuple):
    """What a pattern found, line by line."""

    texts: list[str]
    numbers: list[Optional[float]]
    """The same as numbers, null for what is none."""
    ranks: Optional[int]
    """What the last line said in the group `ranks`, where the pattern has one."""
    cut: Optional[tuple[str, str]] = None
    """The first text that is a part of a number only, and the number."""


def compiled(options: Options, name: str) -> Pattern[str] | None:
    """Return the option's regular expression, None of an option that isn't set, or raise what is wrong with it."""
    pattern = options.get(name)
    if pattern in (None, ""):
        return None
    try:
        regex = re.compile(pattern)
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        raise InvalidValueError(
            f"benchmark_options.{name} is {pattern!r}, which is no regular expression: {error}."
        ) from error
    if "value" not in regex.groupindex:
        raise InvalidValueError(
            f"benchmark_options.{name} is {pattern!r}; it must name the group of the number, such as "
            r"'speed: (?P<value>[0-9.]+)'."
        )
    return regex


def find(regex: Pattern[str], lines: Iterable[str]) -> Found:
    """Return what the expression finds in the lines, once in each. It need not, but may, match what a launcher prefixed."""
    matches = [match for match in (found_in(regex, line) for line in lines) if match]
    texts = [match.group("value") for match in matches]
    ranks = [match.group("ranks") for match in matches] if "ranks" in regex.groupindex else []
    count = result.finite(ranks[-1]) if ranks else None
    cut = next((cut for cut in map(cut_number, matches) if cut), None)
    return Found(texts, [value_of(match) for match in matches], int(count) if count is not None else None, cut)


def value_of(match: re.Match[str]) -> Optional[float]:
    """The number in a match, without commas between thousands; None for what is none, or is a part of a number."""
    if cut_number(match):
        return None
    text = match.group("value")
    return result.finite(text.replace(",", "") if text and THOUSANDS.fullmatch(text) else text)


def cut_number(match: re.Match[str]) -> Optional[tuple[str, str]]:
    """The text that an expression takes from the middle of a number, and the number; None where it takes the whole."""
    text, begin, end = match.group("value") or "", *match.span("value")
    before = BEFORE.search(match.string, max(begin - 2, 0), begin) if begin == match.start() else None
    behind = BEHIND.match(match.string, end) if end == match.end() else None
    if not text[-1:].isdigit() or (not before and not behind):
        return None
    in_list = match.string[begin - 1 : begin] in (",", ";") and begin > match.start()
    if not before and ("." in text or in_list) and not match.string[end : end + 1].isdigit():
        return None
    start = begin
    while before and start and match.string[start - 1] in "0123456789.,":
        start -= 1
    number = NUMBER.match(match.string, start)
    return (text, number[0]) if number else None


def found_in(regex: Pattern[str], raw: str) -> re.Match[str] | None:
    """Return what the expression finds in the begin of a line without its prefixes, or else with them."""
    raw = raw[:MOST_OF_A_LINE]
    line = log_lines.clean(raw)
    return regex.search(line.text) or (regex.search(raw) if line.text != raw else None)


def problems(found: Found, name: str, pattern: str) -> list[str]:
    """Return what makes a pattern's numbers unfit for use."""
    if not found.texts:
        return [
            f"No line of the output matches benchmark_options.{name}, {pattern!r}: the run did not finish, or it is wrong."
        ]
    if found.cut:
        return [
            f"benchmark_options.{name} finds {found.cut[0]!r}, which is only a part of the number {found.cut[1]!r}; let the "
            "group value take the whole number, such as (?P<value>[0-9.,]+), or let the expression match what follows it."
        ]
    bad = [text for text, number in zip(found.texts, found.numbers) if result.unusable([number])]
    if bad and DECIMAL_COMMA.fullmatch(bad[0] or ""):
        return [
            f"benchmark_options.{name} found {bad[0]!r}, which has a decimal comma; set LC_ALL: C in benchmark_env."
        ]
    if bad:
        return [f"benchmark_options.{name} found {bad[0]!r}, which is not a usable number."]
    return []
