# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One machine that really reboots: a trial boot that passes and stays, a second run with nothing to do, and the way back."""

import pytest
from integration.vms import BOOT_FILES, DROP_IN, Machines

NODE = "taco-vm-node-0"
ARGUMENTS = ["default_hugepagesz=1G", "hugepagesz=1G", "hugepages=2"]


@pytest.fixture(scope="module")
def machines(command):
    return Machines(command)


def test_pages_are_tried_proved_made_permanent_and_taken_back_byte_for_byte(machines):
    before, boot = machines.shell(NODE, BOOT_FILES), machines.boot_id(NODE)
    assert machines.line(NODE) == []

    done = machines.pages(limit=NODE, hugepages_trial=True)
    assert done.returncode == 0, done.stdout
    assert "1 host to reboot in 1 batch" in done.stdout and "batch 1 of 1: rebooting " + NODE in done.stdout
    assert machines.line(NODE) == ARGUMENTS and machines.boot_id(NODE) != boot
    assert machines.shell(NODE, "cat /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").strip() == "2"
    assert "pagesize=1024M" in machines.shell(NODE, "findmnt --noheadings --output OPTIONS /dev/hugepages")
    # The kernel of now was booted by the trial; from here on every boot has the pages.
    assert " ".join(ARGUMENTS) in machines.shell(NODE, "cat " + DROP_IN)
    generated = machines.shell(
        NODE, "grep -c 'linux.*hugepages=2' /boot/grub/grub.cfg; grep -c 'linux' /boot/grub/grub.cfg"
    )
    assert generated.split()[0] != "0"
    left = machines.shell(NODE, "ls /boot/grub; cat /boot/grub/grubenv")
    assert "custom.cfg" not in left and "next_entry=taco" not in left

    done = machines.pages(limit=NODE, hugepages_trial=True)
    assert done.returncode == 0 and "changed=0" in done.stdout, done.stdout

    done = machines.pages(limit=NODE, playbook="rollback.yml", reboot_allowed=False, reboot_required_now=False)
    assert done.returncode == 0, done.stdout
    assert machines.shell(NODE, BOOT_FILES) == before
    assert machines.shell(NODE, "grep -c hugepages /boot/grub/grub.cfg").strip() == "0"
