# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The MPIJob that `arena submit mpi` makes, and what `arena get` says of one. Values in, values out.

After the chart mpijob and pkg/apis/types of https://github.com/kubeflow/arena, commit e30882c1.
"""

import datetime

from kubelab.quantities import requests_of

TOPOLOGY_LABEL, TOPOLOGY_REPLICA_LABEL = "gpu-topology", "gpu-topology-replica"
GPUS = ("nvidia.com/gpu", "aliyun.com/gpu")
ROLE = "mpi_role_type"


def _pairs(texts, sign, what):
    found = {}
    for text in texts:
        key, there, value = text.partition(sign)
        if not there or not key:
            raise ValueError(f"invalid {what}: {text!r}: expected key{sign}value")
        found[key] = value
    return found


def _volumes(given):
    volumes, mounts = [], []
    for number, (source, target) in enumerate(_pairs(given.data_dir, ":", "data-dir").items()):
        name = f"training-data-{number}"
        volumes.append({"name": name, "hostPath": {"path": source}})
        mounts.append({"name": name, "mountPath": target})
    if not given.gputopology and given.share_memory:
        volumes.append({"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": given.share_memory}})
        mounts.append({"name": "dshm", "mountPath": "/dev/shm"})
    return volumes, mounts


def manifest(given):
    """Return the MPIJob of a submit command."""
    labels = {
        "app": "mpijob",
        "chart": "mpijob-0.32.0",
        "release": given.name,
        "heritage": "Helm",
        "createdBy": "MPIJob",
    }
    labels.update(_pairs(given.label, "=", "label"))
    limits = {}
    if given.gpus:
        limits["aliyun.com/gpu" if given.gputopology else "nvidia.com/gpu"] = str(given.gpus)
    for name in ("cpu", "memory"):
        if getattr(given, name):
            limits[name] = getattr(given, name)
    volumes, mounts = _volumes(given)
    container = {
        "name": "mpi",
        "image": given.image,
        "command": ["sh", "-c", " ".join(given.command)],
        "resources": {"limits": limits, "requests": dict(limits)},
        "env": [{"name": name, "value": value} for name, value in _pairs(given.env, "=", "env").items()],
        "volumeMounts": mounts,
    }
    spec = {"restartPolicy": "Never", "volumes": volumes, "containers": [container]}
    selector = _pairs(given.selector, "=", "selector")
    if selector:
        spec["nodeSelector"] = selector
    if given.gputopology or given.hostNetwork:
        spec.update(hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")
    pod_labels = dict(labels)
    if given.gputopology:
        pod_labels.update({TOPOLOGY_LABEL: given.name, TOPOLOGY_REPLICA_LABEL: str(given.workers)})
    template = {
        "metadata": {"labels": pod_labels, "annotations": _pairs(given.annotation, "=", "annotation")},
        "spec": spec,
    }
    return {
        "apiVersion": "kubeflow.org/v1alpha1",
        "kind": "MPIJob",
        "metadata": {"name": given.name, "labels": labels},
        "spec": {
            "replicas": given.workers,
            "slotsPerWorker": given.gpus or 1,
            "cleanPodPolicy": given.clean_task_policy,
            "template": template,
        },
    }


def _age(text):
    begun = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    seconds = int((datetime.datetime.now(datetime.timezone.utc) - begun).total_seconds())
    return f"{seconds // 60}m" if seconds > 120 else f"{seconds}s"


def _gpus(pod):
    asked = requests_of(pod)
    return int(sum(asked.get(name, 0) for name in GPUS))


def is_chief(pod):
    return (pod["metadata"].get("labels") or {}).get(ROLE) == "launcher"


def status_of(job, pods):
    """Return the word that Arena has for a job."""
    said = (job.get("status") or {}).get("launcherStatus")
    if said in ("Succeeded", "Failed"):
        return said.upper()
    chiefs = [pod for pod in pods if is_chief(pod)]
    return "RUNNING" if any(pod["status"].get("phase") == "Running" for pod in chiefs) else "PENDING"


def _instance(pod):
    status = pod.get("status") or {}
    return {
        "ip": status.get("podIP", "N/A"),
        "status": status.get("phase", "Pending"),
        "name": pod["metadata"]["name"],
        "age": _age(pod["metadata"]["creationTimestamp"]),
        "node": pod["spec"].get("nodeName") or "N/A",
        "nodeIP": status.get("hostIP", "N/A"),
        "chief": is_chief(pod),
        "requestGPUs": _gpus(pod),
        "gpuMetrics": {},
    }


def info(job, pods):
    """The output of `arena get --output=json` for a job."""
    chief = next((pod["metadata"]["name"] for pod in pods if is_chief(pod)), "")
    requested = sum(map(_gpus, pods))
    running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
    return {
        "uuid": job["metadata"]["uid"],
        "name": job["metadata"]["name"],
        "namespace": job["metadata"]["namespace"],
        "duration": _age(job["metadata"]["creationTimestamp"]),
        "status": status_of(job, pods),
        "trainer": "mpijob",
        "tensorboard": "",
        "chiefName": chief,
        "instances": [_instance(pod) for pod in sorted(pods, key=lambda pod: pod["metadata"]["name"])],
        "priority": "N/A",
        "requestGPUs": requested,
        "allocatedGPUs": sum(map(_gpus, running)),
    }
