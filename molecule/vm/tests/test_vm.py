# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands on the machines of the VM lab after converge, in the running kernel above all."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
testinfra_hosts = ["ansible://gpu_nodes?ansible_inventory=%s" % (ROOT / "inventories/vm")]

PAGES = 2
ARGUMENTS = "default_hugepagesz=1G hugepagesz=1G hugepages=%d" % PAGES


def test_the_running_kernel_was_booted_with_the_pages_once(host):
    cmdline = host.file("/proc/cmdline").content_string
    assert cmdline.count(ARGUMENTS) == 1
    assert cmdline.count("hugepages=") == 1


def test_the_kernel_holds_the_pages(host):
    assert host.file("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").content_string.strip() == str(PAGES)
    mount = host.run("findmnt --noheadings --output FSTYPE,OPTIONS /dev/hugepages").stdout
    assert "hugetlbfs" in mount and "pagesize=1024M" in mount


def test_the_drop_in_outlasts_the_cloud_images_own(host):
    names = sorted(host.file("/etc/default/grub.d").listdir())
    assert names[0] == "50-cloudimg-settings.cfg" and "taco" in names[-1]
    assert "console=tty1 console=ttyS0" in host.file("/proc/cmdline").content_string


def test_nine_nics_and_eight_configurations_of_harp(host):
    nics = [name for name in host.run("ls /sys/class/net").stdout.split() if name.startswith("eth")]
    assert len(nics) == 9
    assert len(host.run("ls /usr/local/tfabric/tools/config").stdout.split()) == 8


def test_the_container_has_the_documents_own_flags(host):
    (container,) = json.loads(host.run("docker inspect taco-train").stdout)
    settings = container["HostConfig"]
    assert container["State"]["Running"] and settings["Privileged"] and settings["NetworkMode"] == "host"
    assert settings["ShmSize"] == 32 * 1024**3
    limits = {limit["Name"]: limit["Hard"] for limit in settings["Ulimits"]}
    assert limits == {"memlock": -1, "stack": 67108864}
    assert host.run("docker exec taco-train sh -c 'ulimit -l'").stdout.strip() == "unlimited"
