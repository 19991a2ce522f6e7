# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe a host completely: one observer for each fact, in the structure that the module node_info documents."""

import glob
import importlib.util
import os
import platform
import shlex
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.layout import observe_boot
from ansible_collections.taco.train.plugins.module_utils._boot.pools import observe_hugepages
from ansible_collections.taco.train.plugins.module_utils._files.download import read_url
from ansible_collections.taco.train.plugins.module_utils._harp.options import CONFIG_GLOB, MANIFEST, RECORD
from ansible_collections.taco.train.plugins.module_utils._node import details
from ansible_collections.taco.train.plugins.module_utils._node.connection import reached_interface
from ansible_collections.taco.train.plugins.module_utils._node.engine import (
    DAEMON_JSON,
    DATA_ROOT,
    judge_container,
    judge_engine,
    parse_object,
    stored_container,
)
from ansible_collections.taco.train.plugins.module_utils._node.facets import facets
from ansible_collections.taco.train.plugins.module_utils._node.gpus import (
    QUERY,
    QUERY_SECONDS,
    judge_gpus,
    manifest_gpus,
    pci_gpus,
    query_problem,
)
from ansible_collections.taco.train.plugins.module_utils._node.meminfo import cpu, memory
from ansible_collections.taco.train.plugins.module_utils._node.metadata import (
    BASE,
    Get,
    MetadataError,
    is_tencent,
    read_metadata,
    vpc_addresses,
)
from ansible_collections.taco.train.plugins.module_utils._node.nccl_interface import exported_versions, nccl_libraries
from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import PATH, find_renamed
from ansible_collections.taco.train.plugins.module_utils._node.nics import observe_nics, parse_addresses
from ansible_collections.taco.train.plugins.module_utils._node.packages import candidates
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._ssh.folder import FOLDER, IDENTITY, PEERS, judge_trust


def parse_os_release(text: str) -> Dict[str, str]:
    """Return the assignments of an os-release file; lines that aren't one are passed over, as the format demands."""
    values = {}
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if not separator or key.startswith("#"):
            continue
        try:
            values[key] = "".join(shlex.split(value))
        except ValueError:
            values[key] = value.strip("\"'")
    return values


def os_identity(text: str) -> Dict[str, Any]:
    """Return id, id_like, version_id and name. What the file leaves out has the default of its specification."""
    values = parse_os_release(text)
    return {
        "id": values.get("ID", "linux").lower(),
        "id_like": values.get("ID_LIKE", "").lower().split(),
        "version_id": values.get("VERSION_ID", ""),
        "name": values.get("PRETTY_NAME") or values.get("NAME", "Linux"),
    }


PACKAGES = ("docker-ce", "nvidia-container-toolkit")
# apt-cache would rewrite its cache files: to observe a host writes nothing.
WITHOUT_CACHE = ("-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=")


def _data_root(daemon: str) -> str:
    """Return the folder of an engine that doesn't answer, by its configuration file."""
    return parse_object(daemon).get("data-root") or DATA_ROOT


def container_engine(root: Root) -> Tuple[Optional[Dict[str, Any]], Optional[int]]:
    """Return the engine, and the free space where it keeps images."""
    info = root.output("docker", "info", "--format", "{{json .}}")
    if info.missing:
        return None, None
    daemon = root.text(DAEMON_JSON)
    folder = parse_object(info.stdout).get("DockerRootDir") or _data_root(daemon)
    toolkit = root.output("nvidia-ctk", "--version")
    # A server that answers reports the version.
    client = "" if info.status == 0 else root.output("docker", "--version").stdout
    rootless = bool(glob.glob(root.join("/run/user/*/docker.sock")))
    engine = judge_engine(info.stdout, info.stderr, client, toolkit.stdout, daemon, rootless)
    return engine, root.free_bytes(folder)


