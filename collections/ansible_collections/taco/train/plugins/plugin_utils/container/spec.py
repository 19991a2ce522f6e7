# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a training container is, said once, and how each engine wants to be told. Values in, values out."""

import re
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

# What HARP reads and writes on the host: PCI devices, hugepages, NUMA nodes, its own tools and configuration. These two
# are the only lists of these mounts in the collection: that of the documents' `docker run`, and that of their MPIJob.
HARP_MOUNTS = (
    "/sys/bus/pci/devices:/sys/bus/pci/devices",
    "/sys/kernel/mm/hugepages/:/sys/kernel/mm/hugepages/",
    "/sys/devices/system/node:/sys/devices/system/node",
    "/dev/hugepages/:/dev/hugepages/",
    "/dev/:/dev/",
    "/usr/local/tfabric/tools:/usr/local/tfabric/tools",
)
HARP_POD_MOUNTS = (
    "/sys/:/sys/",
    "/dev/hugepages/:/dev/hugepages",
    "/usr/local/tfabric/tools/:/usr/local/tfabric/tools",
)
SHM_SIZE = "32g"
# What may not be empty, and the variable that gives it.
REQUIRED = {"image": "taco_image", "name": "taco_container_name"}
ULIMITS = ("memlock=-1", "stack=67108864")

# The documents' three `docker run` lines. The HARP line has neither --shm-size nor --ulimit: the profile doesn't add
# them, callers do (the role training_container does, since NCCL can exhaust the engine's 64 MB within a host).
# The fourth is their MPIJob, whose command is the launcher's; to it the profile does add the shared memory.
PROFILES: dict[str, dict[str, Any]] = {
    "ttf": {"shm_size": SHM_SIZE, "ulimits": ULIMITS},
    "lightcc": {"shm_size": SHM_SIZE, "ulimits": ULIMITS, "privileged": True, "network_mode": "host"},
    "harp": {"mounts": HARP_MOUNTS, "privileged": True, "network_mode": "host"},
    "mpijob": {
        "image": "ccr.ccs.tencentyun.com/qcloud/taco-train:ttf115-cu112-cvm-0.4.1",
        "name": "taco-bench",
        "command": ("/bin/sh", "-ec", "sleep infinity"),
        "mounts": HARP_POD_MOUNTS,
        "privileged": True,
        "shm_size": SHM_SIZE,
    },
}
DOCKER_PROFILES = ("harp", "lightcc", "ttf")

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([bkmgtKMGTB]?)[bB]?")
_UNITS = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
# An index, or a UUID of a GPU or of a part of one.
_GPU = re.compile(r"[0-9]+|(GPU|MIG)-[0-9A-Za-z/-]+")
_ULIMIT = re.compile(r"[a-z]+=-?[0-9]+(:-?[0-9]+)?")


@dataclass(frozen=True)
class TrainingSpec:
    """A training container. None and empty mean what the engine does by itself."""

    image: str
    name: str
    # The documents run the containers interactively (-it --rm). Automation wants them detached and kept, with an init
    # process that reaps what mpirun leaves behind and a command that does nothing until the engine says stop.
    command: tuple[str, ...] = ("sleep", "infinity")
    gpus: str | tuple[str, ...] = "all"
    shm_size: str | None = None
    ulimits: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    privileged: bool = False
    network_mode: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    restart_policy: str = "unless-stopped"


class Mount(NamedTuple):
    """A part of the host that a container sees. The paths are as they were written."""

    source: str
    target: str
    options: tuple[str, ...]


def split_mount(mount: str) -> Mount:
    """Return source:target or source:target:options taken apart."""
    parts = mount.split(":")
    if len(parts) not in (2, 3) or not parts[0] or not parts[1].startswith("/"):
        raise InvalidValueError(f"the mount {mount!r} can't be read: expected source:target or source:target:options")
    return Mount(parts[0], parts[1], tuple(parts[2].split(",")) if len(parts) == 3 else ())


def plain_path(path: str) -> str:
    """Return a path without the slashes at its end, by which two spellings of one are known."""
    return path.rstrip("/") or "/"


def mount_folders(spec: TrainingSpec) -> list[str]:
    """Return the folders of the host that the engine creates for the mounts where they are missing. Volumes have names instead."""
    sources = [plain_path(split_mount(mount).source) for mount in spec.mounts]
    return [path for path in sources if path.startswith("/") and not path.startswith(("/dev", "/proc", "/sys"))]


def size_bytes(size: str) -> int:
    """Return the bytes of a size as `docker run` takes it, such as V(32g); its units are powers of 1024."""
    read = _SIZE.fullmatch(size)
    if not read:
        raise InvalidValueError(f"shm_size is {size!r}: expected a size such as 32g")
    return int(Decimal(read.group(1)) * _UNITS[read.group(2).lower()])


def check_ulimit(limit: str) -> None:
    """Refuse a limit that `docker run` would not take."""
    if not _ULIMIT.fullmatch(limit):
        raise InvalidValueError(
            f"the ulimit {limit!r} can't be read: expected name=value or name=soft:hard, as in memlock=-1"
        )


