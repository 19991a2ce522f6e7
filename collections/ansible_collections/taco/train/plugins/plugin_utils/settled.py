# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Tell by what was observed of a host whether a role would leave it as it is. The role's own task says what is asked for."""

from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, NamedTuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.yaml import yaml_load

from ansible_collections.taco.train.plugins.module_utils import _enis, _harp_options, _hugepages_options
from ansible_collections.taco.train.plugins.plugin_utils import judged_enis, known_harp, known_hugepages

ROLES = Path(__file__).parents[2] / "roles"
Options = Mapping[str, Any]


class SettledError(Exception):
    """Of a role it can't be told."""


class Asked(NamedTuple):
    """A task of a role whose result may be known. All of it is as written, so the variables are still in it."""

    module: str
    options: dict[str, Any]
    variables: dict[str, Any]
    conditions: list[str]


# Of each module: what it accepts, and whether its result, without a change, is known from what it is given.
KNOWN: dict[str, tuple[Options, Callable[[Options], bool]]] = {
    "taco.train.eni_check": (
        _enis.OPTIONS,
        lambda options: options["nics"] is not None and not judged_enis.judged(options)[1],
    ),
    "taco.train.harp_config": (
        _harp_options.OPTIONS,
        lambda options: known_harp.known_answer(options, options["node"]) is not None,
    ),
    "taco.train.hugepages": (
        _hugepages_options.OPTIONS,
        lambda options: known_hugepages.known_answer(options, options["node"]) is not None,
    ),
}


def asked(role: str) -> Iterator[Asked]:
    """Yield the tasks of a role whose results may be known, or raise SettledError when it has none."""
    path = ROLES / role / "tasks/main.yml"
    tasks = yaml_load(path.read_text(encoding="utf-8")) if path.is_file() else []
    found = False
    for task in tasks:
        for module in sorted(KNOWN.keys() & task.keys()):
            found = True
            conditions = task.get("when", [])
            listed = conditions if isinstance(conditions, list) else [conditions]
            yield Asked(module, task[module], task.get("vars", {}), [str(one) for one in listed])
    if not found:
        raise SettledError(
            f"of the role {role} nothing is known from an observation of the host: leave it out of roles"
        )


def is_known(module: str, options: Options) -> bool:
    """Say whether a module with these options, the variables filled in, is known to change nothing and to fail at nothing."""
    spec, known = KNOWN[module]
    checked = ArgumentSpecValidator(**spec).validate(dict(options))
    return not checked.error_messages and known(checked.validated_parameters)
