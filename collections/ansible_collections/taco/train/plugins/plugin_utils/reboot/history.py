# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long the reboots of each host took, as a file on the controller has it. Values in, values out."""

import json
from typing import Dict, List, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.reboot.rolling import Rebooted

# Older reboots say little of the next one.
MOST = 5
History = Dict[str, List[float]]


def read(text: str) -> History:
    """{host: seconds of its reboots, the oldest first}. What is no such file has none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    hosts = found if isinstance(found, dict) else {}
    times = {
        host: [float(one) for one in values if _is_time(one)] for host, values in hosts.items() if _is_list(values)
    }
    return {host: seconds for host, seconds in times.items() if seconds}


def _is_list(values: object) -> bool:
    return isinstance(values, list)


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def added(history: History, hosts: Sequence[Rebooted], took: Optional[float] = None) -> History:
    """The history with the hosts that rebooted without a problem, the last reboots of each host only.

    took are the seconds of the batch: what it took besides the slowest boot is part of the time of each host.
    """
    boots = [host.seconds for host in hosts if host.seconds]
    overhead = max(took - max(boots), 0.0) if took is not None and boots else 0.0
    news = {host.name: [host.seconds + overhead] for host in hosts if host.seconds and not host.problems}
    names = sorted({*history, *news})
    return {name: [*history.get(name, []), *news.get(name, [])][-MOST:] for name in names}
