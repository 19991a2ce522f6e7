# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answer in the place of a module on a host that was observed to be as desired."""

from typing import Any, Callable, Mapping, NamedTuple, Sequence

from ansible.errors import AnsibleActionFail
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

Options = Mapping[str, Any]
Answer = dict[str, Any]
DESIRED = "desired"


class Known(NamedTuple):
    """What the controller can decide in the place of a module."""

    spec: Mapping[str, Any]
    """The arguments of AnsibleModule: argument_spec and its like."""
    options: frozenset[str]
    """The options that the decision takes into account. With any other option the host is asked."""
    decide: Callable[[Options, Options], Answer | None]
    """The result of the module by its options and the observation, None when the host has to be asked."""

    def answer(self, options: Options, node: Options | None) -> Answer | None:
        """The result of the module, None when the host has to be asked, also when the options are wrong."""
        if not node or node.get("observed_at") is None or not options.keys() <= self.options:
            return None
        checked = ArgumentSpecValidator(**self.spec).validate(dict(options))
        return None if checked.error_messages else self.decide({**checked.validated_parameters, "node": node}, node)


def take_desired(action: Any) -> None:
    """Put the options in the option desired in its place. They have precedence over other options and defaults of the task."""
    arguments = dict(action._task.args)
    desired = arguments.pop(DESIRED, None) or {}
    if not isinstance(desired, Mapping):
        raise AnsibleActionFail(
            f"{DESIRED} is a {type(desired).__name__}; expected a dictionary with options of the module {action._task.action}"
        )
    action._task.args = {**arguments, **desired}


def run_unless_known(
    action: Any, known: Known, task_vars: dict[str, Any] | None, only_here: Sequence[str] = ()
) -> Answer:
    """The answer that is known from the option node, else that of the module, which reports wrong options, too.

    The module has no use for the options in only_here.
    """
    arguments = dict(action._task.args)
    options = {name: value for name, value in arguments.items() if name != "node"}
    # Ansible asks the host after every asynchronous task, and needs to be told of a job there.
    if not action._task.async_val:
        answer = known.answer(options, arguments.get("node"))
        if answer is not None:
            return answer
    sent = {name: value for name, value in arguments.items() if name not in only_here}
    wrap_async = bool(action._task.async_val) and not action._connection.has_native_async
    result: Answer = action._execute_module(module_args=sent, task_vars=task_vars, wrap_async=wrap_async)
    return result
