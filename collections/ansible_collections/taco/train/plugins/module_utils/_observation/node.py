# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe a host completely: one observer for each fact, in the structure that the module node_info documents."""

import importlib.util
import platform
import sys
import time
from typing import Any, Callable, Dict, Mapping

from ansible_collections.taco.train.plugins.module_utils._boot.layout import observe_boot
from ansible_collections.taco.train.plugins.module_utils._boot.pools import observe_hugepages
from ansible_collections.taco.train.plugins.module_utils._node.meminfo import cpu, memory
from ansible_collections.taco.train.plugins.module_utils._node.os_release import os_identity
from ansible_collections.taco.train.plugins.module_utils._observation.container import (
    container_engine,
    package_candidates,
    training_container,
)
from ansible_collections.taco.train.plugins.module_utils._observation.devices import gpus, nics, settings
from ansible_collections.taco.train.plugins.module_utils._observation.metadata import metadata
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._observation.state import harp, ssh_trust

SCHEMA = 1


def observe(root: Root, options: Mapping[str, Any], open_url: Callable[..., Any]) -> Dict[str, Any]:
    """Return the facts of the host. options are those of the module node_info, open_url is that of Ansible."""
    state_dir = options["state_dir"]
    engine, engine_free = container_engine(root)
    instance = metadata(root, options["metadata"], open_url)
    return {
        "schema": SCHEMA,
        "observed_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "hostname": root.text("/proc/sys/kernel/hostname", "/etc/hostname").strip(),
        "os": os_identity(root.text("/etc/os-release", "/usr/lib/os-release")),
        "python": {
            "version": platform.python_version(),
            "executable": sys.executable,
            "requests": importlib.util.find_spec("requests") is not None,
        },
        "kernel": {
            "release": root.text("/proc/sys/kernel/osrelease").strip(),
            "cmdline": root.text("/proc/cmdline").strip(),
            "boot_id": root.text("/proc/sys/kernel/random/boot_id").strip(),
        },
        "boot": observe_boot(root.path),
        "cpu": cpu(root.text("/proc/cpuinfo")),
        "memory": memory(root.text("/proc/meminfo")),
        "hugepages": observe_hugepages(root.path),
        "gpus": gpus(root, state_dir),
        "nics": nics(root, instance),
        "container_engine": engine,
        "package_candidates": package_candidates(root, engine),
        "training_container": training_container(root, engine, options["container"]),
        "harp": harp(root, options["harp_config_dir"], state_dir),
        "ssh_trust": ssh_trust(root, state_dir),
        "disk": {"root_free_bytes": root.free_bytes("/"), "engine_free_bytes": engine_free},
        "metadata": instance,
        "facets": settings(root),
    }
