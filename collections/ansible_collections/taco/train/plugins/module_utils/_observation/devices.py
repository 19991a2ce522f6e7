# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe GPUs, network interfaces, and the settings that are usually the same on all hosts."""

import os
from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._harp.options import MANIFEST
from ansible_collections.taco.train.plugins.module_utils._node import details
from ansible_collections.taco.train.plugins.module_utils._node.connection import reached_interface
from ansible_collections.taco.train.plugins.module_utils._node.facets import facets
from ansible_collections.taco.train.plugins.module_utils._node.gpus import (
    QUERY,
    QUERY_SECONDS,
    judge_gpus,
    manifest_gpus,
    pci_gpus,
    query_problem,
)
from ansible_collections.taco.train.plugins.module_utils._node.nics import observe_nics, parse_addresses
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root


def gpus(root: Root, state_dir: str) -> Dict[str, Any]:
    """Return the GPUs that nvidia-smi lists, or those of the PCI bus."""
    smi = root.output("nvidia-smi", "--query-gpu=" + QUERY, "--format=csv,noheader", seconds=QUERY_SECONDS)
    problem = None if smi.missing else query_problem(smi.status, smi.stdout, smi.stderr)
    earlier = manifest_gpus(root.json(os.path.join(state_dir, MANIFEST)))
    return judge_gpus(smi.stdout if smi.status == 0 else None, pci_gpus(root.path), problem, earlier)


def nics(root: Root, metadata: Optional[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Return the network interfaces with their addresses, also those in the metadata of the instance."""
    addresses = parse_addresses(root.output("ip", "-o", "addr").stdout)
    reached = reached_interface(addresses) if root.is_running_system else None
    return observe_nics(root.path, addresses, metadata, reached)


def settings(root: Root) -> Dict[str, Any]:
    """Return the facets, with those that commands and the kernel report of the running system."""
    return facets(
        root.path,
        details.driver_of if root.is_running_system else lambda interface: {},
        lambda: details.gpu_settings(root.output(*details.GPU_COMMAND, seconds=QUERY_SECONDS).stdout),
        lambda: details.rpm_packages(root.output(*details.RPM_COMMAND).stdout),
    )
