# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Give what version 1.0.0 recorded the values that this version would have recorded. Values in, values out.

The value of an nccl_tests run was the average over all message sizes and is the bus bandwidth at the largest one. The two differ by a
factor of three on a good network, so a verdict must never mix them.
"""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.workloads import nccl_sizes

NCCL_TESTS = "nccl_tests"


def record(found: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the value that this version gives its run."""
    result = found.get("result") or {}
    details = result.get("details") or {}
    if found.get("workload") != NCCL_TESTS or not result or "average" in details:
        return found
    value = nccl_sizes.at_largest(details.get("rows") or [])
    if value is None:
        return found
    return dict(found, result=dict(result, value=value, details=dict(details, average=result.get("value"))))


def block(found: Mapping[str, Any], records: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a case of a comparison by version 1.0.0 with the values that this version gives its runs; records are by their ids.

    Without the records the values stay averages, which the key averages marks.
    """
    if found.get("workload") != NCCL_TESTS:
        return dict(found)
    arms = [dict(arm, runs=[_run(run, records) for run in arm["runs"]]) for arm in found["arms"]]
    lost = any(run.get("record") not in records for arm in arms for run in arm["runs"])
    return dict(found, arms=arms, averages=lost)


def _run(run: Mapping[str, Any], records: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
    known = records.get(run.get("record"))
    return dict(run, value=known["result"]["value"]) if known else dict(run)
