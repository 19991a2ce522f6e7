# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a rank that the others wait for printed last: why it did not come to their operation."""

import re
from typing import List, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.failure.place import Places
from ansible_collections.taco.train.plugins.plugin_utils.failure.same_error import rank_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import quoted

TIMEOUT = re.compile(r"[Ww]atchdog caught collective operation timeout")
# What a script prints of work that one rank does alone, and of data that ends.
ALONE = re.compile(
    r"(?i)\b(?:validat|evaluat|checkpoint|saving|download|rank[- ]?0 only|preprocess|tokeniz|building (?:the )?(?:index|cache))"
)
EXHAUSTED = re.compile(
    r"(?i)\b(?:exhausted|no more (?:data|batches|samples)|out of data|end of (?:the )?(?:data|sequence|input)|StopIteration)"
)
NAN = re.compile(r"(?i)\bloss[\"' ]{0,2}[:=]? {0,2}[-+]?(?:nan|inf)\b")
# What follows from the end of the run.
AFTERWARDS = re.compile(
    r"(?i)shut ?down|traceback|^ {1,4}File |error|exception|stall|missing ranks|warning|signal|\bNCCL\b|^\s*$|^\[[WIEF]\d|^ *\[\[|: [WIEF] "
)


class Words(NamedTuple):
    """A rank, the end of the sentence about it, and what to do first."""

    rank: int
    found: str
    fix: str


def words_of(places: Places, rank: int, end: int, telling: bool = False) -> Optional[Words]:
    """What a rank printed last before a line; where it must tell, only a line about data or work that it does alone."""
    nan = not_a_number(places, rank, end) if not telling else None
    if nan:
        return nan
    own = [line.text for line in places.lines[:end] if rank_of(line) == rank and not AFTERWARDS.search(line.text[:400])]
    alone = [text for text in own[-20:] if ALONE.search(text) or EXHAUSTED.search(text)]
    if not own or (telling and not alone):
        return None
    text = (alone or own)[-1 if not telling else 0]
    fix = ""
    if EXHAUSTED.search(text):
        fix = (
            "give every rank the same number of steps: equal parts of the data, drop the last batches, or hvd.join() or DDP's "
            "join() for the ranks that end early; "
        )
    elif ALONE.search(text):
        fix = (
            "let all ranks share this work or wait for it outside of collective operations, make it shorter, or raise the timeout of the "
            "process group (init_process_group(timeout=...)) above it; "
        )
    return Words(rank, f"; its last line before: '{quoted(text)}'", fix)


def not_a_number(places: Places, rank: int, end: int) -> Optional[Words]:
    """That the loss of a rank, or of one that is not known, was no number before a line."""
    before = (line.text for line in places.lines[:end] if rank_of(line) in (None, rank))
    text = next((text for text in before if NAN.search(text[:400])), None)
    if text is None:
        return None
    fix = (
        "a rank that leaves out a step, as scaling of the loss does for NaN, leaves the others waiting: let all ranks agree on it "
        "(allreduce of the flag), and find why the loss is NaN (learning rate, data, mixed precision); "
    )
    return Words(rank, f"; before, the loss is no number: '{quoted(text)}'", fix)


def without_timeout(places: Places) -> Optional[Words]:
    """The only rank without a timeout of PyTorch's watchdog, where it prints of work that it does alone."""
    lines = places.lines
    timeouts: List[int] = [number for number, line in enumerate(lines) if TIMEOUT.search(line.text[:400])]
    waiting = {rank for rank in (rank_of(lines[number]) for number in timeouts) if rank is not None}
    known = {rank for rank in map(rank_of, lines) if rank is not None}
    absent: Sequence[int] = sorted(known - waiting)
    if len(absent) != 1 or len(waiting) < 2 or known != set(range(len(known))):
        return None
    return words_of(places, absent[0], timeouts[0], telling=True)