def read_gpus(value: Any) -> Any:
    """The GPUs of a container: all, none, or a list of them, also from a text with commas."""
    if isinstance(value, (int, float)):
        raise InvalidValueError(f"gpus is {value}: expected all, none, or a list of indexes or UUIDs")
    if isinstance(value, str) and value not in ("all", "none"):
        value = [item.strip() for item in value.split(",")]
    if isinstance(value, (list, tuple)) and not all(_GPU.fullmatch(str(item)) for item in value):
        raise InvalidValueError(f"gpus is {value}: expected all, none, or a list of indexes or UUIDs")
    if isinstance(value, Mapping):
        raise InvalidValueError(f"gpus is {value}: expected all, none, or a list of indexes or UUIDs")
    return value


def _check(spec: TrainingSpec) -> TrainingSpec:
    for field in REQUIRED:
        if not getattr(spec, field):
            raise InvalidValueError(f"{field} is empty: set {REQUIRED[field]}")
    if isinstance(spec.gpus, str) and spec.gpus not in ("all", "none"):
        raise InvalidValueError(f"gpus is {spec.gpus!r}: expected all, none, or a list of indexes or UUIDs")
    if not spec.gpus:
        raise InvalidValueError("gpus is an empty list: say none for a container without GPUs")
    if spec.shm_size:
        size_bytes(spec.shm_size)
    for limit in spec.ulimits:
        check_ulimit(limit)
    targets = [plain_path(split_mount(mount).target) for mount in spec.mounts]
    for target in targets:
        if targets.count(target) > 1:
            raise InvalidValueError(f"two mounts have the target {target}: take one out of mounts or mounts_extra")
    return spec


def spec_for(
    profile: str, overrides: Mapping[str, Any], extra_mounts: tuple[str, ...] | list[str] = ()
) -> TrainingSpec:
    """Return the spec of a profile, in which every override that isn't None has replaced the profile's value."""
    if profile not in PROFILES:
        raise InvalidValueError(f"there is no profile {profile!r}: expected one of {', '.join(sorted(PROFILES))}")
    names = {field.name for field in fields(TrainingSpec)}
    unknown = sorted(set(overrides) - names)
    if unknown:
        raise InvalidValueError(f"a training container has no {', '.join(unknown)}")
    values = dict(PROFILES[profile])
    values.update((name, value) for name, value in overrides.items() if value is not None)
    for name in ("command", "ulimits", "mounts"):
        if name in values:
            values[name] = tuple(str(item) for item in values[name])
    if not isinstance(values.get("gpus", "all"), str):
        values["gpus"] = tuple(str(item) for item in values["gpus"])
    if isinstance(values.get("environment"), Mapping):
        values["environment"] = tuple(sorted((str(key), str(value)) for key, value in values["environment"].items()))
    for name in ("image", "name"):
        values.setdefault(name, "")
    spec = TrainingSpec(**values)
    return _check(replace(spec, mounts=spec.mounts + tuple(extra_mounts)))


def _docker_ulimit(limit: str) -> str:
    """Return memlock=-1 as memlock:-1:-1."""
    name, _equals, value = limit.partition("=")
    soft, _colon, hard = value.partition(":")
    return f"{name}:{soft}:{hard or soft}"


def _device_requests(gpus: str | tuple[str, ...]) -> list[dict[str, Any]]:
    if gpus == "none":
        return []
    if gpus == "all":
        return [{"driver": "", "count": -1, "capabilities": [["gpu"]]}]
    return [{"driver": "", "device_ids": list(gpus), "capabilities": [["gpu"]]}]


def docker_container_options(spec: TrainingSpec) -> dict[str, Any]:
    """Return the options of community.docker.docker_container that describe the container, and no others."""
    options: dict[str, Any] = {
        "name": spec.name,
        "image": spec.image,
        "command": list(spec.command),
        "init": True,
        "privileged": spec.privileged,
        "device_requests": _device_requests(spec.gpus),
        "ulimits": [_docker_ulimit(limit) for limit in spec.ulimits],
        "volumes": list(spec.mounts),
        "env": dict(spec.environment),
        "restart_policy": spec.restart_policy,
    }
    if spec.shm_size:
        options["shm_size"] = spec.shm_size
    if spec.network_mode:
        options["network_mode"] = spec.network_mode
    return options


def docker_run_argv(spec: TrainingSpec) -> list[str]:
    """Return the `docker run` command that starts the same container, for people and for comparing."""
    argv = ["docker", "run", "--detach", "--init", "--restart", spec.restart_policy, "--name", spec.name]
    if spec.gpus != "none":
        argv += ["--gpus", "all" if spec.gpus == "all" else "device=" + ",".join(spec.gpus)]
    if spec.privileged:
        argv.append("--privileged")
    if spec.network_mode:
        argv += ["--network", spec.network_mode]
    if spec.shm_size:
        argv += ["--shm-size", spec.shm_size]
    for limit in spec.ulimits:
        argv += ["--ulimit", limit]
    for mount in spec.mounts:
        argv += ["--volume", mount]
    for key, value in spec.environment:
        argv += ["--env", f"{key}={value}"]
    return argv + [spec.image] + list(spec.command)
