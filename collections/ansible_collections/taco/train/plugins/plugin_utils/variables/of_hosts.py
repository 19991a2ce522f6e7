# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the variables of roles for several hosts in one task, which runs on one of them."""

from typing import Any, Dict, Mapping, Set, Tuple

from ansible.errors import AnsibleError

from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import Spec
from ansible_collections.taco.train.plugins.plugin_utils.variables.strategy import play_of
from ansible_collections.taco.train.plugins.plugin_utils.variables.value import plain

Values = Dict[str, Any]
# A default that is another one on each host. The task would have it for the host that it runs on.
OWN_NAME = "{{ inventory_hostname }}"


def of_host(own: Mapping[str, Any], name: str, errors: Dict[str, str]) -> Any:
    """A variable of a host, computed for that host, or None with its error kept when it can't be."""
    try:
        return plain(own[name])
    except AnsibleError as error:
        errors[name] = str(error)
        return None


def _names_of_play(task: Any) -> Set[str]:
    """The variables that the play, the role and the task of a task set. They take precedence over the inventory."""
    role = task._role
    return {*play_of(task).get_vars(), *task.get_vars(), *(role.get_vars() if role is not None else ())}


class HostsVariables:
    """The declared variables of each host: those of the play and of the role, of the inventory, and the defaults."""

    def __init__(self, action: Any, task_vars: Mapping[str, Any], specs: Mapping[str, Spec]):
        self._templar = action._templar
        self._of_play = _names_of_play(action._task)
        self._task_vars = task_vars
        self._specs = specs
        self._first = task_vars["hostvars"].get(task_vars["inventory_hostname"], {})
        self._play: Values = {}
        self._play_errors: Dict[str, str] = {}
        self._defaults: Values = {}
        self._read_play()

    def _read_play(self) -> None:
        """Keep the variables that the play sets, also in files of its own, or that are set where the role is used, with errors.

        They hold for every host, whatever the inventory has for it.
        """
        errors: Dict[str, str] = {}
        for name, spec in self._specs.items():
            if name in self._task_vars and self._is_of_play(name, spec):
                self._play[name] = self._of_task(name, errors)
        self._play_errors = {name: error for name, error in errors.items() if name in self._play}

    def _is_of_play(self, name: str, spec: Spec) -> bool:
        """Whether the value of this task is neither that of the inventory for its host nor the default of the role."""
        if name in self._of_play:
            return True
        if name in self._first:
            return bool(self._of_task(name, {}) != of_host(self._first, name, {}))
        return bool(self._task_vars[name] != spec.get("default"))

    def _of_task(self, name: str, errors: Dict[str, str]) -> Any:
        """A variable of this task, or None with its error kept when it can't be computed."""
        try:
            return plain(self._templar.template(self._task_vars[name]))
        except AnsibleError as error:
            errors[name] = str(error)
            return None

    def of(self, host: str, own: Mapping[str, Any]) -> Tuple[Values, Dict[str, str]]:
        """All declared variables as a host has them, and why some can't be computed. own are its hostvars."""
        values: Values = {}
        errors: Dict[str, str] = {}
        for name, spec in self._specs.items():
            if name in self._play:
                values[name] = self._play[name]
                if name in self._play_errors:
                    errors[name] = self._play_errors[name]
            elif name in own:
                values[name] = of_host(own, name, errors)
            elif spec.get("default") == OWN_NAME:
                values[name] = host
            elif name in self._task_vars and name not in self._first:
                # The task knows the defaults of the roles in the play.
                values[name] = self._of_defaults(name)
            else:
                # What the task has is of the host that it runs on.
                values[name] = spec.get("default")
        return values, errors

    def _of_defaults(self, name: str) -> Any:
        """The value of a variable for every host that does not set it."""
        if name not in self._defaults:
            self._defaults[name] = self._of_task(name, {})
        return self._defaults[name]
