# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the minimum versions: Docker, the NVIDIA driver and the NVIDIA Container Toolkit.

Docker 19.03 is the first with `--gpus` (Docker Engine release notes, 19.03.0). The toolkit has `nvidia-ctk runtime
configure` since 1.11.0 (its CHANGELOG). The driver for CUDA 11 and 12 is the one of table "CUDA minor version
compatibility" in NVIDIA's CUDA release notes. The document of Alibaba Cloud on topology-aware scheduling of GPUs requires
driver 418.87.01.
"""

import re
from typing import Any, Dict, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._node.engine import PODMAN
from ansible_collections.taco.train.plugins.plugin_utils.check import Check, skipped, truth
from ansible_collections.taco.train.plugins.plugin_utils.preflight.ack import DRIVER as ACK_DRIVER
from ansible_collections.taco.train.plugins.plugin_utils.preflight.version_numbers import is_older, parts
from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import image_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import on_cluster

DOCKER = "19.03"
TOOLKIT = "1.11.0"
# What role container_engine installs, by the check of its version.
TOOLKIT_PACKAGE = "nvidia-container-toolkit"
PACKAGES = {"engine.version": ("docker-ce", DOCKER), "engine.toolkit": (TOOLKIT_PACKAGE, TOOLKIT)}
# By the major version of CUDA in the image. The vendor's images have CUDA 11.
DRIVERS = {"11": "450.80.02", "12": "525.60.13"}
VENDORS_CUDA = "11"
# As in taco-train:ttf115-cu112-cvm-0.4.1.
CUDA_IN_TAG = re.compile(r"\bcu(?:da)?-?(1\d)\.?\d")


def _wants_gpus(variables: Mapping[str, Any]) -> bool:
    return truth(variables.get("container_engine_gpu"), True)


def _candidate(node: Mapping[str, Any], variables: Mapping[str, Any], identity: str) -> Optional[Check]:
    """The finding about a package that the role would install and that is too old, None without such a package."""
    package, least = PACKAGES[identity]
    offered = (node.get("package_candidates") or {}).get(package)
    wanted = (
        _wants_gpus(variables)
        if package == TOOLKIT_PACKAGE
        else variables.get("container_engine_source") != "distribution"
    )
    if wanted and offered and offered.get("forbidden"):
        return Check(
            identity,
            "fail",
            f"{package} {least} or newer, which apt may install",
            f"{offered['version']} in the repository {offered['repository']}, with a negative priority",
            f"take its Pin-Priority out of /etc/apt/preferences or /etc/apt/preferences.d (`apt-cache policy {package}` shows it)",
        )
    if not wanted or not offered or not is_older(offered["version"], least):
        return None
    return Check(
        identity,
        "fail",
        f"{package} {least} or newer, or no repository with it",
        f"{offered['version']} in the repository {offered['repository']}",
        "update that repository, or remove it from the host, then role container_engine adds the vendor's",
    )


def _engine(
    node: Mapping[str, Any], variables: Mapping[str, Any], identity: str
) -> Tuple[Mapping[str, Any], Optional[Check]]:
    """The container engine, or why there is nothing to check of it."""
    engine = node["container_engine"]
    if on_cluster(variables):
        return {}, skipped(identity, "the training runs in pods of the cluster, in the engine of its kubelet")
    if engine is None:
        return {}, _candidate(node, variables, identity) or skipped(
            identity, "there is no container engine", "engine.present"
        )
    if engine["name"] == PODMAN:
        return {}, skipped(identity, "docker is podman here, see engine.present", "engine.present")
    return engine, None


def docker(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that Docker can give GPUs to a container."""
    identity = "engine.version"
    engine, reason = _engine(node, variables, identity)
    if reason:
        return reason
    version = str(engine["version"] or "")
    if not parts(version):
        return skipped(identity, "the version of the container engine is not known")
    found = f"{engine['name']} {version}"
    if is_older(version, DOCKER):
        fix = "upgrade Docker Engine on the host; role container_engine doesn't replace an engine that is there"
        return Check(identity, "fail", f"Docker Engine {DOCKER} or newer, which has --gpus", found, fix)
    return Check(identity, "pass", found=found)


def toolkit(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the NVIDIA Container Toolkit can configure Docker."""
    identity = "engine.toolkit"
    engine, reason = _engine(node, variables, identity)
    if reason:
        return reason
    version = str(engine["nvidia_toolkit"] or "")
    if not _wants_gpus(variables) or not parts(version):
        none = skipped(identity, "no NVIDIA Container Toolkit is required, or none is there yet")
        return _candidate(node, variables, identity) or none
    if is_older(version, TOOLKIT):
        fix = "upgrade the package nvidia-container-toolkit on the host"
        expected = f"NVIDIA Container Toolkit {TOOLKIT} or newer, which has nvidia-ctk runtime configure"
        return Check(identity, "fail", expected, version, fix)
    return Check(identity, "pass", found=version)


def least_driver(variables: Mapping[str, Any]) -> Tuple[str, str]:
    """The oldest NVIDIA driver for the image, and what requires it."""
    name, image = image_of(variables)
    tag = CUDA_IN_TAG.search(str(image or "").rsplit("/", 1)[-1])
    if tag and tag.group(1) in DRIVERS:
        return DRIVERS[tag.group(1)], f"CUDA {tag.group(1)} in {name}"
    if variables.get("taco_platform") == "ack":
        return ACK_DRIVER, "ACK's topology-aware scheduling"
    return DRIVERS[VENDORS_CUDA], f"CUDA {VENDORS_CUDA} in the vendor's images"


def driver(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the NVIDIA driver supports the CUDA of the image."""
    version = str(node["gpus"].get("driver_version") or "")
    if not parts(version):
        return skipped("gpu.driver", "nvidia-smi names no driver", "gpu.count")
    least, reason = least_driver(variables)
    if is_older(version, least):
        fix = f"install NVIDIA driver {least} or newer and reboot the host"
        return Check("gpu.driver", "fail", f"{least} or newer, for {reason}", version, fix)
    return Check("gpu.driver", "pass", found=version)
