# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a comparison is evaluated, and which share of the error rate each evaluation has. Values in, values out."""

from typing import Optional

LEAST_REPEATS = 4
"""With fewer rounds Student's t needs an interval so wide that hardly anything can be decided."""
LOOKS = (LEAST_REPEATS, 6, 8, 12, 16, 24, 32)
"""The numbers of rounds at which the verdicts are evaluated."""
FIRST_SHARE = 0.8
"""The first evaluation spends this share of the error rate, each further one this share of the rest."""


def next_look(rounds: int) -> Optional[int]:
    """The number of rounds at the evaluation after one at so many, None after the last."""
    return next((look for look in LOOKS if look > rounds), None)


def share(look: int) -> float:
    """The share of the error rate that an evaluation has. The first has the number 1. All shares together are below 1."""
    return FIRST_SHARE * (1 - FIRST_SHARE) ** (look - 1)
