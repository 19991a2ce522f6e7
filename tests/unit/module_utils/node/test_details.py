# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facets that come from the kernel and from tools: what isn't known is absent."""

from ansible_collections.taco.train.plugins.module_utils._node import details


def test_the_kernel_names_driver_and_firmware():
    data = details.DRIVER_INFO.pack(
        3, b"mlx5_core", b"5.8-1", b"22.36.1010 (MT_0000000359)", b"0000:3b:00.0", b"", b"", *[0] * 5
    )
    assert len(data) == 196
    assert details.driver_info(data) == {
        "driver": "mlx5_core",
        "driver_version": "5.8-1",
        "firmware": "22.36.1010 (MT_0000000359)",
    }
    assert details.driver_info(details.DRIVER_INFO.pack(3, b"veth", b"", b"N/A", *[b""] * 3, *[0] * 5)) == {
        "driver": "veth"
    }


def test_an_interface_that_is_not_there_has_no_driver():
    assert details.driver_of("no-such-nic") == {} and details.driver_of("ü") == {}


def test_settings_of_gpus_without_what_nvidia_smi_does_not_know():
    line = "00000000:3B:00.0, 1980, 2619, [N/A], Enabled, 700.00, Enabled, Default, 96.00.61.00.01, 5, 16\n"
    assert details.gpu_settings("Failed to initialize NVML\n" + line) == {
        "0000:3b:00.0": {
            "clock_max": "1980",
            "memory_clock_max": "2619",
            "ecc_mode": "Enabled",
            "power_limit": "700.00",
            "persistence_mode": "Enabled",
            "compute_mode": "Default",
            "vbios": "96.00.61.00.01",
            "pcie_generation_max": "5",
            "pcie_width_max": "16",
        }
    }


def test_packages_of_rpm():
    text = "nvidia-fabric-manager 535.161.08-1\npackage tuned is not installed\nglibc 2.17-326.el7\nvim 9-1\n"
    assert details.rpm_packages(text) == {"nvidia-fabric-manager": "535.161.08-1", "glibc": "2.17-326.el7"}
    assert "nvidia-fabricmanager-535" in details.dpkg_packages(
        "Package: nvidia-fabricmanager-535\nStatus: install ok installed\nVersion: 535\n"
    )
