# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render a job as the manifest of an MPIJob. Values in, values out.

In v1, with its defaults and 4 workers of 8 GPUs, it says everything that the vendor's example for TKE does, and differs
in this:

- slotsPerWorker is the number of GPUs and not 1. Open MPI takes the operator's hostfile, which has these slots, together
  with -H, and may find too few for `-H host:8` (https://github.com/open-mpi/ompi/issues/3133).
- The worker has a /dev/shm in memory. NCCL's processes of one host talk through it, and a container's own has 64 MB.
- Requests are written out. They equal the limits, as Kubernetes would fill them in.
- In v1 cleanPodPolicy stands in the spec too: MPI Operator 0.3 reads it only there, and Training Operator in runPolicy.
"""

from typing import Any

from ansible_collections.taco.train.plugins.module_utils.cluster.names import GROUP, KIND, require_version
from ansible_collections.taco.train.plugins.module_utils.cluster.owner import LABELS
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    GPU,
    HUGEPAGES,
    TOPOLOGY_GPU,
    TOPOLOGY_LABEL,
    TOPOLOGY_REPLICA_LABEL,
    binary_quantity,
)
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import plain_path, split_mount
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import SHM_PATH, Job, check_job

SHM_VOLUME = "dshm"
# The documents' names for the volumes of HARP, by the host's path.
VOLUME_NAMES = {"/sys": "sys", "/dev/hugepages": "dev-hge", "/usr/local/tfabric/tools": "tfabric"}


def as_it_is(text: str) -> str:
    """Return a text that Kubernetes leaves as it is: it replaces $(NAME) in commands and environments, and $$ by $."""
    return text.replace("$", "$$") if "$(" in text or "$$" in text else text


def _volumes(job: Job) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the worker's volumes and its container's mounts of them; a path that is mounted twice is one volume."""
    volumes: dict[str, dict[str, Any]] = {}
    mounts = []
    for mount in map(split_mount, job.spec.mounts):
        path = plain_path(mount.source)
        if path not in volumes:
            name = VOLUME_NAMES.get(path, f"mount-{len(volumes)}")
            volumes[path] = {"name": name, "hostPath": {"path": mount.source}}
        mounts.append({"mountPath": mount.target, "name": volumes[path]["name"]})
        if "ro" in mount.options:
            mounts[-1]["readOnly"] = True
    shared = []
    if job.shm_bytes:
        memory = {"medium": "Memory", "sizeLimit": binary_quantity(job.shm_bytes)}
        shared = [{"name": SHM_VOLUME, "emptyDir": memory}]
        mounts.append({"mountPath": SHM_PATH, "name": SHM_VOLUME})
    return [*volumes.values(), *shared], mounts


def _resources(limits: dict[str, Any]) -> dict[str, Any]:
    return {"limits": limits, "requests": dict(limits)}


def worker_limits(job: Job) -> dict[str, str | int]:
    """Return what each worker asks for, by the name of the resource."""
    limits: dict[str, str | int] = {}
    if job.pages:
        limits[HUGEPAGES] = f"{job.pages}Gi"
    limits["memory"] = job.memory
    if job.spec.gpus == "all":
        limits[TOPOLOGY_GPU if job.gpu_topology else GPU] = job.gpus_per_worker
    return limits


def _container(job: Job, name: str, limits: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = {"image": job.spec.image, "name": name, "resources": _resources(limits)}
    if job.spec.environment:
        container["env"] = [{"name": key, "value": as_it_is(value)} for key, value in job.spec.environment]
    return container


def _launcher(job: Job) -> dict[str, Any]:
    container = _container(job, "mpi-launcher", {"cpu": job.launcher_cpu, "memory": job.launcher_memory})
    if job.spec.command:
        container["command"] = [as_it_is(word) for word in job.spec.command]
    return container


def _worker(job: Job, mounts: list[dict[str, Any]]) -> dict[str, Any]:
    container = _container(job, "mpi-worker", worker_limits(job))
    if job.spec.privileged:
        container["securityContext"] = {"privileged": True}
    if mounts:
        container["volumeMounts"] = mounts
    return container


def _replica(job: Job, replicas: int, container: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = {"containers": [container]}
    if job.spec.network_mode == "host":
        pod.update(hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")
    return {"replicas": replicas, "template": {"spec": pod}}


def manifest(job: Job, version: str = "v1") -> dict[str, Any]:
    """Return the MPIJob in an API version, one of mpijob_names.VERSIONS."""
    require_version(version)
    check_job(job)
    volumes, mounts = _volumes(job)
    launcher = _replica(job, 1, _launcher(job))
    worker = _replica(job, job.workers, _worker(job, mounts))
    if volumes:
        worker["template"]["spec"]["volumes"] = volumes
    if job.gpu_topology:
        # Only the workers: all pods that are placed together must ask for the same, and the launcher has no GPU.
        labels = {TOPOLOGY_LABEL: job.spec.name, TOPOLOGY_REPLICA_LABEL: str(job.workers)}
        worker["template"]["metadata"] = {"labels": labels}
    spec: dict[str, Any] = {
        "slotsPerWorker": job.gpus_per_worker,
        "runPolicy": {"cleanPodPolicy": job.clean_pod_policy},
        "mpiReplicaSpecs": {"Launcher": launcher, "Worker": worker},
    }
    if version == "v1":
        spec["cleanPodPolicy"] = job.clean_pod_policy
    metadata: dict[str, Any] = {"name": job.spec.name, "labels": dict(LABELS)}
    if job.namespace:
        metadata["namespace"] = job.namespace
    return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "metadata": metadata, "spec": spec}
