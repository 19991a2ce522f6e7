# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Instance types with GPUs and what the vendor publishes about them.

From the vendor's public documentation of instance types, https://github.com/tencentyun/qcloud-documents, file
计算型实例.md at commit 0b751f36. Not all types are in it, and new ones appear: an unknown type proves nothing.
"""

import difflib
from typing import Dict, List, NamedTuple


class InstanceType(NamedTuple):
    """What one instance of a type has."""

    gpus: int
    gpu_model: str


INSTANCE_TYPES: Dict[str, InstanceType] = {
    "GT4.4XLARGE96": InstanceType(1, "A100 40 GB"),
    "GT4.8XLARGE192": InstanceType(2, "A100 40 GB"),
    "GT4.20XLARGE474": InstanceType(4, "A100 40 GB"),
    "GT4.41XLARGE948": InstanceType(8, "A100 40 GB"),
    "GN10Xp.2XLARGE40": InstanceType(1, "V100 32 GB"),
    "GN10Xp.5XLARGE80": InstanceType(2, "V100 32 GB"),
    "GN10Xp.10XLARGE160": InstanceType(4, "V100 32 GB"),
    "GN10Xp.20XLARGE320": InstanceType(8, "V100 32 GB"),
    "PNV4.7XLARGE116": InstanceType(1, "A10"),
    "PNV4.14XLARGE232": InstanceType(2, "A10"),
    "PNV4.28XLARGE466": InstanceType(4, "A10"),
    "PNV4.56XLARGE932": InstanceType(8, "A10"),
    "GN7.2XLARGE32": InstanceType(1, "T4"),
    "GN7.5XLARGE80": InstanceType(1, "T4"),
    "GN7.8XLARGE128": InstanceType(1, "T4"),
    "GN7.10XLARGE160": InstanceType(2, "T4"),
    "GN7.20XLARGE320": InstanceType(4, "T4"),
    "GI3X.8XLARGE64": InstanceType(1, "T4"),
    "GI3X.22XLARGE226": InstanceType(2, "T4"),
    "GI3X.45XLARGE452": InstanceType(4, "T4"),
}

# Types with a virtual share of a GPU, which takes no part in training over several hosts: parts of a T4.
VIRTUAL: Dict[str, float] = {"GN7.LARGE20": 0.25, "GN7.2XLARGE40": 0.5}


def similar(name: str) -> List[str]:
    """Return the known types whose name comes nearest, for who has misspelt one."""
    return difflib.get_close_matches(name, list(INSTANCE_TYPES) + list(VIRTUAL), n=1, cutoff=0.6)