def package_candidates(root: Root, engine: Optional[Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
    """Return what the repositories offer of the packages of the engine, where one of them is missing. No index is updated."""
    if engine and engine["nvidia_toolkit"]:
        return {}
    found = root.output("apt-cache", *WITHOUT_CACHE, "policy", *PACKAGES)
    return candidates((root.output("yum", "-q", "-C", "list", *PACKAGES) if found.missing else found).stdout)


def training_container(root: Root, engine: Optional[Dict[str, Any]], name: Optional[str]) -> Optional[Dict[str, Any]]:
    """Return the container with this name, or None. The containers of a stopped engine are read from its folder."""
    if not name or not engine:
        return None
    if not engine["running"]:
        pattern = os.path.join(root.join(_data_root(root.text(DAEMON_JSON))), "containers", "*", "config.v2.json")
        stored = (stored_container(parse_object(root.text(path)), name) for path in sorted(glob.glob(pattern)))
        return next((container for container in stored if container), None)
    container = _inspect(root, "container", name)
    # The name of the image can have been given to a newer one.
    image = container.get("Image")
    found = judge_container(container, _inspect(root, "image", image) if image else {})
    pid = (container.get("State") or {}).get("Pid")
    # The files of a running container are seen through its first process, without a command in it.
    inside = root.join(f"/proc/{pid}/root") if pid else None
    return dict(found, **_plugin(inside)) if found else None


def _plugin(inside: Optional[str]) -> Dict[str, Any]:
    """Return what is known of NCCL and its plugin in a container, which is nothing of one that doesn't run."""
    if inside is None:
        return {"renamed_plugin": None, "plugin_versions": None, "nccl": []}
    return {
        "renamed_plugin": find_renamed(PATH, inside),
        "plugin_versions": exported_versions(inside),
        "nccl": nccl_libraries(inside),
    }


def _inspect(root: Root, kind: str, name: str) -> Dict[str, Any]:
    return parse_object(root.output("docker", kind, "inspect", "--format", "{{json .}}", name).stdout)


AUTO = "auto"
# YAML reads an unquoted off as a boolean.
OFF = ("off", "false", "no", "")
# A metadata service is on the host's own network and answers at once, or not at all.
ANSWER_SECONDS = 3
# The limit for all answers together: a slow service must not delay the play.
TOTAL_SECONDS = 30
LARGEST_ANSWER = 65536


def metadata(root: Root, source: str, open_url: Callable[..., Any]) -> Optional[Dict[str, Any]]:
    """Return the metadata of the instance, or None. A missing answer is an error only where the source is a URL."""
    if source.lower() in OFF or (source == AUTO and not _is_instance(root)):
        return None
    base = BASE if source == AUTO else source.rstrip("/") + "/"
    try:
        return dict(read_metadata(_reader(base, open_url)), url=base)
    except (OSError, MetadataError) as error:
        if source == AUTO:
            return None
        raise MetadataError(f"{base}: {error}; correct the option metadata, or set it to off") from error


def _is_instance(root: Root) -> bool:
    names = ("sys_vendor", "chassis_asset_tag", "bios_vendor")
    return root.is_running_system and is_tencent(*(root.text("/sys/class/dmi/id/" + name) for name in names))


def _reader(base: str, open_url: Callable[..., Any]) -> Get:
    # Imported only here, since few observations need it.
    from urllib.error import HTTPError

    end = time.monotonic() + TOTAL_SECONDS

    def get(path: str) -> Optional[str]:
        if time.monotonic() > end:
            raise MetadataError(f"not all answers came within {TOTAL_SECONDS} s")
        try:
            answer = read_url(base + path, LARGEST_ANSWER, open_url, timeout=ANSWER_SECONDS, use_proxy=False)
        except HTTPError as error:
            if error.code == 404:
                return None
            raise
        return answer.decode("utf-8", "replace").strip()

    return get


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
    found = observe_nics(root.path, addresses, (metadata or {}).get("mac"), reached)
    assigned = vpc_addresses(metadata or {})
    return [dict(nic, vpc_addresses=assigned.get(nic["mac"], []) if metadata else None) for nic in found]


def settings(root: Root) -> Dict[str, Any]:
    """Return the facets, with those that commands and the kernel report of the running system."""
    return facets(
        root.path,
        details.driver_of if root.is_running_system else lambda interface: {},
        lambda: details.gpu_settings(root.output(*details.GPU_COMMAND, seconds=QUERY_SECONDS).stdout),
        lambda: details.rpm_packages(root.output(*details.RPM_COMMAND).stdout),
    )


def harp(root: Root, config_dir: str, state_dir: str) -> Dict[str, Any]:
    """Return the configuration files with their sizes, the manifest and the record of the setup script."""
    names = glob.glob(os.path.join(glob.escape(root.join(config_dir)), CONFIG_GLOB))
    paths = [os.path.join(config_dir, os.path.basename(name)) for name in sorted(names)]
    manifest = os.path.join(state_dir, MANIFEST)
    return {
        "config_dir": config_dir,
        "config_files": [
            {"path": path, "size": os.path.getsize(root.join(path)), "sha256": root.sha256(path)} for path in paths
        ],
        "manifest": manifest if os.path.isfile(root.join(manifest)) else None,
        "record": root.json(os.path.join(state_dir, RECORD)),
    }


def ssh_trust(root: Root, state_dir: str) -> Optional[Dict[str, Any]]:
    """Return the public keys of the host or its training container and the state of its peers, or None without keys."""
    identity, peers = (os.path.join(state_dir, FOLDER, name) for name in (IDENTITY, PEERS))
    return judge_trust(root.json(identity), root.json(peers), root.sha256(peers))


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
        "identity": {
            "machine_id": root.text("/etc/machine-id").strip() or None,
            "board_serial": root.text("/sys/class/dmi/id/board_serial").strip() or None,
        },
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
