# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Instance types with GPUs and what the vendor publishes about them, from instance_types.yml."""

import difflib
from pathlib import Path
from typing import Dict, List, NamedTuple

from ansible.module_utils.common.yaml import yaml_load


class InstanceType(NamedTuple):
    """What one instance of a type has."""

    gpus: int
    gpu_model: str


_TABLE = yaml_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
INSTANCE_TYPES = {name: InstanceType(**row) for name, row in _TABLE["whole"].items()}
# The share of a GPU that an instance has.
VIRTUAL: Dict[str, float] = _TABLE["virtual"]


def similar(name: str) -> List[str]:
    """Return the known types whose name comes nearest, for who has misspelt one."""
    return difflib.get_close_matches(name, [*INSTANCE_TYPES, *VIRTUAL], n=1, cutoff=0.6)
