# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Take a benchmark's output apart into lines, as they come from many ranks through mpirun."""

import re
from typing import Any, Iterable, Pattern

# Before each line, with mpirun's --tag-output.
PREFIX = r"^(?:\[\d+,\d+\]<std(?:out|err|diag)>:\s?)?"


def lines_of(text: Any) -> list[str]:
    """Return the lines of a text, and of what is no text as well as can be. After a last newline comes an empty line."""
    return re.split(r"\r\n|\n|\r", text if isinstance(text, str) else "" if text is None else str(text))


def values(pattern: Pattern[str], lines: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the groups of each line that matches."""
    return [match.groups() for match in map(pattern.match, lines) if match]
