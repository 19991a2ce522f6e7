# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell by what was observed of a host whether a role would leave it as it is. The role's own tasks say what is asked for."""

from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, NamedTuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.yaml import yaml_load

from ansible_collections.taco.train.plugins.module_utils._node import enis as _enis
from ansible_collections.taco.train.plugins.plugin_utils.container import convergence
from ansible_collections.taco.train.plugins.plugin_utils.container import options as container_options
from ansible_collections.taco.train.plugins.plugin_utils.convergence import enis, harp, hugepages
from ansible_collections.taco.train.plugins.plugin_utils.convergence.answer import Known

ROLES = Path(__file__).parents[3] / "roles"
TOLD_OF = ("container_engine", "eni", "harp", "hugepages", "ssh_trust", "training_container")
Options = Mapping[str, Any]
# Tasks with their variables filled in, each as the module and its options.
Given = list[tuple[str, dict[str, Any]]]


class Asked(NamedTuple):
    """A task of a role. All of it is as written, so the variables are still in it."""

    module: str
    options: dict[str, Any]
    variables: dict[str, Any]
    conditions: list[str]
    register: str | None


# Of each module: what it accepts, and whether its result, without a change, is known from that. The node is what was observed.
KNOWN: dict[str, tuple[Options, Callable[[Options], bool]]] = {
    "taco.train.eni_check": (
        _enis.OPTIONS,
        lambda options: options["nics"] is not None and not enis.judged(options)[1],
    ),
    "taco.train.harp_config": (
        harp.KNOWN.spec,
        lambda options: harp.decide(options, options["node"]) is not None,
    ),
    "taco.train.training_container": (
        container_options.OPTIONS,
        lambda options: convergence.is_known(options, options["node"]),
    ),
    # Roles include tasks where there is something to do.
    "ansible.builtin.include_tasks": ({"argument_spec": {}}, lambda options: False),
}
# Of each role whose variable ROLE_desired has the options of its module, what is known on the controller.
BY_ROLE: dict[str, Known] = {"hugepages": hugepages.KNOWN}
# These are asked in check mode, and without what other hosts are needed for: of that known_peers tells.
ON_HOST: dict[str, dict[str, Any]] = {"taco.train.ssh_trust": {"peers": [], "purge": False}}
# These change nothing on the host: they keep what another task has found, and check the variables.
ONLY_HERE = {"ansible.builtin.set_fact", "taco.train.role_variables"}
KEYWORDS = {"name", "when", "vars", "register", "run_once"}
# What was observed is given to all alike, and not as the tasks have it.
OBSERVED = "node"


def asked(role: str) -> Iterator[Asked]:
    """Yield the tasks of a role that could change something, or raise TypeError at one of which nothing can be told."""
    tasks = yaml_load((ROLES / role / "tasks/main.yml").read_text(encoding="utf-8"))
    for task in tasks:
        modules = task.keys() - KEYWORDS
        if len(modules) == 1 and modules <= ONLY_HERE:
            continue
        if len(modules) != 1 or not modules <= KNOWN.keys() | ON_HOST.keys():
            raise TypeError(
                f"of the task {task['name']!r} of the role {role} nothing can be told: it has {sorted(modules)}"
            )
        (module,) = modules
        options = task[module] if isinstance(task[module], dict) else {}
        conditions = task.get("when", [])
        yield Asked(
            module,
            {name: value for name, value in options.items() if name not in {OBSERVED, *ON_HOST.get(module, {})}},
            task.get("vars", {}),
            [str(one) for one in (conditions if isinstance(conditions, list) else [conditions])],
            task.get("register"),
        )


def all_known(tasks: Given, node: Options) -> bool:
    """Say whether all tasks, but for those to ask the host about, are known to change nothing and to fail at nothing."""
    return all(_is_known(module, options, node) for module, options in tasks if module in KNOWN)


def _is_known(module: str, options: Options, node: Options) -> bool:
    spec, known = KNOWN[module]
    checked = ArgumentSpecValidator(**spec).validate(dict(options))
    return not checked.error_messages and known({**checked.validated_parameters, OBSERVED: node})


def for_the_host(tasks: Given) -> Given:
    """Return the tasks to ask the host about, with the options to ask it with."""
    return [(module, dict(options, **ON_HOST[module])) for module, options in tasks if module in ON_HOST]
