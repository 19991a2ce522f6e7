# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan is applied as a whole: options of ansible-playbook that skip tasks are refused. Values in, text out."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.text import some

# Without these options they have this value.
ALL_TASKS: Mapping[str, Any] = {"start_at_task": None, "step": False, "tags": ["all"], "skip_tags": []}


def options_that_skip(arguments: Mapping[str, Any]) -> list[str]:
    """The options of a command line that let it skip tasks. Arguments are those of context.CLIARGS."""
    values = {name: arguments.get(name) or default for name, default in ALL_TASKS.items()}
    texts = {name: list(value) if isinstance(value, (list, tuple)) else value for name, value in values.items()}
    return ["--" + name.replace("_", "-") for name, value in texts.items() if value != ALL_TASKS[name]]


def not_whole(plan: Any, arguments: Mapping[str, Any]) -> str:
    """The error for a plan and a command line that skips tasks, empty where it skips none."""
    options = ", ".join(options_that_skip(arguments))
    if not options:
        return ""
    return (
        f"taco_plan is {plan}, and a plan is applied as a whole: {options} could skip a change of it, or its comparison with the hosts. "
        f"Run the playbook without {options}, or without taco_plan"
    )


def not_of_all_hosts(first: str, plans: Mapping[str, Any]) -> str:
    """The error where hosts of a play have different plans, empty where none has.

    plans are {host: taco_plan of the inventory and the extra variables}, None where it has none. A play that sets the variable sets it
    for all hosts.
    """
    plan = plans.get(first)
    others = [host for host, other in plans.items() if other != plan]
    if plan is None or not others:
        return ""
    same = [host for host in plans if host not in others]
    return (
        f"taco_plan is {plan} for {some(same)}, and has another value or none for {some(others)}. A plan is applied to all hosts of the "
        f"play together, and no host was changed. Set it for all hosts with -e taco_plan={plan}, or for none"
    )
