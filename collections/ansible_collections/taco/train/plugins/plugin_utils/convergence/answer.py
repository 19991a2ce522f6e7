# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Let an action answer in the place of its module on a host that was observed to be as it should be."""

from typing import Any, Callable, Mapping, Sequence

Options = Mapping[str, Any]
Answer = dict[str, Any]


def run_unless_known(
    action: Any,
    spec: Options,
    known_answer: Callable[[Options, Options | None], Answer | None],
    task_vars: dict[str, Any] | None,
    only_here: Sequence[str] = (),
) -> Answer:
    """Return the answer that is known from the option node, else that of the module, which also says what is wrong.

    spec is what AnsibleModule is given: argument_spec and its like. The module has no use for the options in only_here.
    """
    given = action._task.args
    # Ansible asks the host after every asynchronous task, and needs to be told of a job there.
    if given.get("node") and not action._task.async_val:
        _ignored, options = action.validate_argument_spec(**spec)
        known = known_answer(options, options["node"])
        if known is not None:
            return known
    arguments = {name: value for name, value in given.items() if name not in only_here}
    wrap_async = bool(action._task.async_val) and not action._connection.has_native_async
    answer: Answer = action._execute_module(module_args=arguments, task_vars=task_vars, wrap_async=wrap_async)
    return answer
