# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import machines
import pytest


def test_a_machine_has_one_connected_nic_and_the_enis_each_with_its_own_address(tmp_path):
    argv = machines.arguments(0, 1, tmp_path / "disk.raw", tmp_path, 2048, 8, "tcg,thread=multi")
    devices = [argument for argument in argv if argument.startswith("virtio-net-pci")]
    assert len(devices) == 9 == len({device.split("mac=")[1] for device in devices})
    assert [argument for argument in argv if argument.startswith("tap,")] == [
        "tap,id=nic0,ifname=taco-vm0-1,script=no,downscript=no"
    ]
    assert all("restrict=on" in argument for argument in argv if argument.startswith("user,"))


@pytest.mark.parametrize("accelerator, cpu", [("kvm", "host"), ("tcg,thread=multi", "max")])
def test_the_cpu_fits_the_accelerator(tmp_path, accelerator, cpu):
    argv = machines.arguments(2, 0, tmp_path / "disk.raw", tmp_path, 2048, 0, accelerator)
    assert argv[argv.index("-accel") + 1] == accelerator
    assert argv[argv.index("-cpu") + 1] == cpu


def test_addresses_of_machines_differ_and_are_unicast_local():
    addresses = {machines.mac(index, nic) for index in range(8) for nic in range(9)}
    assert len(addresses) == 72
    assert all(int(address[:2], 16) & 0b11 == 0b10 for address in addresses)


def test_a_process_id_of_something_else_is_not_a_machine(tmp_path):
    assert machines.running(tmp_path) is None
    (tmp_path / "pid").write_text("1")
    assert machines.running(tmp_path) is None
    (tmp_path / "pid").write_text("not a number")
    assert machines.running(tmp_path) is None
