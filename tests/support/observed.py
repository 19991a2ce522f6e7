# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What node_info returns for a host on which nothing is wrong."""

import copy

GIB = 1024**3

NODE = {
    "schema": 1,
    "observed_at": "2026-01-05T10:00:00Z",
    "hostname": "gpu1",
    "identity": {"machine_id": "4f0c9d2b8e7a4c61b3d5e8f7a6b9c0d1", "board_serial": "5VX2M13"},
    "os": {"id": "ubuntu", "id_like": ["debian"], "version_id": "22.04", "name": "Ubuntu 22.04.4 LTS"},
    "python": {"version": "3.10.12", "executable": "/usr/bin/python3"},
    "kernel": {"release": "5.15.0", "cmdline": "quiet", "boot_id": "7d0c1f2e-0000-4000-8000-000000000001"},
    "boot": {"layout": "grub-d", "firmware": "efi", "reason": "update-grub is there"},
    "cpu": {"count": 164, "page_1g": True, "page_2m": True},
    "memory": {"total_bytes": 948 * GIB, "available_bytes": 900 * GIB},
    "hugepages": {
        "default_size_bytes": GIB,
        "pools": [{"size_bytes": GIB, "total": 50, "free": 50, "nodes": [{"node": 0, "total": 50, "free": 50}]}],
        "mounts": [{"path": "/dev/hugepages", "page_size_bytes": GIB}],
    },
    "gpus": {
        "count": 8,
        "source": "nvidia-smi",
        "driver_version": "535.104.05",
        "problem": None,
        "devices": [{"index": n, "pci": f"0000:3b:0{n}.0", "name": "A100", "uuid": f"GPU-{n}"} for n in range(8)],
    },
    "nics": [
        {
            "name": f"eth{n}",
            "mac": f"52:54:00:00:00:0{n}",
            "pci": f"0000:00:1{n}.0",
            "numa_node": None,
            "driver": "virtio_net",
            "kind": "physical",
            "up": True,
            "primary": n == 0,
            "addresses": [f"10.0.{n}.8/24"],
        }
        for n in range(9)
    ],
    "container_engine": {
        "name": "docker",
        "version": "24.0.7",
        "running": True,
        "runtimes": ["nvidia", "runc"],
        "nvidia_toolkit": "1.14.3",
    },
    "package_candidates": {},
    "training_container": None,
    "harp": {
        "config_dir": "/usr/local/tfabric/tools/config",
        "config_files": [],
        "manifest": None,
        "record": None,
    },
    "ssh_trust": None,
    "disk": {"root_free_bytes": 80 * GIB, "engine_free_bytes": 300 * GIB},
    "metadata": None,
}

# What an inventory says about it.
VARIABLES = {
    "taco_gpus_per_node": 8,
    "taco_instance_type": "GT4.41XLARGE948",
    "taco_image": "registry.example.com/taco-training:1",
    "harp_source": "script",
    "harp_script": "https://example.com/setup.sh",
    "harp_script_sha256": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
}


def node(path=None, value=None):
    """Return the host, with one thing in it replaced that a dotted path names."""
    changed = copy.deepcopy(NODE)
    if path:
        *parents, last = path.split(".")
        inner = changed
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
    return changed
