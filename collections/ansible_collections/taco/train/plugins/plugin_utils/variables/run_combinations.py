# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values of variables of which the roles benchmark, compare and locate make runs, checked where such a role begins."""

from typing import Any, Dict, List, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm, arm_of, arms_of
from ansible_collections.taco.train.plugins.plugin_utils.check import is_set, truth, whole
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import checked_comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import with_preset
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import KEYS as COMPARED
from ansible_collections.taco.train.plugins.plugin_utils.container import profile
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import DEFAULT_PROFILE, PROFILE
from ansible_collections.taco.train.plugins.plugin_utils.run import plan
from ansible_collections.taco.train.plugins.plugin_utils.run.options import checked, effective
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.variables import combinations
from ansible_collections.taco.train.plugins.plugin_utils.variables.combinations import Fleet, Group, Values
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import COMMON
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import on_cluster
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS, require_options


def require_harp(arms: Sequence[Arm], variable: str, values: Values) -> None:
    """Refuse an arm that turns HARP's plugin on in a container without HARP's configuration. The program would abort."""
    # Whoever enters a container of their own knows whether it has HARP.
    if is_set(values.get("benchmark_exec_prefix")) or not profile.without_harp(values):
        return
    for arm in arms:
        if arm.plugin == "on":
            raise InvalidValueError(
                f"{variable} has the arm {arm.name}, which uses HARP, but {profile.without_harp(values)}: leave {variable} out, give "
                f"one of {', '.join(profile.needs(values).arms)}, or set {PROFILE} to {DEFAULT_PROFILE}."
            )


def arm_of_run(values: Values, variable: str) -> Arm:
    """Return the arm of a run, which is that of the first variable that is set, or that of the profile."""
    if not is_set(values.get(variable)):
        variable = "benchmark_arm"
    arm = arm_of(values[variable] if is_set(values.get(variable)) else profile.needs(values).arm)
    require_harp([arm], variable, values)
    return arm


def _run_options(values: Values) -> Dict[str, Any]:
    """The options of a run as the role benchmark hands them on."""
    own = values.get("benchmark_options") or {}
    require_options(values.get("benchmark_workload"), own, "benchmark_options", ("workload", *COMMON))
    options = {name: values.get("benchmark_" + name) for name in ("workload", *COMMON)}
    return dict(
        {**own, **options}, interface=values.get("benchmark_interface") or values.get("taco_interface") or "eth0"
    )


def _ranks(values: Values, fleet: Fleet) -> List[Dict[str, Any]]:
    """The hosts of mpirun, as roles benchmark and mpijob make them. Empty while the number of GPUs isn't known."""
    if values.get("benchmark_hosts"):
        return list(values["benchmark_hosts"])
    if on_cluster(values):
        slots = whole(values.get("mpijob_gpus_per_worker")) or whole(values.get("taco_gpus_per_node"))
        count = whole(values.get("mpijob_workers")) or len(fleet)
        return [{"name": f"worker-{number}", "slots": slots} for number in range(count)] if slots else []
    if not all((whole(slots) or 0) > 0 for _name, slots in fleet):
        return []
    return [{"name": name, "slots": whole(slots)} for name, slots in fleet]


def _require_effect(values: Values) -> None:
    """Refuse a variable that makes no difference to the chosen workload."""
    workload = str(values.get("benchmark_workload"))
    unread = WORKLOADS[workload].unread if workload in WORKLOADS else ()
    useless = [name for name in unread if values.get("benchmark_" + name)]
    if useless:
        raise InvalidValueError(
            f"benchmark_{useless[0]} has no effect on workload {workload}: leave it out, or set another benchmark_workload."
        )


def _compared(values: Values) -> Dict[str, Any]:
    """What is compared, as the role compare hands it on."""
    given = {name: values.get("compare_" + name) for name in COMPARED}
    preset = values.get("compare_preset")
    if not given["arms"] and not preset:
        given["arms"] = list(profile.needs(values).arms)
    return with_preset(preset, given, (values.get("benchmark_options") or {}).get("batch_size"))


def benchmark(values: Values, fleet: Fleet) -> None:
    """Check the data set and the run of the role benchmark, unless a comparison has workloads of its own in its place."""
    unverified = truth(values.get("benchmark_dataset_allow_unverified"))
    if truth(values.get("benchmark_dataset")) and not is_set(values.get("benchmark_dataset_sha256")) and not unverified:
        raise InvalidValueError(
            "benchmark_dataset is true and benchmark_dataset_sha256 is not set: set it to the output of sha256sum for "
            "download_dataset.sh, or set benchmark_dataset_allow_unverified: true."
        )
    _require_run(values, fleet, "benchmark_arm")


def _require_run(values: Values, fleet: Fleet, variable: str) -> None:
    """Check the options of a run and its arm, which is the one of the first variable that is set."""
    try:
        checked(_run_options(values), plan.OPTIONS)
    except InvalidValueError as error:
        raise InvalidValueError(f"benchmark_options: {error}") from error
    arm = arm_of_run(values, variable)
    hosts = _ranks(values, fleet)
    if not hosts or _compared(values)["workloads"]:
        return
    _require_effect(values)
    spec = dict(plan.OPTIONS, **plan.PLACES)
    options = checked(dict(_run_options(values), hosts=hosts, run_dir="."), spec)
    plan.plan(effective(options | {"arm": arm}))
    plan.require_no_place(arm)


def compare(values: Values, fleet: Fleet) -> None:
    """Check the comparison, with every run of it."""
    options = _compared(values)
    require_harp(arms_of(options["arms"]), "compare_arms" if values.get("compare_arms") else "compare_preset", values)
    hosts = _ranks(values, fleet)
    if not hosts:
        return
    if not options["workloads"]:
        _require_effect(values)
    places = is_set(values.get("compare_placement_role")) or values.get("taco_platform") == "ack"
    checked_comparison(options, hosts, _run_options(values), places)


def locate(values: Values, fleet: Fleet) -> None:
    """Check the runs of the role locate: those of the role benchmark, with the arm of the search."""
    _require_run(values, fleet, "locate_arm")


RUN_GROUPS = (
    Group(("benchmark_", PROFILE, "taco_"), benchmark),
    Group(("compare_", "benchmark_", PROFILE, "taco_"), compare),
    Group(("locate_", "benchmark_", PROFILE, "taco_"), locate),
)
GROUPS = (*RUN_GROUPS, *combinations.GROUPS)
# The prefixes of the variables that these groups read. The number of ranks of a job comes from those of the job.
RUN_PREFIXES = (*dict.fromkeys(prefix for group in RUN_GROUPS for prefix in group.prefixes), "mpijob_")
