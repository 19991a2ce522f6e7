# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers and counts in words, and text that fits into columns of a terminal, where a Chinese character takes two."""

import unicodedata
from typing import List, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._process import failure, words

CUT = "..."
# Between the columns of a table.
GAP = "  "
NONE = "none"
# So many different texts does grouped return.
# Categories of characters: control characters and ends of lines, and what only tells a terminal how to write.
BLANK = ("Cc", "Zl", "Zp")
UNSEEN = ("Cf", "Cs")

some = failure.some
grouped = words.grouped


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cells(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(map(_cell, text))


def plain(text: str) -> str:
    """Return a text on one line and without characters that a terminal would obey."""
    kinds = ((one, unicodedata.category(one)) for one in text)
    return " ".join("".join(" " if kind in BLANK else one for one, kind in kinds if kind not in UNSEEN).split())


def _head(text: str, width: int) -> str:
    """Return as much of the beginning as fits, at least one character."""
    taken, used = 0, 0
    for character in text:
        used += _cell(character)
        if used > width and taken:
            break
        taken += 1
    return text[:taken]


def wrapped(text: str, width: int) -> List[str]:
    """Return a text as lines that fit. A word is cut only when it doesn't fit a line of its own."""
    lines: List[str] = []
    line = ""
    for word in plain(text).split(" "):
        if line and cells(line) + 1 + cells(word) <= width:
            line = f"{line} {word}"
            continue
        lines += [line] if line else []
        while cells(word) > width:
            head = _head(word, width)
            lines.append(head)
            word = word[len(head) :]
        line = word
    return lines + ([line] if line else [])


def cut(text: str, width: int) -> str:
    """Return a text on one line that fits, with dots where something was left out."""
    text = plain(text)
    return text if cells(text) <= width else _head(text, width - len(CUT)) + CUT


def padded(text: str, width: int) -> str:
    """Return a text filled up with spaces."""
    return text + " " * (width - cells(text))


def row_lines(row: Sequence[str], widths: Sequence[int]) -> List[str]:
    """Return a row of a table as lines, with cells wrapped to the widths of their columns."""
    columns = [wrapped(cell, width) or [""] for cell, width in zip(row, widths)]
    height = max(map(len, columns))
    filled = [column + [""] * (height - len(column)) for column in columns]
    return [GAP.join(padded(part, width) for part, width in zip(line, widths)).rstrip() for line in zip(*filled)]


def ruled(heads: Sequence[str], widths: Sequence[int]) -> List[str]:
    """Return the lines of the heads of a table, with a rule beneath each."""
    return [*row_lines(heads, widths), GAP.join("-" * width for width in widths)]


def counted(count: int, noun: str, plural: Optional[str] = None) -> str:
    """A count with its noun, such as "1 run" or "2 runs"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def number(value: Optional[float]) -> str:
    """A measured value with as many digits as help."""
    if value is None:
        return NONE
    return f"{value:.1f}" if value == 0 or abs(value) >= 10 else f"{value:.3g}"


def bytes_text(size: float) -> str:
    """A number of bytes in words."""
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= power:
            return f"{size / power:.3g} {unit}"
    return f"{size:.0f} bytes"
