# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Words for people that several parts of the collection write: names with the same reason, times and sizes."""

from typing import Dict, Iterable, List, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import some

MOST_TEXTS = 3


class InvalidValueError(Exception):
    """A value from which nothing can be built. The text says what was expected, what was found and how to correct it."""


def duration(seconds: float) -> str:
    """Return seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def gib(size: Optional[int]) -> str:
    """Return a size for people, such as V(12.5 GiB)."""
    return "unknown" if size is None else f"{size / 1024**3:.1f} GiB".replace(".0 GiB", " GiB")


def grouped(texts: Iterable[Tuple[str, str]], separator: str = ": ") -> List[str]:
    """Return sentences about named things: those with the same text together, and after some texts how many more things there are."""
    groups: Dict[str, List[str]] = {}
    for name, text in texts:
        groups.setdefault(text, []).append(name)
    found = [f"{some(names)}{separator}{text}" for text, names in groups.items()]
    rest = [name for names in list(groups.values())[MOST_TEXTS:] for name in names]
    return found[:MOST_TEXTS] + ([f"{len(set(rest))} more{separator}other reasons of the same kind"] if rest else [])
