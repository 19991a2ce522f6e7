# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an MPIJob is, whatever API version it will be said in: a training container, how many, and what each may take."""

from dataclasses import dataclass, fields
from typing import Any, Callable, Mapping

from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import pages_for
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import ENV_NAME, whole_number
from ansible_collections.taco.train.plugins.plugin_utils.check import is_set, truth
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import (
    TrainingSpec,
    plain_path,
    size_bytes,
    spec_for,
    split_mount,
)
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.resources import MpijobError, amount
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.names import require_names

PROFILE = "mpijob"
SHM_PATH = "/dev/shm"
# As many as a cluster may have nodes (kubernetes.io/docs/setup/best-practices/cluster-large).
MOST_WORKERS = 5000
CLEAN_POD_POLICIES = ("Running", "All", "None")
# What of a TrainingSpec can be set for an MPIJob; restarts and limits are not a pod's to choose.
CONTAINER_KEYS = ("image", "name", "command", "gpus", "shm_size", "mounts", "privileged", "network_mode", "environment")


@dataclass(frozen=True)
class Job:
    """An MPIJob. Its command is the launcher's: workers wait to be reached, as their operator has them do."""

    spec: TrainingSpec
    workers: int
    gpus_per_worker: int
    """Ranks on each worker; also devices, unless the spec's gpus is none."""
    namespace: str | None = None
    """None means the one that it is created in."""
    memory: str | int = "100Gi"
    """Of a worker, with the shared memory that its processes use and without its hugepages."""
    hugepages: int | None = None
    """Pages of 1 GiB for each worker. None means the vendor's rule, gpus * 5 + 10."""
    gpu_topology: bool = False
    """Whether ACK places the workers by how their GPUs are connected; the node's label makes their resource another."""
    clean_pod_policy: str = "Running"
    launcher_cpu: str | int = 1
    launcher_memory: str | int = "2Gi"

    @property
    def pages(self) -> int:
        return pages_for(self.gpus_per_worker) if self.hugepages is None else self.hugepages

    @property
    def shm_bytes(self) -> int:
        """Of the shared memory in memory; 0 leaves a container the one that it has by itself."""
        return size_bytes(self.spec.shm_size) if self.spec.shm_size else 0


JOB_KEYS = tuple(field.name for field in fields(Job) if field.name != "spec")
KEYS = (*CONTAINER_KEYS, "mounts_extra", *JOB_KEYS)


def _check_spec(spec: TrainingSpec, has_shm: bool) -> None:
    if spec.ulimits:
        raise MpijobError(
            f"ulimits are {', '.join(spec.ulimits)}: a pod can't set any, so leave them out and set them in the container "
            "runtime of the nodes"
        )
    if not isinstance(spec.gpus, str):
        raise MpijobError("gpus is a list: Kubernetes chooses the devices, so say all or none")
    if spec.network_mode not in (None, "host"):
        raise MpijobError(f"network_mode is {spec.network_mode!r}: a pod has host, or its own when it is left out")
    for name, _value in spec.environment:
        if not ENV_NAME.fullmatch(name):
            raise MpijobError(f"{name!r} can't be the name of an environment variable")
    for mount in map(split_mount, spec.mounts):
        steps = mount.source.split("/")
        if steps[0] or ".." in steps:
            raise MpijobError(
                f"the mount's source {mount.source!r} is no path of a host: expected one from / and without .."
            )
        unknown = [option for option in mount.options if option not in ("ro", "rw")]
        if unknown:
            raise MpijobError(f"the mount of {mount.source} has the option {unknown[0]!r}: a pod's can be ro or rw")
        if has_shm and plain_path(mount.target) == SHM_PATH:
            raise MpijobError(f"a mount has the target {SHM_PATH}, which shm_size makes: leave one of them out")


