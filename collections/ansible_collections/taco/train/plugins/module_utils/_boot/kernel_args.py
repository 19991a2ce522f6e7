# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Understand the hugepage arguments of a kernel command line. Values in, values out.

Rules of the kernel (Documentation/admin-guide/mm/hugetlbpage.rst): a `hugepages=` belongs to the `hugepagesz=` before it, and
one without belongs to the default size; each size is given once; `default_hugepagesz=` is given once. From 5.16 on a number can be one
for each NUMA node: `hugepages=0:25,1:25`.
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Union

PAGE_BYTES = {"2M": 2 * 1024**2, "1G": 1024**3}
DEFAULT_SIZE = "2M"  # of x86-64 when the line doesn't say another
PREFIXES = ("default_hugepagesz=", "hugepagesz=", "hugepages=")
Number = Union[int, str]  # of pages, of the whole host or such as V(0:25,1:25)
NODE_COUNTS = r"\d+:\d+(?:,\d+:\d+)*$"
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class Reservation(NamedTuple):
    """One `hugepages=` of a line, with the place of the token that gives its size, if it has one."""

    size: str
    number: str
    size_index: Optional[int]
    count_index: int

    def in_words(self) -> str:
        """Return the arguments that say the same with a size of their own."""
        return f"hugepagesz={self.size} hugepages={self.number}"


def canonical_size(text: str) -> str:
    """Return V(1G) for 1G, 1GB, 1g or 1024M, V(2M) for 2M and 2048K; a size that isn't one comes back as it is."""
    match = re.match(r"([0-9]+)([KMG]?)", text.upper())
    size = int(match.group(1)) * _UNITS[match.group(2)] if match else 0
    return {value: name for name, value in PAGE_BYTES.items()}.get(size, text)


def _value(token: str) -> str:
    return token.split("=", 1)[1]


def by_node(number: str) -> Dict[int, int]:
    """Return the pages of each NUMA node of a number such as V(0:25,1:25); empty where it isn't one for each node."""
    pairs = [part.split(":") for part in number.split(",")]
    return {int(node): int(pages) for node, pages in pairs} if re.match(NODE_COUNTS, number) else {}


def pages_of(number: str) -> Optional[int]:
    """Return how many pages a number such as V(50) or V(0:25,1:25) asks for, None where it isn't one."""
    if re.match(NODE_COUNTS, number):
        return sum(by_node(number).values())
    return int(number) if number.isdecimal() else None


def wanted_tokens(page_size: str, count: Number) -> List[str]:
    """Return the three arguments that reserve pages, in the order that the kernel needs."""
    return [f"default_hugepagesz={page_size}", f"hugepagesz={page_size}", f"hugepages={count}"]


class KernelLine:
    """The arguments of a kernel line and what they reserve, parsed once."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = list(tokens)
        own = self.tokens[: self.tokens.index("--")] if "--" in self.tokens else self.tokens
        self.own, self.rest = own, self.tokens[len(own) :]
        """The arguments of the kernel, and what is for the first program: -- and all behind it."""
        self.defaults = [token for token in own if token.startswith("default_hugepagesz=")]
        self.default_size = canonical_size(_value(self.defaults[-1])) if self.defaults else DEFAULT_SIZE
        self.sizes = {}  # type: Dict[int, str]
        """The place of each `hugepagesz=`, and its size."""
        self.reservations = []  # type: List[Reservation]
        size, size_index = self.default_size, None  # type: str, Optional[int]
        for index, token in enumerate(own):
            if token.startswith("hugepagesz="):
                size, size_index = canonical_size(_value(token)), index
                self.sizes[index] = size
            elif token.startswith("hugepages="):
                self.reservations.append(Reservation(size, _value(token), size_index, index))

    def counts(self, page_size: str) -> List[str]:
        """Every count for one page size; a right line has at most one."""
        return [found.number for found in self.reservations if found.size == page_size]

    def count(self, page_size: str) -> Optional[int]:
        """The number of pages of one size, None where the line gives no number or several."""
        given = self.counts(page_size)
        return pages_of(given[0]) if len(given) == 1 else None

    def others(self, page_size: str) -> List[Reservation]:
        """The reservations of other sizes."""
        return [found for found in self.reservations if found.size != page_size]

    def edits(self, page_size: str, keep_others: bool = True) -> Dict[int, Optional[str]]:
        """What to do with the tokens so that the line has no pages of one size: index -> new text, None to remove.

        A count without a size of its own means the default size. It gets an explicit size, because the default changes.
        Without keep_others the line has no pages of any size then.
        """
        if not keep_others:
            return dict.fromkeys(index for index, token in enumerate(self.own) if token.startswith(PREFIXES))
        changes = {}  # type: Dict[int, Optional[str]]
        for found in self.reservations:
            if found.size == page_size:
                changes[found.count_index] = None
            elif found.size_index is None:
                changes[found.count_index] = found.in_words()
        for index, token in enumerate(self.own):
            if self.sizes.get(index) == page_size or token.startswith("default_hugepagesz="):
                changes[index] = None
        return changes

    def without(self, page_size: str, keep_others: bool = True) -> List[str]:
        """The tokens without pages of one size, or of any; everything else keeps its order."""
        changes = self.edits(page_size, keep_others)
        texts = (changes.get(index, token) for index, token in enumerate(self.tokens))
        return " ".join(text for text in texts if text).split()

    def with_pages(self, page_size: str, count: Number, keep_others: bool = True) -> List[str]:
        """The tokens with count pages of one size once, after everything else that is for the kernel."""
        others = self.without(page_size, keep_others)
        return others[: len(others) - len(self.rest)] + wanted_tokens(page_size, count) + self.rest

    def corrected(self, page_size: str, count: Number, keep_others: bool = True) -> List[str]:
        """The tokens as they are where they reserve the pages exactly once, and else with_pages."""
        right = self.counts(page_size) == [str(count)] and not self.problems(page_size, pages_of(str(count)))
        right = right and (keep_others or len(self.reservations) == 1)
        return self.tokens if right else self.with_pages(page_size, count, keep_others)

    def problems(self, page_size: str, count: Optional[int]) -> List[str]:
        """Why the line doesn't reserve count pages of one size exactly once; None asks for none at all."""
        given = self.counts(page_size)
        if count is None:
            return [f"it still reserves pages of {page_size}: hugepages={' and '.join(given)}"] if given else []
        problems = []
        if [pages_of(number) for number in given] != [count]:
            said = " and ".join(f"hugepages={value}" for value in given) or "none"
            problems.append(f"it should say hugepages={count} once for pages of {page_size} and says {said}")
        if len(self.defaults) > 1:
            problems.append(f"it names the default page size {len(self.defaults)} times: {' '.join(self.defaults)}")
        return problems


def run_of(words: List[str], run: List[str]) -> range:
    """The places where a run of arguments stands first in a line; empty where it doesn't."""
    for index in range(len(words) if run else 0):
        if words[index : index + len(run)] == run:
            return range(index, index + len(run))
    return range(0)


def without_run(words: List[str], run: List[str]) -> List[str]:
    """Words without a run of them, where it stands first."""
    place = run_of(words, run)
    return words[: place.start] + words[place.stop :]
