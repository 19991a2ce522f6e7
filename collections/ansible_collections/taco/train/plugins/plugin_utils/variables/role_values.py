# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the variables of one role where it begins, as preflight does for all roles, and refuse them by their names."""

from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

from ansible.errors import AnsibleActionFail

from ansible_collections.taco.train.plugins.plugin_utils.check import Check
from ansible_collections.taco.train.plugins.plugin_utils.text import cut, some
from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import declared, harp_checksum
from ansible_collections.taco.train.plugins.plugin_utils.variables.combinations import Fleet, Group
from ansible_collections.taco.train.plugins.plugin_utils.variables.play import (
    require_all_hosts,
    require_linear,
    variables_of,
)
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import (
    PREFIXES,
    Spec,
    all_options,
    plain,
    role_options,
    shared_variables,
)
from ansible_collections.taco.train.plugins.plugin_utils.variables.run_combinations import GROUPS
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import Validator

COLLECTION = "taco.train."
# The variable that replaces taco_gpus_per_node in a role that needs either.
COUNTS = {
    "benchmark": "benchmark_hosts",
    "compare": "benchmark_hosts",
    "eni": "eni_count",
    "hugepages": "hugepages_count",
    "locate": "benchmark_hosts",
    "mpijob": "mpijob_gpus_per_worker",
}
# The roles whose result is of all hosts of the play. To remove what they made, each host is enough.
OF_ALL_HOSTS = ("benchmark", "compare", "locate", "mpijob", "placement", "plan", "ssh_trust")
# A role that reverts needs few of the variables, and must not stop at another one.
LENIENT_STATES = ("absent", "restored", "uncordoned")
Values = Mapping[str, Any]
# The lines of a refusal about the values, and hosts with different wrong values.
MOST_CHARACTERS = 1600
MOST_MESSAGES = 2


def groups_of(role: str) -> List[Group]:
    """The groups of variables that a role reads."""
    return [group for group in GROUPS if group.prefixes[0] == role + "_"]


def specs_of(role: str) -> Dict[str, Spec]:
    """The variables of a role, those that it reads together with its own, and the shared ones that one of these roles reads."""
    prefixes = {prefix for group in groups_of(role) for prefix in group.prefixes} - {"taco_"}
    prefixes.add(PREFIXES.get(role, role + "_"))
    roles = [name for name in role_options() if name + "_" in prefixes]
    # The verdict of preflight lists what is wrong with the shared variables, and a plan reads those of all that it plans.
    if role == "plan":
        prefixes.add(PREFIXES["common"])
    read = set() if role == "preflight" else set().union(*map(shared_variables, [*roles, "common"]))
    read |= {"harp_source"} if role == "eni" else set()
    wanted = tuple(prefixes)
    return {name: spec for name, spec in all_options().items() if name.startswith(wanted) or name in read}


def missing(role: str, values: Values, unknown: Set[str]) -> List[Check]:
    """The checks of what a role needs although it has no default."""
    checks = []
    count = COUNTS.get(role)
    # Zero is a count as well, and an empty list names no hosts.
    if count and not {count, "taco_gpus_per_node"} & unknown and values.get(count) in (None, "", []):
        found = declared(dict(values))
        checks.append(found._replace(fix=f"{found.fix}, or set {count}"))
    if role == "harp" and values.get("harp_state") == "present" and not {"harp_source", "harp_script_sha256"} & unknown:
        checks.append(harp_checksum(dict(values)))
    return [check for check in checks if check.status == "fail"]


def validator_of(role: str, fleet: Fleet) -> Validator:
    """The validator that wrong_values uses. Equal values of several hosts are checked once."""
    return Validator(specs_of(role), fleet, groups_of(role))


def wrong_values(
    role: str, validator: Validator, values: Values, unknown: Sequence[str], skip: Sequence[str] = ()
) -> List[Check]:
    """All that is wrong with the variables of a role. unknown are those that can't be computed yet."""
    problems = validator.problems(values, unknown)
    found = [one.check._replace(expected="") if one.is_explained else one.check for one in problems]
    return [check for check in missing(role, values, set(unknown)) + found if check.id not in skip]


def message(hosts: Sequence[str], role: str, checks: Sequence[Check], most: int = MOST_CHARACTERS) -> str:
    """The refusal of hosts with the same wrong values, with a line for each value that fits."""
    lines = [f"{some(hosts)}: the role {COLLECTION}{role} can't run with these values of its variables."]
    for number, found in enumerate(checks):
        expected = f" expected {found.expected};" if found.expected else ""
        line = f"{cut(found.found, most // 4)};{expected} {cut(found.fix, most // 4)}"
        if number and sum(map(len, [*lines, line])) > most:
            return "\n".join(
                [*lines, f"and {len(checks) - number} more, which the playbook taco.train.preflight lists"]
            )
        lines.append(line)
    return "\n".join(lines)


def entered_roles(task: Any) -> List[str]:
    """The roles of this collection that begin with a task, by their short names. The role common begins for those that depend on it."""
    role = getattr(task, "_role", None)
    roles = [role] if role is not None else []
    if role is not None and role.get_name() == COLLECTION + "common" and role.get_parents():
        # Another entry point than main needs fewer variables, and checks them itself.
        roles = [parent for parent in role.get_parents() if not parent._from_files.get("tasks")]
    names = [str(entered.get_name()) for entered in roles]
    return [name[len(COLLECTION) :] for name in names if name.startswith(COLLECTION)]


def needs_none(role: str, values: Values) -> bool:
    """Whether what a role is asked for needs none of its variables."""
    without_harp = values.get("harp_source") == "none" and values.get("eni_count") in (None, "")
    return values.get(role + "_state") in LENIENT_STATES or role == "eni" and without_harp


def require_role_values(action: Any, task_vars: "Values | None", hosts: Sequence[str] = ()) -> None:
    """Fail in a role of this collection whose variables have wrong values, or in a play without the strategy linear.

    Nothing runs on the host. hosts are those that one task checks for all; without them, it is the host of the task.
    """
    if not task_vars or getattr(action._task, "_role", None) is None:
        return
    # The role common checks it before the first role alone, and this play may be a later one.
    require_linear(action._task, task_vars["inventory_hostname"])
    for role in entered_roles(action._task):
        _require(action, role, task_vars, hosts or [task_vars["inventory_hostname"]])


def _require(action: Any, role: str, task_vars: Values, hosts: Sequence[str]) -> None:
    specs = specs_of(role)
    read = {host: variables_of(action, host, specs) for host in hosts}
    read = {host: found for host, found in read.items() if not needs_none(role, found[0])}
    if not read:
        return
    if role in OF_ALL_HOSTS:
        require_all_hosts(action._task, role, task_vars)
    gpus = {name: values.get("taco_gpus_per_node") for name, (values, _errors) in read.items()}
    own = gpus.get(task_vars["inventory_hostname"])
    fleet = tuple((str(name), gpus.get(name, own)) for name in task_vars.get("ansible_play_hosts_all", ()))
    skip = plain(task_vars.get("preflight_skip")) or ()
    validator = validator_of(role, fleet)
    refused: Dict[Tuple[Check, ...], List[str]] = {}
    for name, (values, errors) in read.items():
        wrong = wrong_values(role, validator, values, list(errors), skip if isinstance(skip, list) else ())
        if wrong:
            refused.setdefault(tuple(wrong), []).append(name)
    if refused:
        most = MOST_CHARACTERS // min(len(refused), MOST_MESSAGES)
        texts = [message(names, role, checks, most) for checks, names in refused.items()]
        raise AnsibleActionFail(some(texts, MOST_MESSAGES, "\n"))