def _check_amounts(job: Job) -> None:
    for name in ("workers", "gpus_per_worker"):
        if getattr(job, name) < 1:
            raise MpijobError(f"{name} is {getattr(job, name)}: expected 1 or more")
    if job.workers > MOST_WORKERS:
        raise MpijobError(f"workers is {job.workers}: expected at most {MOST_WORKERS}")
    if job.pages < 0:
        raise MpijobError(f"hugepages is {job.pages}: expected 0 or more, each of 1 GiB")
    for name in ("memory", "launcher_cpu", "launcher_memory"):
        if amount(getattr(job, name), name) <= 0:
            raise MpijobError(f"{name} is {getattr(job, name)!r}: expected more than nothing")
    if job.shm_bytes >= amount(job.memory, "memory"):
        raise MpijobError(
            f"shm_size is {job.spec.shm_size} and counts as a worker's memory, which is {job.memory}: raise memory or lower shm_size"
        )


def check_job(job: Job) -> Job:
    """Return the job, or raise what keeps it from being one."""
    _check_spec(job.spec, job.shm_bytes > 0)
    _check_amounts(job)
    require_names(job.spec.name, job.workers, job.namespace)
    if job.clean_pod_policy not in CLEAN_POD_POLICIES:
        raise MpijobError(
            f"clean_pod_policy is {job.clean_pod_policy!r}: expected one of {', '.join(CLEAN_POD_POLICIES)}"
        )
    if job.gpu_topology and job.spec.gpus == "none":
        raise MpijobError("gpu_topology is set and gpus is none: there is nothing to place")
    return job


def _texts(given: dict[str, Any], name: str) -> list[str]:
    if not isinstance(given[name], (list, tuple)):
        raise MpijobError(f"{name} is {given[name]!r}: expected a list")
    return [str(item) for item in given[name]]


def _environment(given: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(given[name], Mapping):
        raise MpijobError(f"{name} is {given[name]!r}: expected a mapping of names to values")
    unset = [key for key, value in given[name].items() if value is None]
    if unset:
        raise MpijobError(f"the environment variable {unset[0]} has no value")
    return dict(given[name])


def _gpus(given: dict[str, Any], name: str) -> Any:
    if given[name] in ("all", "none") or isinstance(given[name], (list, tuple)):
        return given[name]
    raise MpijobError(f"gpus is {given[name]!r}: expected all or none; how many there are is gpus_per_worker")


def _number(given: dict[str, Any], name: str) -> int:
    number = whole_number(given[name])
    if number is None:
        raise MpijobError(f"{name} is {given[name]!r}: expected a whole number")
    return number


def _quantity(given: dict[str, Any], name: str) -> str | int:
    # A float can be no quantity in a manifest, its text can. amount() finds what is none.
    whole = isinstance(given[name], int) and not isinstance(given[name], bool)
    return int(given[name]) if whole else str(given[name]).strip()


def _text(given: dict[str, Any], name: str) -> str:
    return str(given[name])


def _truth(given: dict[str, Any], name: str) -> bool:
    return truth(given[name])


READ: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "command": _texts,
    "mounts": _texts,
    "mounts_extra": _texts,
    "environment": _environment,
    "gpus": _gpus,
    "privileged": _truth,
    "gpu_topology": _truth,
    "workers": _number,
    "gpus_per_worker": _number,
    "hugepages": _number,
    "memory": _quantity,
    "launcher_cpu": _quantity,
    "launcher_memory": _quantity,
}


def job_of(options: Mapping[str, Any]) -> Job:
    """Return the job that options describe. What is None, or the empty text of a templated null, has its default."""
    if not isinstance(options, Mapping):
        raise MpijobError(f"an MPIJob is described by a mapping, and this is none: {options!r}")
    unknown = sorted(str(key) for key in set(options) - set(KEYS))
    if unknown:
        raise MpijobError(f"an MPIJob has no {unknown[0]}; it has {', '.join(KEYS)}")
    given = {name: value for name, value in options.items() if is_set(value)}
    for name in ("workers", "gpus_per_worker"):
        if name not in given:
            raise MpijobError(f"{name} is not set: expected how many there are, such as 8")
    read: dict[str, Any] = {name: READ[name](given, name) if name in READ else _text(given, name) for name in given}
    container = {name: read[name] for name in CONTAINER_KEYS if name in read}
    spec = spec_for(PROFILE, container, read.get("mounts_extra", ()))
    return check_job(Job(spec=spec, **{name: read[name] for name in JOB_KEYS if name in read}))
