# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read a log that may be longer than what is wanted of it: without NCCL's chatter first, then its two ends and the complaints between."""

import collections
import os
import re
from typing import Any, Deque, Dict, Iterator, List, Tuple

# NCCL prints of each channel of each rank; what names the network, the plugin, the ranks and errors is kept.
CHATTER = b" NCCL INFO "
OF_CHANNELS = (b"Channel ", b"Ring ", b"Trees ", b"Tree ", b"Connected all", b"P2P Chunksize", b"Setting affinity")
KEPT = re.compile(
    rb"Using (?:internal )?[Nn]etwork|NET/Plugin|[Pp]lugin|Bootstrap|(?:NET/)?(?:Socket|IB) ?: Using|n[rR]anks|set by environment|"
    rb"connect returned|[Ee]rror|[Ff]ail"
)
COMPLAINT = re.compile(
    rb"(?i)error|traceback|fatal|fail|abort|exception|cannot|can't|could not|unable|denied|not found|no such|invalid|refused|"
    rb"timed? ?out|killed|signal|out of memory|no space|warn|assert|unreachable|unhandled|lost|"
    rb"not enough|insufficient|closed by|reset by|exited"
)
NUMBERS = re.compile(rb"\d+")
# A message goes on for some lines, and many ranks repeat it.
LINES_BEHIND = 3
MOST_REPEATS = 20
MOST_ALIKE = 120
LONGEST_PIECE = 65536


def read_shortened(path: str, size: int) -> str:
    """Return what a file holds; of a longer one than `size` what matters most, and never all of it in memory."""
    with open(path, "rb") as stream:
        total = os.fstat(stream.fileno()).st_size
        if total <= size:
            return stream.read().decode("utf-8", "replace")
        longest = max(1, min(LONGEST_PIECE, size // 8))
        kept = sum(len(line) for line in lines_of(stream, longest))
        stream.seek(0)
        lines = lines_of(stream, longest)
        head, rest = ends_and_complaints(lines, size) if kept > size else ([], list(lines))
    left_out = total - sum(len(line) for line in [*head, *rest])
    marker = f"\n[... {left_out} bytes left out here, whole in {path} ...]\n"
    return b"".join([*head, marker.encode(), *rest]).decode("utf-8", "replace")


def lines_of(stream: Any, longest: int) -> Iterator[bytes]:
    """Yield the lines that are not chatter, a long one in pieces."""
    line = stream.readline(longest)
    while line:
        begin = line.find(CHATTER) + len(CHATTER)
        if begin < len(CHATTER) or (not line.startswith(OF_CHANNELS, begin) and KEPT.search(line, begin)):
            yield line
        line = stream.readline(longest)


def ends_and_complaints(lines: Iterator[bytes], size: int) -> Tuple[List[bytes], List[bytes]]:
    """Return the first lines, and the complaints of the middle with the last lines."""
    most_of_an_end, most_of_the_middle = size * 3 // 8, size // 4
    head: List[bytes] = []
    middle: List[bytes] = []
    tail: Deque[bytes] = collections.deque()
    of_head = of_middle = of_tail = 0
    notable = Notable()
    for line in lines:
        if not tail and of_head + len(line) <= most_of_an_end:
            head.append(line)
            of_head += len(line)
            continue
        tail.append(line)
        of_tail += len(line)
        while of_tail > most_of_an_end:
            first = tail.popleft()
            of_tail -= len(first)
            for one in notable.of(first):
                if of_middle + len(one) <= most_of_the_middle:
                    middle.append(one)
                    of_middle += len(one)
    return head, [*middle, *tail]


class Notable:
    """Complaints with the line before each and some behind it, each of them some times at most."""

    def __init__(self) -> None:
        self.seen: Dict[bytes, int] = {}
        self.before = b""
        self.behind = 0

    def of(self, line: bytes) -> List[bytes]:
        """Return what is to be kept now that a line was read."""
        before, self.before = self.before, line
        if COMPLAINT.search(line):
            alike = NUMBERS.sub(b"0", line[:MOST_ALIKE])
            self.seen[alike] = self.seen.get(alike, 0) + 1
            if self.seen[alike] <= MOST_REPEATS:
                whole = [before, line] if before and not self.behind else [line]
                self.behind = LINES_BEHIND + 1
                self.before = b""
                return whole
        if self.behind > 1:
            self.behind -= 1
            self.before = b""
            return [line]
        self.behind = 0
        return []
