# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import time

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


def until(condition, what):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return the folder of a machine whose QEMU is a script that notes its start and runs until the file `reset` is there."""
    (tmp_path / "qemu").write_text(
        f"#!/bin/sh\necho boot >> {tmp_path}/boots\nuntil rm {tmp_path}/reset 2>&-; do sleep 0.05; done\n"
    )
    (tmp_path / "qemu").chmod(0o755)
    monkeypatch.setattr(machines, "MACHINE", (str(tmp_path / "qemu"),))
    monkeypatch.setattr(machines, "START_SECONDS", 0.2)
    machines.start(0, 0, tmp_path / "disk.raw", tmp_path, 512, 0, "tcg")
    yield tmp_path
    machines.stop(tmp_path)


def reset(folder):
    (folder / "reset").touch()
    until(lambda: not (folder / "reset").exists(), "the machine ends")


def boots(folder):
    return (folder / "boots").read_text().count("boot")


def test_a_machine_that_reboots_is_a_new_process(machine):
    reset(machine)
    until(lambda: boots(machine) == 2, "the machine starts again")
    assert machines.running(machine)
    machines.stop(machine)
    assert machines.running(machine) is None


def test_a_machine_can_stay_off_until_it_is_started_again(machine):
    machines.stay_off(machine, True)
    reset(machine)
    until(lambda: machines.running(machine) is None, "the machine stays off")
    machines.start(0, 0, machine / "disk.raw", machine, 512, 0, "tcg")
    assert boots(machine) == 2


def test_what_qemu_refuses_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(machines, "MACHINE", ("sh", "-c", "echo no such option >&2; exit 1"))
    with pytest.raises(machines.LabError, match="no such option"):
        machines.start(0, 0, tmp_path / "disk.raw", tmp_path, 512, 0, "tcg")
