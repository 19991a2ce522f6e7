# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cut hosts into batches for a rolling reboot, forecast how long it takes by earlier ones and judge its results. Values in, values out."""

import json
import math
import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Union

from ansible_collections.taco.train.plugins.plugin_utils.text import counted
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError


class Plan(NamedTuple):
    """A rolling reboot before it starts."""

    batches: List[List[str]]
    may_fail: int
    forecast: str


class Rebooted(NamedTuple):
    """A host of a batch that has run. seconds is the time it took to boot, None where that is unknown."""

    name: str
    problems: List[str]
    seconds: Optional[float]


class Result(NamedTuple):
    """The result of the batches so far: the hosts that failed, whether the rolling reboot stops, and a line for each result."""

    failed: List[str]
    stop: bool
    lines: List[str]


def _share(value: Union[int, str], whole: int, name: str) -> int:
    """Return a number of hosts given as one, or as a percentage of all of them such as V(25%), rounded down."""
    text = str(value).strip()
    if re.match(r"^\d+$", text):
        return int(text)
    percent = re.match(r"^(\d+(?:\.\d+)?)\s*%$", text)
    if percent and float(percent.group(1)) <= 100:
        return math.floor(whole * float(percent.group(1)) / 100)
    raise InvalidValueError(f"{name} must be a number of hosts such as 2 or a percentage such as 25%, not {value!r}")


def _duration(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _verified(hosts: List[Rebooted]) -> List[str]:
    return [host.name for host in hosts if not host.problems]


def _failures(hosts: List[Rebooted]) -> List[str]:
    return [f"{host.name}: {'; '.join(host.problems)}" for host in hosts if host.problems]


def progress(hosts: List[Rebooted], index: int, batches: int, took: float) -> str:
    """Describe the result of batch number index, from 1, of so many batches, and how long the others will take.

    took is how long the batch took, in seconds; without what the hosts needed to boot it is the overhead.
    """
    verified = _verified(hosts)
    parts = [f"{', '.join(verified)} rebooted and verified"] if verified else []
    parts += _failures(hosts)
    boots = [host.seconds for host in hosts if host.seconds is not None]
    booting = f", {max(boots):.0f} s of them to boot" if boots else ""
    left = batches - index
    forecast = f"; {counted(left, 'batch', 'batches')} left, about {_duration(left * took)}" if left else ""
    return f"batch {index} of {batches}: {'. '.join(parts)}. It took {took:.0f} s{booting}{forecast}"


def result(hosts: List[Rebooted], waiting: List[str], may_fail: int) -> Result:
    """Judge the batches so far. hosts are those of the batches that have run, waiting those of the batches that have not."""
    verified, failed = _verified(hosts), [host.name for host in hosts if host.problems]
    lines = []
    if verified:
        lines.append(f"{counted(len(verified), 'host')} rebooted and verified: {', '.join(verified)}")
    if failed:
        lines.append(f"{counted(len(failed), 'host')} failed, reboot_may_fail allows {may_fail}")
    lines += _failures(hosts)
    if waiting:
        lines.append(f"{counted(len(waiting), 'host')} not rebooted: {', '.join(waiting)}")
    return Result(failed, len(failed) > may_fail, lines)


def stopped(found: Result, may_fail: int) -> str:
    """Say why no further batch is started, with the result of every host."""
    return (
        f"{len(found.failed)} failed and reboot_may_fail allows {may_fail}, so no further batch is started. {'. '.join(found.lines)}. "
        "Correct these hosts and run this again: it goes on with the hosts that still need a reboot"
    )


def messages(hosts: Sequence[Rebooted], active: Sequence[str], stop: Optional[str]) -> Dict[str, str]:
    """Say of hosts that are still in the play why they fail; stop is why no further batch is started, None while the play goes on.

    Where the rolling reboot stops and no host that failed is left in the play, the first one of the others says why.
    """
    failed = {host.name: "; ".join(host.problems) for host in hosts if host.problems and host.name in active}
    if stop is not None:
        return {name: f"{name}: {text}. {stop}" for name, text in failed.items()} or dict.fromkeys(active[:1], stop)
    fix = "Correct that and run this again, or restore the boot configuration with the playbook rollback"
    return {name: f"{name} after its reboot: {text}. {fix}" for name, text in failed.items()}


def plan(hosts: List[str], batch: Union[int, str], may_fail: Union[int, str], boot_seconds: int) -> Plan:
    """Plan the rolling reboot of hosts, in the order given.

    A percentage counts the hosts that need the reboot. A batch is at least one host, as with a play's C(serial).
    boot_seconds is what one reboot is expected to take, in seconds.
    """
    if len(set(hosts)) != len(hosts):
        twice = sorted({host for host in hosts if hosts.count(host) > 1})
        raise InvalidValueError(f"{', '.join(twice)} would be rebooted twice: name each host once")
    if str(batch).strip() in ("0", "0%"):
        raise InvalidValueError(
            "reboot_batch is 0: no host would ever be rebooted; set it to 1 or more, or to a percentage"
        )
    size = max(1, _share(batch, len(hosts), "reboot_batch"))
    budget = _share(may_fail, len(hosts), "reboot_may_fail")
    batches = [hosts[start : start + size] for start in range(0, len(hosts), size)]
    if not batches:
        return Plan([], budget, "no host needs a reboot")
    forecast = (
        f"{counted(len(hosts), 'host')} to reboot in {counted(len(batches), 'batch', 'batches')} "
        f"of up to {size}: about {_duration(len(batches) * boot_seconds)} "
        f"at {boot_seconds} s a reboot; stops when more than {budget} failed"
    )
    return Plan(batches, budget, forecast)


# Of each host as many reboots are kept: older ones say little of the next one.
MOST_REBOOTS = 5
History = Dict[str, List[float]]


def read_history(text: str) -> History:
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


def with_reboots(history: History, hosts: Sequence[Rebooted], took: Optional[float] = None) -> History:
    """The history with the hosts that rebooted without a problem, the last reboots of each host only.

    took are the seconds of the batch: what it took besides the slowest boot is part of the time of each host.
    """
    boots = [host.seconds for host in hosts if host.seconds]
    overhead = max(took - max(boots), 0.0) if took is not None and boots else 0.0
    news = {host.name: [host.seconds + overhead] for host in hosts if host.seconds and not host.problems}
    names = sorted({*history, *news})
    return {name: [*history.get(name, []), *news.get(name, [])][-MOST_REBOOTS:] for name in names}
