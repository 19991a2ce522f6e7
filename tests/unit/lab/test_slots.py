# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which bridges and addresses a lab takes beside other labs."""

import pytest
import slots
from shell import LabError

HEADER = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
DEFAULT = "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
LAB = "other\t0040B10A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"  # 10.177.64.0/24


@pytest.fixture(name="machine")
def fixture_machine(tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "route").write_text(HEADER + DEFAULT)
    return tmp_path


def choose(machine):
    return slots.choose("taco-lab", [64, 65], machine / "slot", machine / "net", machine / "route")


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([], 0),
        (["eth0", "docker0", "taco-vm0"], 0),
        (["taco-lab0-1"], 1),
        (["taco-lab0", "taco-lab1-2"], 2),
        (["taco-lab10-0"], 0),
    ],
)
def test_interfaces_of_other_labs_are_left_alone(links, expected, machine):
    for link in links:
        (machine / "net" / link).mkdir()
    assert choose(machine) == expected
    assert slots.kept(machine / "slot") == expected


def test_routes_of_others_are_left_alone(machine):
    (machine / "route").write_text(HEADER + DEFAULT + LAB)
    assert slots.routed((machine / "route").read_text()) == {"0.0.0", "10.177.64"}
    assert choose(machine) == 1


def test_a_machine_full_of_labs_is_an_error(machine):
    for slot in range(slots.SLOTS):
        (machine / "net" / f"taco-lab{slot}-0").mkdir()
    with pytest.raises(LabError, match="taco-lab0 to taco-lab15 .* make lab-down"):
        choose(machine)
    assert slots.kept(machine / "slot") is None


@pytest.mark.parametrize("text", ["", "x", "-1", "16"])
def test_a_damaged_file_is_no_slot(text, tmp_path):
    (tmp_path / "slot").write_text(text)
    assert slots.kept(tmp_path / "slot") is None
