# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""GPUs are counted by nvidia-smi, or on the PCI bus when it lists none."""

import pytest
from fake_host import FakeHost

from ansible_collections.taco.train.plugins.module_utils._node.gpus import (
    judge_gpus,
    manifest_gpus,
    normal_address,
    parse_nvidia_smi,
    pci_gpus,
    query_problem,
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
        "problem": None,
    }


SLOW = "nvidia-smi took longer than 60 s"


def on_bus(*addresses):
    return [{"index": None, "pci": address, "name": None, "uuid": None} for address in addresses]


def test_gpus_keep_the_details_of_the_manifest_while_nvidia_smi_does_not_answer():
    listed = judge_gpus(SMI, [])["devices"]
    earlier = manifest_gpus({"gpus": listed})
    found = judge_gpus(None, on_bus("0000:86:00.0", "0000:3b:00.0"), SLOW, earlier)
    assert found["devices"] == listed
    assert (found["count"], found["source"], found["problem"]) == (2, "pci", SLOW)


@pytest.mark.parametrize(
    ("addresses", "problem"),
    [(["0000:86:00.0"], SLOW), (["0000:3b:00.0", "0000:87:00.0"], SLOW), (["0000:3b:00.0", "0000:86:00.0"], None)],
    ids=["one is gone", "one is another", "nvidia-smi was removed"],
)
def test_gpus_that_are_others_have_no_details_of_earlier_ones(addresses, problem):
    earlier = judge_gpus(SMI, [])["devices"]
    assert judge_gpus(None, on_bus(*addresses), problem, earlier)["devices"] == on_bus(*addresses)


@pytest.mark.parametrize(
    "manifest",
    [None, [], {}, {"gpus": None}, {"gpus": ["x"]}, {"gpus": [{"pci": "0000:3b:00.0"}]},
     {"gpus": [{"index": "0", "pci": "0000:3b:00.0", "name": None, "uuid": None}]},
     {"gpus": [{"index": 0, "pci": None, "name": None, "uuid": None}]}],
)  # fmt: skip
def test_a_manifest_that_is_damaged_has_no_gpus(manifest):
    assert manifest_gpus(manifest) == []


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((0, SMI, ""), None),
        ((None, "", SLOW), SLOW),
        ((9, "NVIDIA-SMI has failed\n", ""), "nvidia-smi ended with status 9: NVIDIA-SMI has failed"),
        ((0, "No devices were found\n", ""), "nvidia-smi ended with status 0: No devices were found"),
    ],
)
def test_why_nvidia_smi_lists_none(answer, problem):
    assert query_problem(*answer) == problem
