# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of GPUs as nvidia-smi prints it, in the format of --format=csv,noheader,nounits."""

from ansible_collections.taco.train.plugins.module_utils._node.counters import Range, parse

LINE = "GPU-0d3f, 1410, 1980, 64, 0x0000000000000044, 0, 3\n"


def test_a_gpu_has_clocks_reasons_and_errors():
    assert parse("warning: something\n" + LINE) == {
        "GPU-0d3f": {
            "clock": 1410,
            "clock_max": 1980,
            "temperature": 64,
            "uncorrected": 0,
            "corrected": 3,
            "idle": False,
            "reasons": ["power cap", "temperature (hardware)"],
        }
    }


def test_what_nvidia_smi_does_not_know_is_absent():
    assert parse("GPU-0d3f, [N/A], 1980, [Unknown Error], [N/A], [N/A], [Not Supported]\n") == {
        "GPU-0d3f": {"clock_max": 1980, "reasons": []}
    }
    assert parse("No devices were found\n") == {}


def test_a_range_has_the_lowest_clock_and_all_reasons_under_load():
    found = Range()
    for text in (
        LINE,
        "GPU-0d3f, 900, 1980, 81, 0x0000000000000008, 0, 3\n",
        "",
        "GPU-0d3f, 345, 1980, 90, 0x0000000000000081, 0, 3\n",
        "GPU-0d3f, 345, 1980, 90, [N/A], 0, 3\n",
        "GPU-0d3f, [N/A], 1980, 70, 0x2, 0, 3\n",
    ):
        found.add(text)
    assert found.found["GPU-0d3f"] == {
        "samples": 3,
        "reasons": ["hardware slowdown", "power brake", "power cap", "temperature (hardware)"],
        "clock": 900,
        "clock_max": 1980,
        "temperature": 81,
    }
