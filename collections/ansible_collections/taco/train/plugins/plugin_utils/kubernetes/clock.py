# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The time of waits for a cluster, and their limits."""

import math
import random
import time
from typing import Callable

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
