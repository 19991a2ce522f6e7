# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the ranks that show an error, and the few ranks or the host that differ from the others in what all print."""

import re
from typing import Collection, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import MOST_CHARACTERS
from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import CAUSES, OF_KERNEL
from ansible_collections.taco.train.plugins.plugin_utils.failure.hosts import ADDRESS
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import (
    OWN_ADDRESS,
    PREFIX_RANK,
    TORCH_RANK,
    Places,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import NCCL_HEADER
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import listed, of_ranks, quoted
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# Ranks exchange what differs in its size.
OF_SIZES = {"nccl_truncated", "tensor_mismatch"}
VERSION = re.compile(
    r"Mismatched NCCL version detected : rank (\d{1,7}) version (\d{4,6}) rank (\d{1,7}) version (\d{4,6})"
)
BRIDGE = re.compile(r"NCCL INFO .{0,40}?Using (?:interface |\[0\])?(?:lo|docker|virbr|br-)\w*:")
NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,18})?")
# Numbers that differ in any run: times, memory, processes, speeds.
BEFORE = re.compile(r"(?i)\b(?:pid|port|time|took|elapsed|loss|lr|in|seed|ids?|step|at|batch)[ =:]{1,3}\Z")
BEHIND = re.compile(r"(?i) ?(?:ms|us|s|secs?|seconds|%|[kmgt]i?b|\w+/s)\b")
# Smaller numbers are those of ranks, devices and switches.
LEAST = 10
MOST_OF_A_LINE = 300
MOST_NUMBERS = 24
# So many kinds of lines are compared.
MOST_KINDS = 500


class Blamed(NamedTuple):
    """The ranks or the host to blame, the sentence about them or its end, and what to do."""

    ranks: Sequence[int]
    host: Optional[str]
    found: str
    fix: str


def odd_one(places: Places, place: int, cause: Cause, hosts: Sequence[str]) -> Optional[Blamed]:
    """Who differs from the others where a line shows a cause, None where nobody does."""
    if cause.name == "nccl_versions":
        return of_versions(places)
    if cause.name == "nccl_interface":
        return of_addresses(places)
    if "{interface}" in cause.found:
        return of_bridges(places)
    return of_sizes(places, place, hosts) if cause.name in OF_SIZES else None


def of_versions(places: Places) -> Optional[Blamed]:
    """The ranks with the less common version of NCCL."""
    versions: Dict[str, Set[int]] = {}
    for match in (VERSION.search(line.text) for line in places.lines if "Mismatched" in line.text):
        for rank, version in ((match[1], match[2]), (match[3], match[4])) if match else ():
            versions.setdefault(version, set()).add(int(rank))
    if len(versions) != 2:
        return None
    (odd, few), (usual, many) = sorted(versions.items(), key=lambda entry: len(entry[1]))
    if len(few) == len(many):
        return None
    return Blamed(sorted(few), _host(places, few), f"; {of_ranks(sorted(few))} with {odd}, the others with {usual}", "")


def of_addresses(places: Places) -> Optional[Blamed]:
    """The only host whose processes print lines of NCCL and no address, where others have one."""
    headers = {match[1] for match in (NCCL_HEADER.search(line.text) for line in places.lines) if match}
    with_one = {
        match[1]
        for match in (NCCL_HEADER.search(line.text) for line in places.lines if OWN_ADDRESS.search(line.text))
        if match
    }
    without = headers - with_one
    if not with_one or len(without) != 1:
        return None
    host = without.pop()
    return Blamed(
        (), host, f"; NCCL prints no address of {host}, and one of the others", f"run ip -br address on {host}; "
    )


def of_bridges(places: Places) -> Optional[Blamed]:
    """No host where several use such an interface: none of them is more to blame than another."""
    found = (NCCL_HEADER.search(line.text) for line in places.lines if BRIDGE.search(line.text))
    hosts = {match[1] for match in found if match}
    return Blamed((), None, f" (it is the same on {listed(sorted(hosts), 'hosts')})", "") if len(hosts) > 1 else None


