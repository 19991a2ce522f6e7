# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long runs may take in total. A budget knows times and no values, so that it can't favour an outcome."""

from typing import NamedTuple, Optional


class Time(NamedTuple):
    """The seconds of all runs up to now, and those of one; None while there was no run."""

    spent: float = 0.0
    of_a_run: Optional[float] = None

    def after(self, runs: int) -> float:
        """The seconds after so many further runs, one after the other."""
        return self.spent + runs * (self.of_a_run or 0)


NO_TIME = Time()


class Budget(NamedTuple):
    """The limits of a search or of a comparison; None is no limit."""

    minutes: Optional[float] = None
    rounds: Optional[int] = None

    def allows(self, time: Time, runs: int = 1, rounds: int = 0) -> bool:
        """Whether so many further runs are within the minutes, and a round is, after so many rounds."""
        if self.rounds is not None and rounds >= self.rounds:
            return False
        return self.minutes is None or time.after(runs) <= 60 * self.minutes

    def reason(self, time: Time, rounds: int) -> str:
        """Which of the limits is reached, in words."""
        if self.rounds is not None and rounds >= self.rounds:
            return f"{self.rounds} rounds are the most"
        return f"one more round would exceed the budget of {self.minutes or 0:g} minutes, of which {time.spent / 60:.1f} are used"
