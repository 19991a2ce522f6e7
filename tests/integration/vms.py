# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests on the machines of the VM lab share."""

import json
import re

import faults

INVENTORY = "inventories/vm"
DROP_IN = "/etc/default/grub.d/zz-taco-hugepages.cfg"


class Machines:
    """The machines, as a person with a terminal has them."""

    def __init__(self, command):
        self.command = command

    def pages(self, *, limit="all", playbook="prepare.yml", **variables):
        """Reserve pages, reboot where that is needed, prove them; or put everything back."""
        extra = ("-e", json.dumps(dict({"reboot_timeout": 480}, **variables)), "--limit", limit, "--tags", "hugepages")
        return self.command("ansible-playbook", "playbooks/" + playbook, "-i", INVENTORY, *extra, timeout=900)

    def shell(self, node, script):
        """Return what a script prints on a node; its exit status doesn't matter."""
        done = self.command(*faults.command(node, "set +e\n" + script + "\ntrue"))
        assert done.returncode == 0, done.stdout
        return done.stdout

    def line(self, node):
        """Return the hugepage arguments of the running kernel."""
        return re.findall(r"\S*hugepage\S*", self.shell(node, "cat /proc/cmdline"))

    def boot_id(self, node):
        return self.shell(node, "cat /proc/sys/kernel/random/boot_id").strip()
