# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hold the options of a run to their rules, whoever gives them."""

from typing import Any, Dict, List, Sequence

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import arm_of
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OF_EACH_RUN, OPTIONS, PLACES
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS, completed, require_options

ABSENT = (None, "")


def checked(given: Dict[str, Any], spec: Dict[str, Any]) -> Dict[str, Any]:
    """Return the options with their types and defaults. A null in a template may arrive as an empty text."""
    found = ArgumentSpecValidator(spec).validate({key: value for key, value in given.items() if value not in ABSENT})
    if found.error_messages:
        raise InvalidValueError("; ".join(found.error_messages))
    return dict(found.validated_parameters)


def _chosen(overrides: Dict[str, Any]) -> Dict[str, Any]:
    strange = sorted(set(overrides) - set(OPTIONS))
    if strange:
        raise InvalidValueError(f"A run has no option {strange[0]}; it has {', '.join(sorted(OPTIONS))}.")
    return {key: value for key, value in overrides.items() if value not in ABSENT}


def _overridden(options: Dict[str, Any], overrides: Dict[str, Any]) -> Dict[str, Any]:
    return checked(dict(options, **_chosen(overrides)), dict(OPTIONS, **PLACES))


def effective(options: Dict[str, Any]) -> Dict[str, Any]:
    """The options of a run with its arm as an Arm, those that the arm sets, and the batch size of its workload where none is set."""
    arm = arm_of(options["arm"])
    set_by_arm = arm.options or {}
    unread = [name for name in set_by_arm if name not in WORKLOADS[options["workload"]].options]
    if unread:
        raise InvalidValueError(
            f"arm {arm.name} sets the option {unread[0]}, which workload {options['workload']} doesn't read: leave it out of "
            "the arm, or set another workload."
        )
    return completed(dict(options, **set_by_arm, arm=arm))


def with_overrides(options: Dict[str, Any], overrides: Dict[str, Any]) -> Dict[str, Any]:
    """Return the options of a run with those of its arm in their place. overrides are those of its workload."""
    run = _overridden(options, overrides)
    require_options(run["workload"], _chosen(overrides), "options")
    return effective(run)


def of_each(options: Dict[str, Any], overrides: Dict[str, Any], runs: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """The options of each run of a list, from those that all have in common. What is known of all hosts is checked once, not here."""
    shared = _overridden(options, overrides)
    spec = dict(OPTIONS, **OF_EACH_RUN)
    common = {name: shared[name] for name in OPTIONS}
    found = []
    for run in runs:
        told = {name: value for name, value in run.items() if name != "overrides"}
        strange = sorted(set(told) - set(OF_EACH_RUN))
        if strange:
            raise InvalidValueError(
                f"Each of 'runs' has no {strange[0]}; it has {', '.join(sorted(OF_EACH_RUN))}, overrides."
            )
        chosen = _chosen(run.get("overrides") or {})
        found.append(effective(dict(shared, **checked(dict(common, **chosen, **told), spec))))
    return found
