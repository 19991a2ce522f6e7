# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell whether roles would leave a host as it is, on the controller and in one task for all of them."""

from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.settled import Asked, SettledError, asked, is_known

try:
    # Since 2.19 ansible-core fills in variables only where it was told that the text is no stranger's.
    from ansible.template import trust_as_template
except ImportError:

    def trust_as_template(text: str) -> str:
        """Return the text; older versions of ansible-core take it as it is."""
        return text


ARGUMENT_SPEC = {"roles": {"type": "list", "elements": "str", "required": True}}


def trusted(value: Any) -> Any:
    """Return what a task of this collection has, as Ansible takes it from a role."""
    if isinstance(value, dict):
        return {key: trusted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [trusted(one) for one in value]
    return trust_as_template(value) if isinstance(value, str) else value


class ActionModule(ActionBase):
    """Fill in the variables of the roles' tasks; what is known is decided in plugin_utils."""

    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        try:
            roles = {role: self._is_settled(role, task_vars or {}) for role in options["roles"]}
        except SettledError as error:
            raise AnsibleActionFail(str(error)) from None
        result.update(changed=False, roles=roles, settled=all(roles.values()))
        return result

    def _is_settled(self, role: str, task_vars: dict[str, Any]) -> bool:
        for task in asked(role):
            try:
                given = self._filled_in(task, task_vars)
            except AnsibleError:
                # The role itself says what is wrong with its variables.
                return False
            if given is not None and not is_known(task.module, given):
                return False
        return True

    def _filled_in(self, task: Asked, task_vars: dict[str, Any]) -> dict[str, Any] | None:
        """Return the options of a task, None when its conditions don't hold."""
        variables = dict(task_vars, **trusted(task.variables))
        template = self._templar.copy_with_new_env(available_variables=variables).template
        for condition in task.conditions:
            if not boolean(template(trusted(f"{{{{ {condition} }}}}"))):
                return None
        options = template(trusted(task.options))
        # Until 2.18 ansible-core leaves the mark of what is omitted where it was. Later versions have none; None is a value.
        omitted = [task_vars["omit"]] if "omit" in task_vars else []
        return {name: value for name, value in options.items() if value not in omitted}
