# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the parts of /proc, /sys and /etc that node_info reads, as a folder."""

import os


class FakeHost:
    """A folder that looks like the root of a host."""

    def __init__(self, root):
        self.root = root

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def link(self, path, target):
        """Make a relative link, as all those in sysfs are."""
        link = self.root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(self.root / target, link.parent))

    def pci(self, address, vendor="0x1af4", kind="0x020000", numa=-1, driver=None):
        folder = f"sys/devices/pci0000:00/{address}"
        self.write(f"{folder}/vendor", vendor + "\n")
        self.write(f"{folder}/class", kind + "\n")
        self.write(f"{folder}/numa_node", f"{numa}\n")
        if driver:
            (self.root / f"sys/bus/pci/drivers/{driver}").mkdir(parents=True, exist_ok=True)
            self.link(f"{folder}/driver", f"sys/bus/pci/drivers/{driver}")
        self.link(f"sys/bus/pci/devices/{address}", folder)
        return folder

    def nic(self, name, mac, pci=None, virtio=None, driver="virtio_net", state="up", numa=-1, **attributes):
        """Add an interface: on the PCI bus, on a virtio device on that, or virtual. Further files are attributes."""
        device = None
        if pci:
            device = self.pci(pci, numa=numa, driver="virtio-pci" if virtio is not None else driver)
            if virtio is not None:
                device = f"{device}/virtio{virtio}"
                (self.root / f"sys/bus/virtio/drivers/{driver}").mkdir(parents=True, exist_ok=True)
                self.link(f"{device}/driver", f"sys/bus/virtio/drivers/{driver}")
        folder = f"{device or 'sys/devices/virtual'}/net/{name}"
        self.write(f"{folder}/address", mac.lower() + "\n")
        self.write(f"{folder}/operstate", state + "\n")
        self.write(f"{folder}/type", "772\n" if name == "lo" else "1\n")
        for path, text in attributes.items():
            self.write(f"{folder}/{path.replace('__', '/')}", text)
        if device:
            self.link(f"{folder}/device", device)
        self.link(f"sys/class/net/{name}", folder)

    def default_route(self, *interfaces):
        lines = ["Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT"]
        lines += [f"{one} 00000000 0100000A 0003 0 0 {100 + n} 00000000 0 0 0" for n, one in enumerate(interfaces)]
        lines.append("eth9 0000000A 00000000 0001 0 0 0 00FFFFFF 0 0 0")
        self.write("proc/net/route", "\n".join(lines) + "\n")

    def hugepages(self, kib, total, free, node=None):
        base = "sys/kernel/mm" if node is None else f"sys/devices/system/node/node{node}"
        self.write(f"{base}/hugepages/hugepages-{kib}kB/nr_hugepages", f"{total}\n")
        self.write(f"{base}/hugepages/hugepages-{kib}kB/free_hugepages", f"{free}\n")

    def base(self):
        """Add what every host has: the files of a GPU machine with CentOS-like userland."""
        self.write(
            "etc/os-release",
            'NAME="TencentOS Server"\nVERSION="2.4"\nID="tencentos"\nID_LIKE="rhel fedora centos tlinux"\n'
            'VERSION_ID="2.4"\nPRETTY_NAME="TencentOS Server 2.4"\n',
        )
        self.write("proc/sys/kernel/hostname", "gpu1\n")
        self.write("proc/sys/kernel/osrelease", "5.4.119-1-tlinux4\n")
        self.write("proc/sys/kernel/random/boot_id", "7d0c1f2e-0000-4000-8000-000000000001\n")
        self.write("proc/cmdline", "root=/dev/vda1 hugepagesz=1G hugepages=50\n")
        self.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu pse pdpe1gb\n" * 4)
        self.write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\nHugepagesize: 1048576 kB\n")
        self.write("proc/mounts", "proc /proc proc rw 0 0\nnodev /dev/hugepages hugetlbfs rw,pagesize=1024M 0 0\n")
        self.hugepages(1048576, 50, 48)
        self.hugepages(1048576, 25, 25, node=0)
        self.hugepages(1048576, 25, 23, node=1)
        self.nic("lo", "00:00:00:00:00:00", state="unknown", flags="0x9\n")
        self.default_route("eth0")
        return self

    def enis(self, count, first=0):
        """Add the primary interface and that many secondary ones, as virtio devices."""
        for number in range(first, count + 1):
            mac = f"52:54:00:00:00:{number:02x}"
            self.nic(f"eth{number}", mac, pci=f"0000:00:{number + 5:02x}.0", virtio=number)
        return self
