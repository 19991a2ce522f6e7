# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of a run that an arm can set, so that one comparison holds the option on and off. Values in, values out."""

from typing import Any, Callable, Dict, Mapping

from ansible.module_utils.common.validation import check_type_bool, check_type_int

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError


def _layers(value: Any) -> int:
    number = -1 if isinstance(value, bool) else check_type_int(value)
    if number < 1:
        raise ValueError(value)
    return int(number)


# By their names without benchmark_: the function that returns the value with its type, or raises, and what it must be.
OPTIONS: Mapping[str, "tuple[Callable[[Any], Any], str]"] = {
    "is_dynamic": (check_type_bool, "true or false"),
    "dnn_layer_num": (_layers, "a whole number, 1 or more"),
    "mixed_precision": (check_type_bool, "true or false"),
    "xla": (check_type_bool, "true or false"),
}


def options_of(value: Any) -> Dict[str, Any]:
    """Return an arm's options with their types."""
    if not isinstance(value, Mapping):
        raise InvalidValueError(f"options is no mapping: {value!r}")
    unknown = [str(name) for name in value if name not in OPTIONS]
    if unknown:
        raise InvalidValueError(f"options has {unknown[0]!r}; an arm can set {', '.join(OPTIONS)}")
    found = {}
    for name, given in value.items():
        typed, expected = OPTIONS[name]
        try:
            found[name] = typed(given)
        except (TypeError, ValueError) as error:
            raise InvalidValueError(f"options has {name} {given!r}; it must be {expected}") from error
    return found
