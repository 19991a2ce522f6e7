# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Understand the hugepage arguments of a kernel command line. Values in, values out.

Rules of the kernel (Documentation/admin-guide/mm/hugetlbpage.rst): a `hugepages=` belongs to the `hugepagesz=` before it, and
one without belongs to the default size; each size is given once; `default_hugepagesz=` is given once.
"""

from typing import Dict, List, NamedTuple, Optional, Sequence

PAGE_BYTES = {"2M": 2 * 1024**2, "1G": 1024**3}
DEFAULT_SIZE = "2M"  # of x86-64 when the line doesn't say another
PREFIXES = ("default_hugepagesz=", "hugepagesz=", "hugepages=")
_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


class KernelArgsError(Exception):
    """Arguments that would not boot as meant."""


class Reservation(NamedTuple):
    """One `hugepages=` of a line, with the place of the token that gives its size, if it has one."""

    size: str
    number: str
    size_index: Optional[int]
    count_index: int


def canonical_size(text: str) -> str:
    """Return V(1G) for 1G, 1GB, 1g or 1024M, V(2M) for 2M and 2048K; a size that isn't one comes back as it is."""
    number = ""
    for letter in text:
        if not letter.isdecimal():
            break
        number += letter
    unit = text[len(number) : len(number) + 1].upper()
    if not number or (unit and unit not in _UNITS):
        return text
    size = int(number) * _UNITS.get(unit, 1)
    for name, value in PAGE_BYTES.items():
        if size == value:
            return name
    return text


def _value(token: str) -> str:
    return token.split("=", 1)[1]


def default_size(tokens: Sequence[str]) -> str:
    """Return the default page size that a line asks for."""
    given = [canonical_size(_value(token)) for token in tokens if token.startswith("default_hugepagesz=")]
    return given[-1] if given else DEFAULT_SIZE


def reservations(tokens: Sequence[str]) -> List[Reservation]:
    """Return what a line reserves, in its order."""
    found = []
    size, size_index = default_size(tokens), None  # type: str, Optional[int]
    for index, token in enumerate(tokens):
        if token.startswith("hugepagesz="):
            size, size_index = canonical_size(_value(token)), index
        elif token.startswith("hugepages="):
            found.append(Reservation(size, _value(token), size_index, index))
    return found


def counts(tokens: Sequence[str], page_size: str) -> List[str]:
    """Return every count that a line gives for one page size; a right line has at most one."""
    return [found.number for found in reservations(tokens) if found.size == page_size]


def wanted_tokens(page_size: str, count: int) -> List[str]:
    """Return the three arguments that reserve pages, in the order that the kernel needs."""
    tokens = [f"default_hugepagesz={page_size}", f"hugepagesz={page_size}", f"hugepages={count}"]
    for token in tokens:
        if token.split("=", 1)[1] in ("", "None"):
            raise KernelArgsError(f"the argument {token!r} would be empty")
    return tokens


def edits(tokens: Sequence[str], page_size: str, keep_others: bool = True) -> Dict[int, Optional[str]]:
    """Return what to do with tokens so that a line says nothing of one page size: index -> new text, None to remove.

    A count without a size of its own means the default size. As the default changes, it gets its size in so many words.
    Without keep_others the line says nothing of any page size then.
    """
    if not keep_others:
        return dict.fromkeys(index for index, token in enumerate(tokens) if token.startswith(PREFIXES))
    changes = {}  # type: Dict[int, Optional[str]]
    kept_sizes = set()
    for found in reservations(tokens):
        if found.size == page_size:
            changes[found.count_index] = None
        elif found.size_index is None:
            changes[found.count_index] = f"hugepagesz={found.size} hugepages={found.number}"
        else:
            kept_sizes.add(found.size_index)
    for index, token in enumerate(tokens):
        lone = token.startswith("hugepagesz=") and index not in kept_sizes
        if token.startswith("default_hugepagesz=") or (lone and canonical_size(_value(token)) == page_size):
            changes[index] = None
    return changes


def without(tokens: Sequence[str], page_size: str, keep_others: bool = True) -> List[str]:
    """Return a line that says nothing of one page size, or of any; everything else keeps its order."""
    changes = edits(tokens, page_size, keep_others)
    result = []  # type: List[str]
    for index, token in enumerate(tokens):
        changed = changes.get(index, token)
        result += changed.split() if changed else []
    return result


def with_pages(tokens: Sequence[str], page_size: str, count: int, keep_others: bool = True) -> List[str]:
    """Return a line that reserves count pages of one size once, after everything else."""
    return without(tokens, page_size, keep_others) + wanted_tokens(page_size, count)


def line_problems(tokens: Sequence[str], page_size: str, count: Optional[int]) -> List[str]:
    """Return why a line doesn't reserve count pages of one size exactly once; None asks for none at all."""
    given = counts(tokens, page_size)
    if count is None:
        return [f"it still reserves pages of {page_size}: hugepages={' and '.join(given)}"] if given else []
    problems = []
    if given != [str(count)]:
        said = " and ".join(f"hugepages={value}" for value in given) or "none"
        problems.append(f"it should say hugepages={count} once for pages of {page_size} and says {said}")
    defaults = [token for token in tokens if token.startswith("default_hugepagesz=")]
    if len(defaults) > 1:
        problems.append(f"it names the default page size {len(defaults)} times: {' '.join(defaults)}")
    return problems
