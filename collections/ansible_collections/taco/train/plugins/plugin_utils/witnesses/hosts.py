# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hosts of the inventory that records name, and those that the counters of a run named. Values in, values out."""

from typing import Any, Container, List, Mapping, Sequence

Record = Mapping[str, Any]


def host_named(name: str, hosts: Container[str]) -> str:
    """The host of the inventory that mpirun knows by a name: a pod's has the domain of its job in addition."""
    short = name.partition(".")[0]
    return short if name not in hosts and short in hosts else name


def over_all(record: Record, hosts: Sequence[str]) -> bool:
    """Whether a run was over all these hosts of the inventory, and no other."""
    return {host_named(host["name"], hosts) for host in record["hosts"]} == set(hosts)


def suspects(records: Sequence[Record], hosts: Sequence[str]) -> List[str]:
    """The hosts that stand out in the newest run over all these hosts, each once, the strongest evidence first."""
    counted = [one for one in records if one.get("witnesses") and over_all(one, hosts)]
    found = counted[-1]["witnesses"]["outliers"] if counted else []
    return list(dict.fromkeys(host_named(str(one["host"]), hosts) for one in found))
