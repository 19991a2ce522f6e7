# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell whether roles would leave a host as it is, in one task for all of them."""

from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.convergence.converged import (
    ROLES,
    from_first_changed,
    is_converged,
)
from ansible_collections.taco.train.plugins.plugin_utils.convergence.peers import agreed_peers

ARGUMENT_SPEC = {"roles": {"type": "list", "elements": "str", "choices": sorted(ROLES), "required": True}}
TRUST = "ssh_trust"


class ActionModule(ActionBase):
    """Compute what the roles desire; the rest is decided in plugin_utils. Nothing runs on the host."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        variables = task_vars or {}
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        node = variables.get("taco_node") or {}
        desired = {role: self._desired(role, variables) for role in options["roles"]}
        roles = {role: is_converged(role, values, node) for role, values in desired.items()}
        peers = None
        trust = desired.get(TRUST)
        if trust is not None:
            peers = self._peers(trust, node, variables) if roles[TRUST] else None
            roles[TRUST] = peers is not None
        result.update(changed=False, roles=roles, converged=all(roles.values()), peers_sha256=peers)
        result["remaining"] = from_first_changed(roles)
        return result

    def _desired(self, role: str, task_vars: dict[str, Any]) -> dict[str, Any] | None:
        """What a role desires of the host, None where only the role can report what is wrong with its variables."""
        try:
            desired = self._templar.template(task_vars[f"{role}_desired"])
        except (KeyError, AnsibleError):
            return None
        # Until 2.18 ansible-core leaves the mark of what is omitted where it was. Later versions have none; None is a value.
        omitted = [task_vars["omit"]] if "omit" in task_vars else []
        return {name: value for name, value in desired.items() if value not in omitted}

    def _peers(self, desired: dict[str, Any], node: dict[str, Any], task_vars: dict[str, Any]) -> str | None:
        hosts = len(task_vars["ansible_play_hosts"])
        limited = "ansible_limit" in task_vars
        return agreed_peers(desired, node.get(TRUST), task_vars["inventory_hostname"], hosts, limited)
