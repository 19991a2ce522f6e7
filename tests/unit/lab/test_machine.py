# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a machine lacks is said in one line with the way to get it."""

import subprocess

import lab
import machine
import pytest
import state
from shell import CommandError, LabError, run, succeeds

SCRIPT = state.ROOT / "labs/docker/harp_setup_lab.sh"


def test_a_full_disk_is_refused_with_both_numbers(tmp_path):
    with pytest.raises(LabError, match=r"2\.5 GiB are free, 6 GiB are needed"):
        machine.require_disk(tmp_path, free=int(2.5 * 1024**3))
    machine.require_disk(tmp_path, free=6 * 1024**3)
    with pytest.raises(LabError, match=r"6\.0 GiB are free, 7 GiB are needed"):
        machine.require_disk(tmp_path, 7, free=6 * 1024**3)


def test_programs_are_translated_to_packages_once():
    assert machine.missing_packages(["docker", "dockerd", "mmdebstrap"], which=lambda _program: None) == [
        "docker.io",
        "mmdebstrap",
    ]
    assert machine.missing_packages(["docker", "ssh-keygen"], which=lambda program: "/usr/bin/" + program) == []


def test_who_is_not_root_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="sudo apt-get install no-such-program"):
        machine.require(["no-such-program"])


def test_a_failed_command_holds_its_output_and_status():
    with pytest.raises(CommandError, match=r"exit status 3: sh -c .*\nout of luck"):
        run(["sh", "-c", "echo out of luck >&2; exit 3"])
    with pytest.raises(CommandError, match="is not installed"):
        run(["no-such-program"])
    with pytest.raises(CommandError, match="within 1 s"):
        run(["sleep", "9"], timeout=1)
    assert run(["cat"], data=b"in") == "in"
    assert succeeds(["true"]) and not succeeds(["false"])


@pytest.mark.parametrize("count", [0, 65])
def test_a_number_of_nodes_that_makes_no_sense_is_refused(count):
    with pytest.raises(LabError, match=f"--nodes is {count}"):
        lab.up(lab.parse(["up", "--nodes", str(count)]))


@pytest.mark.parametrize("asked", ["no-such-interface", "lo,no-such-interface"])
def test_the_stand_in_of_the_setup_script_names_a_missing_interface(asked):
    done = subprocess.run(
        ["bash", str(SCRIPT)], env={"TACO_ENI_INTERFACES": asked, "PATH": "/usr/bin:/bin"}, stderr=subprocess.PIPE
    )
    assert done.returncode == 1
    assert b"no interface no-such-interface" in done.stderr
