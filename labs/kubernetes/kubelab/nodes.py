# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The nodes, and ACK's device plugins, which serve GPUs under the name that a label of the node says."""

from kubelab.conditions import set_condition
from kubelab.resources import NODE

INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "containerd://1.6.9",
    "kernelVersion": "",
    "kubeProxyVersion": "v1.28.3",
    "kubeletVersion": "v1.28.3",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "",
    "systemUUID": "",
}
ACK_LABEL, GPU, TOPOLOGY_GPU = "ack.node.gpu.schedule", "nvidia.com/gpu", "aliyun.com/gpu"


def node(name, allocatable, labels=None, address="", taints=None):
    """Return a node that is Ready."""
    spec = {"taints": taints} if taints else {}
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "110", **{key: str(value) for key, value in allocatable.items()}}
    thing = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **(labels or {})},
        },
        "spec": spec,
        "status": {
            "allocatable": amounts,
            "capacity": dict(amounts),
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "nodeInfo": dict(INFO),
        },
    }
    set_condition(thing, "Ready", "True", "KubeletReady", "kubelet is posting ready status")
    return thing


def serve_gpus(storage):
    """Move the GPUs of nodes whose label has changed to the other name."""
    for found in storage.list(NODE):
        wanted = TOPOLOGY_GPU if (found["metadata"].get("labels") or {}).get(ACK_LABEL) == "topology" else GPU
        other = GPU if wanted == TOPOLOGY_GPU else TOPOLOGY_GPU
        allocatable = (found.get("status") or {}).get("allocatable") or {}
        if str(allocatable.get(other, "0")) == "0":
            continue

        def move(thing, wanted=wanted, other=other):
            for part in ("allocatable", "capacity"):
                amounts = thing["status"].setdefault(part, {})
                amounts[wanted] = amounts.get(other, "0")
                amounts[other] = "0"

        storage.update(NODE, None, found["metadata"]["name"], move)
