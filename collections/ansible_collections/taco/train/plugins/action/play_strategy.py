# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check that the play runs each task on all hosts before the next one, as the roles of the collection require."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.playbook.block import Block
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import strategy_loader


def is_linear(name: str) -> bool:
    """Tell whether a strategy is linear or derives from it, as debug does."""
    found = strategy_loader.get(name, class_only=True)
    return found is not None and issubclass(found, strategy_loader.get("ansible.builtin.linear", class_only=True))


class ActionModule(ActionBase):
    """Read the strategy of the play that the task belongs to. Nothing runs on the host."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        self.validate_argument_spec(argument_spec={})
        parent = self._task
        while not isinstance(parent, Block):
            parent = parent._parent
        play = parent._play
        if not is_linear(play.strategy):
            host = (task_vars or {}).get("inventory_hostname", "localhost")
            raise AnsibleActionFail(
                f"{host}: the play {play.get_name()!r} has the strategy {play.strategy}. The roles of taco.train reboot hosts in "
                "batches and run some tasks once for all hosts, which needs the strategy linear. Set `strategy: "
                "ansible.builtin.linear` in the play; it takes precedence over ansible.cfg and ANSIBLE_STRATEGY"
            )
        result.update(changed=False, strategy=play.strategy)
        return result
