# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names of resources in Kubernetes, their amounts as Kubernetes spells them, such as 50Gi, 500m or 8, and their versions."""

import re
from fractions import Fraction
from typing import Any, Dict, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils._process.words import InvalidValueError

HUGEPAGES = "hugepages-1Gi"
GPU = "nvidia.com/gpu"
# With the node label ack.node.gpu.schedule=topology ACK serves the GPUs under this name, and the other no more.
TOPOLOGY_GPU = "aliyun.com/gpu"
# As `arena submit mpijob --gputopology` has them (https://github.com/kubeflow/arena, commit e30882c1): the pods of one
# value are placed together, once there is room for as many as the other says.
TOPOLOGY_LABEL = "gpu-topology"
TOPOLOGY_REPLICA_LABEL = "gpu-topology-replica"
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]{1,3}))?")
# A quantity that is no fraction is a signed integer of 64 bits (apimachinery, pkg/api/resource/quantity.go).
LIMIT = 2**63
_SUFFIXES: Dict[str, Fraction] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    **{letter: Fraction(1000**power) for power, letter in enumerate("kMGTPE", 1)},
    **{f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", 1)},
}


class MpijobError(InvalidValueError):
    """The values make no MPIJob, or the cluster serves none."""


def amount(value: Any, what: str) -> Fraction:
    """Return a quantity as a number; what names it in the error."""
    read = None if isinstance(value, bool) else _QUANTITY.fullmatch(str(value).strip())
    if not read:
        raise MpijobError(f"{what} is {value!r}: expected an amount such as 100Gi or 8")
    number, suffix, exponent = read.groups()
    factor = Fraction(10) ** int(exponent) if exponent else _SUFFIXES.get(suffix, Fraction(1))
    found = Fraction(number) * factor
    if found >= LIMIT:
        raise MpijobError(f"{what} is {value!r}: expected less than 8Ei, the most that Kubernetes can count")
    return found


def binary_quantity(size: int) -> str:
    """Return a number of bytes in the largest unit that holds it whole, as Kubernetes itself stores it."""
    for power, letter in reversed(list(enumerate("KMGTPE", 1))):
        if size and size % 1024**power == 0:
            return f"{size // 1024**power}{letter}i"
    return str(size)


def version_of(thing: Mapping[str, Any]) -> Optional[str]:
    return (thing.get("metadata") or {}).get("resourceVersion")


def from_version(patch: Mapping[str, Any], version: Optional[str]) -> Dict[str, Any]:
    """Return a patch that the API server refuses when the object isn't the version that was read."""
    given = {"resourceVersion": version} if version else {}
    return {**patch, "metadata": {**patch["metadata"], **given}}
