# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say how long to wait before a call of the API server is made again. Values in, values out."""

# Calls that are made in all. With the waits below they take about a minute at most, unless the server asks for more.
MOST_CALLS = 7
FIRST_SECONDS = 0.5
MOST_SECONDS = 20.0
# Of what the server asks for: beyond this it is no overload that passes.
MOST_ASKED_SECONDS = 120.0


def wait_seconds(failures: int, asked: float | None, chance: float) -> float | None:
    """Return how long to wait after so many failures in a row, or None when it is enough.

    chance, from 0 to 1, spreads those who failed together by up to half. asked is what the server said, which is waited for
    at least.
    """
    if failures >= MOST_CALLS or (asked or 0) > MOST_ASKED_SECONDS:
        return None
    doubled = float(min(MOST_SECONDS, FIRST_SECONDS * 2 ** (failures - 1)))
    return max(asked or 0.0, doubled) + doubled * chance / 2
