# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the log of a running benchmark into lines that say how far it is. Text in, text out."""

import re
import time
import unicodedata
from datetime import datetime
from typing import Any, Callable, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._process import words

duration = words.duration
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
        runs_left: int = 0,
        run_seconds: Optional[float] = None,
    ) -> None:
        """Label says which run it is; iteration_of returns the value that a line reports, or None; iterations is how many come.

        runs_left is how many runs of a comparison follow, and run_seconds what those before have taken on average.
        """
        self.runs_left, self.run_seconds, self.started = runs_left, run_seconds, clock()
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
        if self.runs_left:
            total = self.seconds_left_of_all(left)
            return text + (f", about {duration(total)} left for all runs" if total is not None else "")
        return text + (f", about {duration(left)} left" if left is not None else "")

    def seconds_left_of_all(self, left: Optional[float]) -> Optional[float]:
        """The time that this run and those that follow take, or None when that isn't known yet."""
        taken = self.clock() - self.started
        here: Optional[float] = left
        if self.iterations and len(self.values) >= self.iterations:
            here = 0.0
        elif left is None and self.run_seconds:
            here = max(0.0, self.run_seconds - taken)
        if here is None:
            return None
        return here + (self.run_seconds or taken + here) * self.runs_left

    def seconds_left(self) -> Optional[float]:
        """Return how long the iterations that are left take at the pace of those done, or None when that isn't known yet."""
        done = len(self.values)
        if not self.iterations or self.first is None or done <= self.counted or done >= self.iterations:
            return None
        return (self.clock() - self.first) / (done - self.counted) * (self.iterations - done)


# A comparison can be continued on another day: a longer pause than this between two runs is no part of a run.
LONGEST_PAUSE = 120


def run_seconds(records: Sequence[Mapping[str, Any]]) -> Optional[float]:
    """The mean time of the runs of a comparison, with what happens between two of them, or None without any."""
    runs = []
    for record in records:
        try:
            begun = datetime.strptime(str(record.get("time"))[:19], "%Y-%m-%dT%H:%M:%S").timestamp()
            runs.append((begun, float(record["duration_s"])))
        except (KeyError, TypeError, ValueError):
            continue
    seconds = [took for _begun, took in runs]
    for place, ((begun, took), (following, _took)) in enumerate(zip(runs, runs[1:])):
        if took <= following - begun <= took + LONGEST_PAUSE:
            seconds[place] = following - begun
    return sum(seconds) / len(seconds) if seconds else None


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
