# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Add the witnesses of runs to their records. Values in, values out."""

from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.text import number
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.difference import differences, same_network
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.hosts import host_named
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.outliers import outliers, too_few
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.path import (
    CONTRADICTED,
    Path,
    path,
    path_json,
    problem,
)

Record = Mapping[str, Any]


def at_the_same_time(records: Sequence[Record]) -> List[List[Record]]:
    """The records by the runs that had hosts in common: what the others of a round did is no part of their witnesses."""
    groups: List[Tuple[Set[str], List[Record]]] = []
    for record in records:
        hosts = {host["name"] for host in record["hosts"]}
        same = [group for group in groups if group[0] & hosts]
        members = [one for group in same for one in group[1]]
        groups = [group for group in groups if group not in same]
        groups.append((hosts.union(*(group[0] for group in same)), [*members, record]))
    return [members for _hosts, members in groups]


def with_witnesses(records: Sequence[Record], counters: Mapping[str, Any]) -> Tuple[List[Dict[str, Any]], Path]:
    """The records of runs of the same arm with their witnesses, and the path that they took.

    counters are those before the first of the runs and after the last one. A good run that took another path than its arm promises
    becomes a failed one.
    """
    members = sorted({host["name"] for record in records for host in record["hosts"]})
    counters = {name: counters[host] for name in members for host in [host_named(name, counters)] if host in counters}
    deltas = differences(counters)
    taken = path(records, deltas, same_network(counters))
    witnesses = {
        "runs": len(records),
        "hosts": deltas,
        "path": path_json(taken),
        "outliers": [one._asdict() for one in outliers(deltas)],
        "too_few": too_few(deltas),
    }
    return [_changed(dict(record, witnesses=witnesses), taken) for record in records], taken


def _changed(record: Dict[str, Any], taken: Path) -> Dict[str, Any]:
    if taken.verdict != CONTRADICTED or record["outcome"] != "ok":
        return record
    measured = f"{number(record['result']['value'])} {record['result']['unit']}"
    text = f"{problem(taken, record['arm'])} The measured {measured} are not a number of this arm."
    return dict(record, outcome="failed", result=None, problems=[*record["problems"], text])
