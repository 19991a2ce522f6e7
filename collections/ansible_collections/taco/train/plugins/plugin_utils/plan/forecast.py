# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Forecast the rolling reboot of a plan from earlier reboots of the same hosts. Values in, values out."""

from statistics import median
from typing import Mapping, NamedTuple, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.text import counted

MINUTE = 60


class Forecast(NamedTuple):
    """The batches of the reboots, the seconds that they take together, and where the number comes from."""

    batches: list[list[str]]
    seconds: int
    basis: str


def forecast(batches: Sequence[Sequence[str]], earlier: Mapping[str, Sequence[float]], default: int) -> Forecast:
    """The time of all batches, one after the other.

    earlier are the seconds of each host's earlier reboots, default those of a reboot of which nothing is known. A batch takes as
    long as its slowest host.
    """
    known = [seconds for times in earlier.values() for seconds in times]
    usual = median(known) if known else float(default)
    slowest = [
        max(median(earlier[host]) if earlier.get(host) else usual for host in batch) for batch in batches if batch
    ]
    basis = f"reboot_boot_seconds is {default}; no earlier reboot is recorded"
    if known:
        basis = f"{counted(len(known), 'earlier reboot')} of {counted(len(earlier), 'host')}"
    return Forecast([list(batch) for batch in batches], round(sum(slowest)), basis)


def duration(seconds: float) -> str:
    """A time in words, such as 40 s or 3 min."""
    return f"{seconds:.0f} s" if seconds < 2 * MINUTE else f"{seconds / MINUTE:.0f} min"
