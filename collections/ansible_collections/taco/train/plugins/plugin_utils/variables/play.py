# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The play of a task: its strategy, its hosts, and the variables that it has for each of them."""

from typing import Any, Dict, Mapping, Tuple

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.loader import strategy_loader

from ansible_collections.taco.train.plugins.plugin_utils.text import some
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import Spec, plain


def is_linear(name: str) -> bool:
    """Whether a strategy is linear or derives from it, as debug does."""
    found = strategy_loader.get(name, class_only=True)
    return found is not None and issubclass(found, strategy_loader.get("ansible.builtin.linear", class_only=True))


def require_linear(task: Any, host: str) -> None:
    """Refuse a play whose strategy is not linear."""
    play = task.get_play()
    strategy = str(play.strategy)
    if not is_linear(strategy):
        raise AnsibleActionFail(
            f"{host}: the play {play.get_name()!r} has the strategy {strategy}. The roles of taco.train reboot hosts in batches and run "
            "some tasks once for all hosts, which needs the strategy linear. Set `strategy: ansible.builtin.linear` in the play; it takes "
            "precedence over ansible.cfg and ANSIBLE_STRATEGY"
        )


def require_all_hosts(task: Any, role: str, task_vars: Mapping[str, Any]) -> None:
    """Refuse a role that runs over all hosts of a play in one that begins with some of them."""
    play, batch = task.get_play(), task_vars.get("ansible_play_batch", ())
    # A host for which the play has ended is in no batch any more, and waits for nothing.
    waiting = [other for other in task_vars.get("ansible_play_hosts", ()) if play.serial and other not in batch]
    if waiting:
        raise AnsibleActionFail(
            f"{task_vars['inventory_hostname']}: the play {play.get_name()!r} runs on {some(waiting)} at another time, and the role "
            f"taco.train.{role} needs all hosts of the play at once. Remove `serial` from the play"
        )


def variables_of(action: Any, host: str, specs: Mapping[str, Spec]) -> Tuple[Dict[str, Any], Dict[str, str]]:
    """The declared variables as the task of an action would have them on a host, and why some can't be computed."""
    manager = action._task.get_variable_manager()
    given = manager.get_vars(action._task.get_play(), manager._inventory.get_host(host), action._task)
    templar = action._templar.copy_with_new_env(available_variables=given)
    values, errors = {}, {}
    for name, spec in specs.items():
        # The defaults of a role that comes later aren't loaded yet.
        raw = given.get(name, spec.get("default"))
        try:
            values[name] = plain(raw if isinstance(raw, str) and "{" not in raw else templar.template(raw))
        except AnsibleError as error:
            # Such a default is computed where its role begins.
            values[name] = None if name in given else raw
            errors.update({name: str(error)} if name in given else {})
    return values, errors
