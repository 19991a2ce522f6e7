# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentence about a cause: its values and the line of the log that shows it, after the ranks and hosts that it is about."""

import re
from typing import Iterable, Mapping, Optional, Sequence

MOST_OF_A_SENTENCE = 400
MOST_OF_A_LINE = 160
# Of them, so many behind what tells.
AFTER = 40
# A shorter line, such as Killed, adds nothing to the sentence.
LEAST_OF_A_LINE = 12
# More ranks or hosts than these are counted.
MOST_NAMES = 4
# Between a sentence and the line that it quotes.
QUOTE = ": '"
TEMPLATE = re.compile(r"\{(\w+)\}")
# The time and the source line that TensorFlow and glog begin a line with.
LOG_HEADER = re.compile(
    r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d+: [WEF] \S+\] |[WEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\] )"
)
# What absent values leave.
EMPTY = re.compile(r"(?:^| )\((?:rank  and |[^()\w]* requested, [^()\w]*found)?\s*\)")


def sentence(template: str, values: Mapping[str, str], line: str, end: int = 0) -> str:
    """A cause's sentence with its values, and with the line, up to the end of what tells, where no value is from it."""
    names = TEMPLATE.findall(template)
    text = filled(template, values)
    if any(values.get(name) for name in names) or len(line.strip()) < LEAST_OF_A_LINE:
        return text[:MOST_OF_A_SENTENCE]
    return f"{text}{QUOTE}{quoted(line, end)}'"


def filled(template: str, values: Mapping[str, str]) -> str:
    """A text of the table with its values."""
    return tidy(template.format(**{name: values.get(name, "") for name in TEMPLATE.findall(template)}))


def quoted(line: str, end: int = 0) -> str:
    """A line, cut at words so that it has what ends there."""
    header = LOG_HEADER.match(line)
    if header:
        line, end = line[header.end() :], max(end - header.end(), 0)
    words = " ".join(line.split())
    last = len(" ".join(line[:end].split()))
    begin = ""
    if last > MOST_OF_A_LINE:
        # Some words behind what tells, the rest before it.
        words = words[last + AFTER - MOST_OF_A_LINE :].partition(" ")[2]
        begin = "... "
    if len(words) > MOST_OF_A_LINE:
        words = words[:MOST_OF_A_LINE].rpartition(" ")[0] + " ..."
    return begin + words


def names(text: str, host: str) -> bool:
    """Whether a text names a host, and not only a folder or another host with its name in it."""
    return bool(re.search(rf"(?<![\w.-])(?<![^/]/){re.escape(host)}(?![\w-])", text))


def with_place(text: str, host: Optional[str], rank: Optional[int]) -> str:
    """A sentence after the rank and the host that it is about."""
    where = " on ".join(
        ([f"rank {rank}"] if rank is not None else [])
        + ([host] if host and not names(text.partition(QUOTE)[0], host) else [])
    )
    return f"{where}: {text}" if where else text


def reported_by(host: Optional[str], rank: Optional[int]) -> str:
    """The end of a sentence about another process: who reports it."""
    who = " on ".join(([f"rank {rank}"] if rank is not None else []) + ([host] if host else []))
    return f", as {who} reports" if who else ""


def with_places(text: str, hosts: Iterable[str], ranks: Iterable[int]) -> str:
    """A sentence after the several ranks and hosts that print the same."""
    where = " on ".join(part for part in (of_ranks(sorted(ranks)), listed(sorted(hosts), "hosts")) if part)
    return f"{where}: {text}" if where else text


def of_ranks(ranks: Sequence[int]) -> str:
    """The ranks in words: rank 3; ranks 0 to 7; ranks 1, 4 and 5."""
    if len(ranks) < 2:
        return f"rank {ranks[0]}" if ranks else ""
    if len(ranks) > 2 and ranks[-1] - ranks[0] == len(ranks) - 1:
        return f"ranks {ranks[0]} to {ranks[-1]}"
    names = listed([str(rank) for rank in ranks], "ranks")
    return names if len(ranks) > MOST_NAMES else f"ranks {names}"


def listed(names: Sequence[str], noun: str) -> str:
    """Names as a list, or their number."""
    if len(names) > MOST_NAMES:
        return f"{len(names)} {noun}"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1] if names else "") if part)


def tidy(text: str) -> str:
    """A sentence without what its absent parts leave."""
    return (
        re.sub(r"\s{2,}", " ", EMPTY.sub("", text))
        .replace(" ,", ",")
        .replace(" )", ")")
        .replace("connect to (", "connect (")
        .strip(" ,:")
    )
