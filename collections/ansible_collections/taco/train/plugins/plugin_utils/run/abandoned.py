# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide which arms of a comparison are not tried again. Values in, values out."""

from typing import Any, Dict, List, Mapping, Sequence, Set

# An arm that failed so often in a row in a case would most likely fail again, each time at its time limit.
MOST_IN_A_ROW = 2


def refuted(records: Sequence[Mapping[str, Any]]) -> Set[str]:
    """The arms of which a run took another path than they promise: so would the others."""
    paths = {record["arm"]: record["witnesses"]["path"]["verdict"] for record in records if record.get("witnesses")}
    return {arm for arm, verdict in paths.items() if verdict == "contradicted"}


def setting(case: str, arm: str) -> str:
    """The name of an arm in a case."""
    return f"{case} {arm}"


def given_up(records: Sequence[Mapping[str, Any]]) -> List[str]:
    """The arms that failed too often in a row, each with its case. records are those since the comparison was planned."""
    in_a_row: Dict[str, int] = {}
    for record in records:
        if record.get("case"):
            name = setting(record["case"]["id"], record["arm"])
            in_a_row[name] = 0 if record["outcome"] == "ok" else in_a_row.get(name, 0) + 1
    return [name for name, failures in in_a_row.items() if failures >= MOST_IN_A_ROW]
