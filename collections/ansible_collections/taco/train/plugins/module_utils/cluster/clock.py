# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The time of waits for a cluster, their limits, and the pauses between calls that failed."""

import math
import random
import time
from typing import Callable, List, Optional

# Calls that are made in all. With the waits below they take about a minute at most, unless the server asks for more.
MOST_CALLS = 7
FIRST_SECONDS = 0.5
MOST_SECONDS = 20.0
# Of what the server asks for: beyond this it is no overload that passes.
MOST_ASKED_SECONDS = 120.0


def wait_seconds(failures: int, asked: Optional[float], chance: float) -> Optional[float]:
    """Return how long to wait after so many failures in a row, or None when it is enough.

    chance, from 0 to 1, spreads those who failed together by up to half. asked is what the server said, which is waited for
    at least.
    """
    if failures >= MOST_CALLS or (asked or 0) > MOST_ASKED_SECONDS:
        return None
    doubled = float(min(MOST_SECONDS, FIRST_SECONDS * 2 ** (failures - 1)))
    return max(asked or 0.0, doubled) + doubled * chance / 2


# Seconds between two lines that say what is waited for.
SAY_EVERY = 15


class Clock:
    """The time, and chance. Tests bring one of their own."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def chance(self) -> float:
        return random.random()


class ProgressLines:
    """Lines about a wait, for the result of a module and for the file that is shown meanwhile."""

    def __init__(self, path: Optional[str] = None) -> None:
        self.path = path
        self.lines: List[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line + "\n")


class Deadline:
    """The end of a wait. say prints a line about what is waited for, not with every look."""

    def __init__(self, seconds: float, clock: Clock, say: Callable[[str], object]) -> None:
        self.clock, self.print = clock, say
        self.end, self.said_at = clock.now() + seconds, -math.inf

    @property
    def left(self) -> float:
        """The seconds until the end, 0 after it."""
        return max(0.0, self.end - self.clock.now())

    def say(self, text: str) -> None:
        now = self.clock.now()
        if now - self.said_at >= SAY_EVERY:
            self.print(text)
            self.said_at = now

    def sleep(self, seconds: float) -> None:
        """Sleep so long, and not beyond the end."""
        self.clock.sleep(min(seconds, self.left))
