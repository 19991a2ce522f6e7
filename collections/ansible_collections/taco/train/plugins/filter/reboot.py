# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of the rolling reboot."""

from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.plugin_utils.boot_proof import boot_problems
from ansible_collections.taco.train.plugins.plugin_utils.rolling import Rebooted, RollingError, plan, progress


def reboot_plan(hosts, batch=1, may_fail=0, boot_seconds=300):
    """Return batches, budget and forecast of a rolling reboot."""
    try:
        return plan(list(hosts), batch, may_fail, int(boot_seconds))._asdict()
    except RollingError as error:
        raise AnsibleFilterError(str(error)) from error


def reboot_progress(names, hostvars, index, batches, took):
    """Return what became of one batch."""
    hosts = []
    for name in names:
        known = hostvars[name]
        hosts.append(Rebooted(name, known.get("__reboot_problems"), (known.get("__reboot_done") or {}).get("elapsed")))
    return progress(hosts, int(index), int(batches), float(took))


class FilterModule:
    """Offer the filters to Ansible."""

    def filters(self):
        return {"reboot_plan": reboot_plan, "reboot_progress": reboot_progress, "boot_problems": boot_problems}
