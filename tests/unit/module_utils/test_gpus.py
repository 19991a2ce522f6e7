# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""GPUs are counted by nvidia-smi, or on the PCI bus when it lists none."""

import pytest
from fake_host import FakeHost

from ansible_collections.taco.train.plugins.module_utils._gpus import (
    judge_gpus,
    normal_address,
    parse_nvidia_smi,
    pci_gpus,
)

SMI = """\
0, GPU-5c1e, 00000000:3B:00.0, 450.80.02, A100-SXM4-40GB
1, GPU-77aa, 00000000:86:00.0, 450.80.02, A100-SXM4-40GB
"""


@pytest.mark.parametrize(
    ("address", "normal"),
    [
        ("00000000:3B:00.0", "0000:3b:00.0"),
        ("0000:3b:00.0", "0000:3b:00.0"),
        ("3B:00.0", "0000:3b:00.0"),
        ("00010000:00:1F.7", "10000:00:1f.7"),
        ("[N/A]", "[n/a]"),
    ],
)
def test_addresses_are_those_of_sysfs(address, normal):
    assert normal_address(address) == normal


def test_a_list_of_nvidia_smi_becomes_gpus():
    found = judge_gpus(SMI, [])
    assert (found["count"], found["source"], found["driver_version"]) == (2, "nvidia-smi", "450.80.02")
    assert found["devices"][1] == {"index": 1, "pci": "0000:86:00.0", "name": "A100-SXM4-40GB", "uuid": "GPU-77aa"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No devices were found\n",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
        "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost. Reboot, please, now\n",
    ],
)
def test_what_is_no_list_holds_no_gpu(text):
    assert parse_nvidia_smi(text) == []


def test_a_warning_before_the_list_and_unknown_values_do_no_harm():
    (gpu,) = parse_nvidia_smi(
        "Warning: infoROM is corrupted\n0, [Unknown Error], 00000000:3B:00.0, [N/A], Tesla, odd\n"
    )
    assert gpu == {"index": 0, "pci": "0000:3b:00.0", "name": "Tesla, odd", "uuid": None, "driver_version": None}


def test_gpus_on_the_bus_are_of_the_vendor_and_of_a_display_class(tmp_path):
    host = FakeHost(tmp_path)
    host.pci("0000:00:08.0", vendor="0x10de", kind="0x030200")
    host.pci("0000:00:09.0", vendor="0x10de", kind="0x030000")
    host.pci("0000:00:0a.0", vendor="0x10de", kind="0x068000")  # an NVSwitch
    host.pci("0000:00:02.0", vendor="0x1013", kind="0x030000")
    assert [gpu["pci"] for gpu in pci_gpus(str(tmp_path))] == ["0000:00:08.0", "0000:00:09.0"]
    found = judge_gpus("No devices were found\n", pci_gpus(str(tmp_path)))
    assert (found["count"], found["source"], found["driver_version"]) == (2, "pci", None)


def test_no_gpu_anywhere_has_no_source(tmp_path):
    assert judge_gpus(None, pci_gpus(str(tmp_path))) == {
        "count": 0,
        "source": "none",
        "driver_version": None,
        "devices": [],
    }
