# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Refuse a comparison that could not be run to its end, before its first run."""

from typing import Any, Dict, Mapping, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Comparison, ComparisonError, read
from ansible_collections.taco.train.plugins.plugin_utils.run import plan
from ansible_collections.taco.train.plugins.plugin_utils.run.options import checked, effective
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OPTIONS, PLACES
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import require_options


def check_limits(options: Mapping[str, Any]) -> None:
    """Raise for what judging can't work with."""
    for name in ("min_effect", "confidence", "day_spread"):
        if name in options and not 0 < options[name] < 1:
            raise ComparisonError(f"compare_{name} is {options[name]}; it must be above 0 and below 1.")


def typed(options: Dict[str, Any], where: str) -> Dict[str, Any]:
    """Return the options of a run with their types: from the command line all of them arrive as text."""
    try:
        return checked(options, OPTIONS)
    except InvalidValueError as error:
        raise ComparisonError(f"{where}: {error}") from error


def typed_part(workload: Mapping[str, Any], default: str) -> Dict[str, Any]:
    """Return the options of one of compare_workloads with their types. default is the workload where it sets none."""
    known = {key: value for key, value in workload.items() if key in OPTIONS}
    try:
        require_options(workload.get("workload") or default, known, "compare_workloads")
    except InvalidValueError as error:
        raise ComparisonError(str(error)) from error
    return {key: value for key, value in typed(known, "compare_workloads").items() if key in known}


def check_places(comparison: Comparison, places: bool) -> None:
    """Raise for an arm whose workers nobody would place: its number would be another arm's."""
    placed = [arm for arm in comparison.arms if arm.place]
    if placed and not places:
        raise ComparisonError(
            f"Arm {placed[0].name} has its workers placed ({placed[0].place}), and compare_placement_role is not set: run "
            "playbooks/ack.yml, or leave the arm out of compare_arms."
        )
    if placed and len(placed) < len(comparison.arms):
        other = next(arm.name for arm in comparison.arms if not arm.place)
        raise ComparisonError(
            f"Arm {placed[0].name} of compare_arms says how its workers are placed (place: {placed[0].place}), and arm {other} "
            "doesn't: give every arm a place, or none."
        )


def check_runs(comparison: Comparison) -> None:
    """Raise for a run that could not be started, before hours are spent on the others."""
    for case in comparison.cases:
        hosts = [{"name": name, "slots": slots} for name, slots in case.hosts]
        for arm in comparison.arms:
            try:
                options = checked(dict(case.options, hosts=hosts, run_dir="."), dict(OPTIONS, **PLACES))
                plan.plan(effective(options | {"arm": arm}))
            except InvalidValueError as error:
                raise ComparisonError(f"{arm.name} on {case.id} can't be run: {error}") from error


def checked_comparison(
    spec: Dict[str, Any], hosts: Sequence[Dict[str, Any]], defaults: Dict[str, Any], places: bool
) -> Tuple[Comparison, Dict[str, Any]]:
    """The comparison, and the options that its runs have in common. spec gets its workloads with their types and its arms as documents."""
    common = typed(defaults, "benchmark_*")
    spec["workloads"] = [
        dict(workload, **typed_part(workload, common["workload"])) for workload in spec["workloads"] or []
    ]
    comparison = read(spec, hosts, common)
    check_places(comparison, places)
    check_runs(comparison)
    spec["arms"] = [arm.document() for arm in comparison.arms if arm != comparison.control]
    return comparison, common
