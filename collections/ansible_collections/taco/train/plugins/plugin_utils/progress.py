# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Turn the log of a running benchmark into lines that say how far it is. Text in, text out."""

import re
import time
import unicodedata
from typing import Callable, List, Optional

LINE_END = re.compile(r"\r\n|\n|\r")
# What stands between the name of a run and how far it is.
MIDDLE = ": iteration "


class Progress:
    """What a run has printed so far. Text is fed in pieces, cut anywhere."""

    def __init__(
        self,
        label: str,
        iterations: Optional[int],
        iteration_of: Callable[[str], Optional[float]],
        unit: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Label says which run it is; iteration_of returns the value that a line reports, or None; iterations is how many come."""
        self.label, self.iterations, self.iteration_of, self.unit, self.clock = (
            label,
            iterations,
            iteration_of,
            unit,
            clock,
        )
        self.values: List[float] = []
        self.rest = ""
        self.first: Optional[float] = None

    def feed(self, text: str) -> List[str]:
        """Return a line for each iteration that the text completes."""
        *lines, self.rest = LINE_END.split(self.rest + text)
        said = []
        for line in lines:
            value = self.iteration_of(line)
            if value is not None:
                self.values.append(value)
                said.append(self.line())
        # Iterations that arrive together would all seem to have been done at once.
        if said and self.first is None:
            self.first, self.counted = self.clock(), len(self.values)
        return said

    def line(self) -> str:
        """Return how far the run is."""
        done = len(self.values)
        of = f" of {self.iterations}" if self.iterations else ""
        mean = sum(self.values) / done
        text = f"{self.label}{MIDDLE}{done}{of}, {self.values[-1]:.1f} {self.unit}, mean {mean:.1f}"
        left = self.seconds_left()
        return text + (f", about {duration(left)} left" if left is not None else "")

    def seconds_left(self) -> Optional[float]:
        """Return how long the iterations that are left take at the pace of those done, or None when that isn't known yet."""
        done = len(self.values)
        if not self.iterations or self.first is None or done <= self.counted or done >= self.iterations:
            return None
        return (self.clock() - self.first) / (done - self.counted) * (self.iterations - done)


def duration(seconds: float) -> str:
    """Return seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def fitted(line: str, columns: int) -> str:
    """Return a line of at most so many columns. The label gives way first: what a reader waits for stands behind it."""
    label, middle, state = line.rpartition(MIDDLE)
    return _cut(_cut(label, max(1, columns - _width(middle + state))) + middle + state, columns)


def _cut(text: str, columns: int) -> str:
    """Return text with a sign where it was cut to fit."""
    if _width(text) <= columns:
        return text
    while text and _width(text) >= columns:
        text = text[:-1]
    return text + "…"


def _width(text: str) -> int:
    """Return how many columns text takes: some scripts have letters of two, and marks that take none."""
    return sum(0 if unicodedata.combining(one) else 1 + (unicodedata.east_asian_width(one) in "WF") for one in text)