def of_sizes(places: Places, place: int, hosts: Sequence[str]) -> Optional[Blamed]:
    """The ranks whose line has another number than the same line of the others, first where the error has these numbers."""
    error = {*NUMBER.findall(places.lines[place].text[:MOST_OF_A_LINE])}
    found = []
    for rows in _alike(places, hosts).values():
        for column in range(min(map(len, (numbers for numbers, _text in rows.values())))):
            odd = _odd({rank: numbers[column] for rank, (numbers, _text) in rows.items()})
            # Of two halves, such as those on two sockets, only what the error names tells.
            if odd and (2 * len(odd[0]) < len(rows) or set(odd[1:]) <= error):
                found.append((not set(odd[1:]) <= error, odd, rows[odd[0][0]][1]))
    if not found:
        return None
    _rank, (ranks, value, usual), text = min(found, key=lambda entry: entry[0])
    has = "has" if len(ranks) == 1 else "have"
    return Blamed(
        ranks,
        _host(places, ranks) or next((host for host in hosts if host in text), None),
        f"; {of_ranks(ranks)} {has} {value} where the others have {usual}: '{quoted(text)}'",
        "compare what these ranks load with what the others load (files, lists, vocabularies, configuration, the batch): the same on every "
        "host; else ",
    )


def _alike(places: Places, hosts: Sequence[str]) -> Dict[str, Dict[int, Tuple[List[str], str]]]:
    """The first lines of each rank by their words, with their numbers, for those that three ranks or more print."""
    kinds: Dict[str, Dict[int, Tuple[List[str], str]]] = {}
    names = re.compile("|".join(map(re.escape, sorted({*hosts, *places.hosts.values()} - {""}))) or "(?!)")
    for line in places.lines:
        rank = None if " NCCL INFO " in line.text else rank_of(line)
        if rank is None:
            continue
        text = names.sub("HOST", ADDRESS.sub("ADDRESS", line.text[:MOST_OF_A_LINE]))
        if len(kinds) < MOST_KINDS:
            kinds.setdefault(NUMBER.sub("0", text[:160]), {}).setdefault(rank, (_numbers(text), line.text))
    return {words: rows for words, rows in kinds.items() if len(rows) > 2}


def _numbers(text: str) -> List[str]:
    """The numbers in a text, empty for those that differ in any run."""
    found = list(NUMBER.finditer(text))[:MOST_NUMBERS]
    return [
        "" if BEFORE.search(text[: match.start()][-12:]) or BEHIND.match(text[match.end() :]) else match[0]
        for match in found
    ]


def _odd(numbers: Dict[int, str]) -> Optional[Tuple[List[int], str, str]]:
    """The fewer ranks with one of two numbers, of halves that without rank 0; the number, and that of the others."""
    values = sorted({*numbers.values()})
    if len(values) != 2 or not all(value and float(value) >= LEAST for value in values):
        return None
    one, other = ([rank for rank in sorted(numbers) if numbers[rank] == value] for value in values)
    if len(one) == len(other):
        one, other = (other, one) if 0 in one else (one, other)
    few = one if len(one) <= len(other) else other
    many = other if few is one else one
    return few, numbers[few[0]], numbers[many[0]]


def _host(places: Places, ranks: Collection[int]) -> Optional[str]:
    """The only host of some ranks."""
    found = {places.hosts.get(rank) for rank in ranks}
    return found.pop() if len(found) == 1 else None


# What the process on a broken GPU prints, where the kernel's line names none.
OF_BROKEN_GPU = {"illegal_access", "gpu_broken", "test_cuda"}
# A script's own tag.
OWN_TAG = re.compile(r"^\[?(?:[Rr]ank|RANK) ?(\d{1,7})(?:\]:?|:| on [\w.-]{1,253}:) ")


def rank_of(line: Line) -> Optional[int]:
    """The rank that a line has in its prefix or in its text."""
    if line.rank is not None or "ank" not in line.text[:MOST_CHARACTERS]:
        return line.rank
    told = PREFIX_RANK.search(line.text) or TORCH_RANK.search(line.text) or OWN_TAG.match(line.text)
    return int(told[1]) if told else None


def ranks_with(places: Places, place: int, cause: Cause) -> List[int]:
    """The ranks with the same error, or with what follows from the one that the kernel reports."""
    of_kernel = cause.name == "gpu_broken" and OF_KERNEL.search(places.lines[place].text)
    names = OF_BROKEN_GPU if of_kernel else {cause.name}
    key = (*sorted(names),)
    if key in places.with_error:
        return places.with_error[key]
    patterns = [other.pattern for other in CAUSES if other.name in names]
    ranks = set()
    for line in places.lines:
        rank = rank_of(line)
        text = line.text[:MOST_CHARACTERS]
        if rank is not None and not text.startswith("[I") and any(pattern.search(text) for pattern in patterns):
            ranks.add(rank)
    return places.with_error.setdefault(key, sorted(ranks))
