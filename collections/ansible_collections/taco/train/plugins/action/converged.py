# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell whether roles would leave a host as it is, in one task for all of them."""

from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.convergence.converged import (
    BY_ROLE,
    ON_HOST,
    TOLD_OF,
    Asked,
    Given,
    all_known,
    asked,
    for_the_host,
)
from ansible_collections.taco.train.plugins.plugin_utils.convergence.peers import agreed_peers

try:
    # Since 2.19 ansible-core fills in variables only where it was told that the text is no stranger's.
    from ansible.template import trust_as_template
except ImportError:

    def trust_as_template(text: str) -> str:
        """Return the text; older versions of ansible-core take it as it is."""
        return text


ARGUMENT_SPEC = {"roles": {"type": "list", "elements": "str", "choices": list(TOLD_OF), "required": True}}


def trusted(value: Any) -> Any:
    """Return what a task of this collection has, as Ansible takes it from a role."""
    if isinstance(value, dict):
        return {key: trusted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [trusted(one) for one in value]
    return trust_as_template(value) if isinstance(value, str) else value


class ActionModule(ActionBase):
    """Fill in the variables of the roles' tasks, and ask the host what only it can tell; the rest is decided in plugin_utils."""

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        variables = task_vars or {}
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        node = variables.get("taco_node") or {}
        given = {role: self._given(role, variables) for role in options["roles"] if role not in BY_ROLE}
        roles = {role: tasks is not None and all_known(tasks, node) for role, tasks in given.items()}
        for role in BY_ROLE.keys() & set(options["roles"]):
            desired = self._desired(role, variables)
            roles[role] = desired is not None and BY_ROLE[role].answer(desired, node) is not None
        # A host that has something to do anyway is asked by the roles.
        may_ask = all(roles.values())
        peers = None
        for role, tasks in given.items():
            for module, wanted in for_the_host(tasks or []):
                peers = self._peers(wanted, node, variables) if may_ask else None
                roles[role] = peers is not None and self._would_stay(module, wanted, variables)
        result.update(changed=False, roles=roles, converged=all(roles.values()), peers_sha256=peers)
        return result

    def _desired(self, role: str, task_vars: dict[str, Any]) -> dict[str, Any] | None:
        """What the role desires of the host, None when only the role can tell what is wrong with its variables."""
        try:
            desired = self._templar.template(task_vars[f"{role}_desired"])
        except (KeyError, AnsibleError):
            return None
        # Until 2.18 ansible-core leaves the mark of what is omitted where it was. Later versions have none; None is a value.
        omitted = [task_vars["omit"]] if "omit" in task_vars else []
        return {name: value for name, value in desired.items() if value not in omitted}

    def _given(self, role: str, task_vars: dict[str, Any]) -> Given | None:
        """Return the tasks of a role whose conditions hold, None when only the role can tell."""
        given = []
        for task in asked(role):
            # It has run in this run, and what was observed may be older.
            if task.register in task_vars:
                return None
            try:
                options = self._filled_in(task, task_vars)
            except AnsibleError:
                # The role itself says what is wrong with its variables.
                return None
            if options is not None:
                given.append((task.module, options))
            elif task.module in ON_HOST:
                # Another state is asked for, or one that there isn't.
                return None
        return given

    def _peers(self, wanted: dict[str, Any], node: dict[str, Any], task_vars: dict[str, Any]) -> str | None:
        hosts = len(task_vars["ansible_play_hosts"])
        limited = "ansible_limit" in task_vars
        return agreed_peers(wanted, node.get("ssh_trust"), task_vars["inventory_hostname"], hosts, limited)

    def _would_stay(self, module: str, wanted: dict[str, Any], task_vars: dict[str, Any]) -> bool:
        """Say whether a module changes nothing and fails at nothing, which it is asked in check mode."""
        check_mode, self._task.check_mode = self._task.check_mode, True
        try:
            answer = self._execute_module(module_name=module, module_args=wanted, task_vars=task_vars)
        finally:
            self._task.check_mode = check_mode
        return not answer.get("failed") and not answer.get("changed")

    def _filled_in(self, task: Asked, task_vars: dict[str, Any]) -> dict[str, Any] | None:
        """Return the options of a task, None when its conditions don't hold."""
        variables = dict(task_vars, **trusted(task.variables))
        template = self._templar.copy_with_new_env(available_variables=variables).template
        for condition in task.conditions:
            # Until 2.18 a null comes as an empty text.
            if not boolean(template(trusted(f"{{{{ {condition} }}}}")), strict=False):
                return None
        options = template(trusted(task.options))
        # Until 2.18 ansible-core leaves the mark of what is omitted where it was. Later versions have none; None is a value.
        omitted = [task_vars["omit"]] if "omit" in task_vars else []
        return {name: value for name, value in options.items() if value not in omitted}
