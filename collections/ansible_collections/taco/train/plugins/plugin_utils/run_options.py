# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Hold the options of a run to their rules, whoever gives them."""

from typing import Any, Dict

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.taco.train.plugins.plugin_utils.run_plan import OPTIONS, PLACES, effective
from ansible_collections.taco.train.plugins.plugin_utils.workload import WorkloadError

ABSENT = (None, "")


def checked(given: Dict[str, Any], spec: Dict[str, Any]) -> Dict[str, Any]:
    """Return the options with their types and defaults. A null in a template may arrive as an empty text."""
    found = ArgumentSpecValidator(spec).validate({key: value for key, value in given.items() if value not in ABSENT})
    if found.error_messages:
        raise WorkloadError("; ".join(found.error_messages))
    return dict(found.validated_parameters)


def with_overrides(options: Dict[str, Any], overrides: Dict[str, Any]) -> Dict[str, Any]:
    """Return the options with those of overrides in their place."""
    strange = sorted(set(overrides) - set(OPTIONS) - {"arm"})
    if strange:
        raise WorkloadError(f"A run has no option {strange[0]}; it has {', '.join(sorted(OPTIONS))}.")
    chosen = {key: value for key, value in overrides.items() if value not in ABSENT}
    return effective(checked(dict(options, **chosen), dict(OPTIONS, **PLACES)))
