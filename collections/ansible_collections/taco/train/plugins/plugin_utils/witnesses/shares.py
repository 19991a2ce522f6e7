# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the counters of a host tell of a run: segments sent again, how busy connections were, sums over interfaces."""

from typing import Any, Mapping, Optional

Part = Mapping[str, Any]


def retransmits(delta: Part) -> Optional[float]:
    """The share of segments that were sent again."""
    segments, again = delta.get("segments"), delta.get("retransmits")
    return again / segments if segments and again is not None else None


def busy(delta: Part) -> Optional[float]:
    """The largest share of the time in which a connection had data to send: a slow link, or a slow peer, keeps it waiting."""
    shares = [peer["busiest"] for peer in delta.get("peers") or [] if peer.get("busiest") is not None]
    return max(shares) if shares else None


def nic_total(delta: Any, *names: str) -> Optional[int]:
    """Counters summed over all interfaces of a host; None unless every one of them was counted before and after."""
    nics = (delta or {}).get("nics") or {}
    values = [nic.get(name) for nic in nics.values() for name in names]
    return sum(values) if values and None not in values else None
