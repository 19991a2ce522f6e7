# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check a node of ACK against the requirements of Alibaba Cloud's document on topology-aware scheduling of GPUs.

They are Kubernetes 1.18.8, driver 418.87.01, Docker 19.03.5, V100, and CentOS 7.6 or 7.7, Ubuntu 16.04 or 18.04, or Alibaba Cloud
Linux 2. The Node object has all of them but the point release of CentOS. The document is older than containerd on ACK, so that a
node with containerd passes. Helm 3 belongs to Arena, and NCCL 2.7 to the image: no node has them.
"""

import re
from typing import Any, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.check import Check, skipped
from ansible_collections.taco.train.plugins.plugin_utils.preflight.version_numbers import is_older, parts

IDENTITY = "kubernetes.ack"
KUBERNETES, DOCKER, DRIVER = "1.18.8", "19.03.5", "418.87.01"
SYSTEM = re.compile(r"CentOS Linux 7\b|Ubuntu (?:16|18)\.04\b|(?:Aliyun|Alibaba Cloud) Linux\)? 2\b")
GPU = "V100"
# The labels of ACK itself, and those of NVIDIA's GPU feature discovery.
GPU_LABELS = ("aliyun.accelerator/nvidia_name", "nvidia.com/gpu.product")
DRIVER_LABELS = ("ack.aliyun.com/nvidia-driver-version", "nvidia.com/cuda.driver-version.full")
DRIVER_PARTS = tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev"))
FIX = "upgrade or replace the node"


def _label(labels: Mapping[str, str], names: Tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _driver(labels: Mapping[str, str]) -> str:
    by_part = ".".join(labels[name] for name in DRIVER_PARTS if labels.get(name))
    return _label(labels, DRIVER_LABELS) or by_part


def _too_old(info: Mapping[str, Any], labels: Mapping[str, str]) -> list[Tuple[str, str]]:
    """What is required and what the node has instead."""
    engine, _rule, version = str(info.get("containerRuntimeVersion") or "").partition("://")
    found = [
        ("Kubernetes", KUBERNETES, str(info.get("kubeletVersion") or "").lstrip("v")),
        ("Docker", DOCKER, version if engine == "docker" else ""),
        ("NVIDIA driver", DRIVER, _driver(labels)),
    ]
    return [
        (f"{name} {least} or newer", f"{name} {version}")
        for name, least, version in found
        if parts(version) and is_older(version, least)
    ]


def _not_named(info: Mapping[str, Any], labels: Mapping[str, str]) -> list[str]:
    """What the document doesn't name."""
    system, gpu = str(info.get("osImage") or ""), _label(labels, GPU_LABELS)
    return [
        value for value, known in ((system, SYSTEM.search(system)), (gpu, GPU in gpu.upper())) if value and not known
    ]


def node_check(node: Optional[Mapping[str, Any]]) -> Check:
    """Check a Node object of ACK; None is a node that is not known."""
    if node is None:
        return skipped(IDENTITY, "the node is not known", "kubernetes.node")
    info, labels = (node.get("status") or {}).get("nodeInfo") or {}, node["metadata"].get("labels") or {}
    old = _too_old(info, labels)
    if old:
        expected, found = ", ".join(one for one, _found in old), ", ".join(one for _expected, one in old)
        return Check(IDENTITY, "fail", expected, found, FIX)
    other = _not_named(info, labels)
    if other:
        expected = f"{GPU}, and CentOS 7, Ubuntu 16.04 or 18.04, or Alibaba Cloud Linux 2"
        fix = "none needed if topology scheduling works on this node; the vendor's document does not list it"
        return Check(IDENTITY, "warn", expected, ", ".join(other), fix)
    known = [str(info.get("kubeletVersion") or ""), str(info.get("osImage") or "")]
    return Check(IDENTITY, "pass", found=", ".join(filter(None, known)))
