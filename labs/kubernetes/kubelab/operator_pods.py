# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts that the MPI Operator makes of an MPIJob, in each version."""

import base64
import copy

from ansible_collections.taco.train.plugins.module_utils.cluster.names import worker_hosts, worker_pods
from kubelab import ssh_key

KUBEXEC = '#!/bin/sh\nset -x\nPOD_NAME=$1\nshift\n/opt/kube/kubectl exec ${POD_NAME} -- /bin/sh -c "$*"\n'
SSH_MOUNT = "/root/.ssh"


def _specs(job):
    return (job.get("spec") or {}).get("mpiReplicaSpecs") or {}


def _replica(version, job, role):
    """Return the count and the template of a role."""
    if version == "v1alpha1":
        spec = job.get("spec") or {}
        return (spec.get("replicas", 1) if role == "Worker" else 1), spec.get("template") or {}
    found = _specs(job).get(role) or {}
    return found.get("replicas", 1), found.get("template") or {}


def problem(version, job):
    """The reason why the operator ignores an accepted job, or None."""
    if version == "v1alpha1":
        return None if (job.get("spec") or {}).get("template") else "spec.template: Required value"
    for role in ("Launcher", "Worker"):
        count, template = _replica(version, job, role)
        where = f"spec.mpiReplicaSpecs[{role}]"
        if role not in _specs(job):
            return (
                f"Found validation errors: {where}: Required value: must have {role} replica spec"
                if role == "Launcher"
                else None
            )
        if role == "Launcher" and count != 1:
            return f"Found validation errors: {where}.replicas: Invalid value: {count}: must be 1"
        if role == "Worker" and count < 1:
            return (
                f"Found validation errors: {where}.replicas: Invalid value: {count}: must be greater than or equal to 1"
            )
        if not (template.get("spec") or {}).get("containers"):
            return f"Found validation errors: {where}.template.spec.containers: Required value: must define at least one container"
    return None


def replicas(version, job):
    if version != "v1alpha1" and "Worker" not in _specs(job):
        return 0
    return _replica(version, job, "Worker")[0]


def slots(job):
    return (job.get("spec") or {}).get("slotsPerWorker") or 1


def suspended(job):
    return bool(((job.get("spec") or {}).get("runPolicy") or {}).get("suspend"))


def clean_pod_policy(version, job):
    spec = job.get("spec") or {}
    # MPI Operator 0.3 doesn't read the one in runPolicy.
    return (
        (spec.get("runPolicy") or {}).get("cleanPodPolicy", "None")
        if version == "v2beta1"
        else spec.get("cleanPodPolicy", "None")
    )


def labels(version, job, role, index=None):
    name = job["metadata"]["name"]
    if version == "v1":
        return {"group-name": "kubeflow.org", "mpi-job-name": name, "mpi-job-role": role}
    if version == "v1alpha1":
        return {"group_name": "kubeflow.org", "mpi_job_name": name, "mpi_role_type": role}
    found = {
        "training.kubeflow.org/operator-name": "mpi-operator",
        "training.kubeflow.org/job-name": name,
        "training.kubeflow.org/job-role": role,
    }
    return found if index is None else {**found, "training.kubeflow.org/replica-index": str(index)}


def role(pod):
    found = pod["metadata"].get("labels") or {}
    return next(
        (found[key] for key in ("mpi-job-role", "mpi_role_type", "training.kubeflow.org/job-role") if key in found),
        None,
    )


def config_map(version, job):
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    count = replicas(version, job)
    hosts = worker_hosts("v2beta1" if version == "v2beta1" else "v1", name, count, slots(job), namespace)
    sign = " slots="
    data = {"hostfile": "".join(f"{host['name']}{sign}{host['slots']}\n" for host in hosts)}
    if version != "v2beta1":
        data["kubexec.sh"] = KUBEXEC
    return {"metadata": {"name": f"{name}-config", "labels": {"app": name}}, "data": data}


def service(job):
    name = job["metadata"]["name"]
    selector = labels("v2beta1", job, "worker")
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": {"clusterIP": "None", "selector": selector}}


def ssh_secret(job):
    private, public = ssh_key.pair()
    data = {"ssh-privatekey": private, "ssh-publickey": public}
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    name = job["metadata"]["name"]
    return {
        "metadata": {"name": f"{name}-ssh", "labels": {"app": name}},
        "type": "kubernetes.io/ssh-auth",
        "data": encoded,
    }


def _pod(version, job, role_name, name, index=None):
    _count, template = _replica(version, job, role_name.capitalize())
    template = copy.deepcopy(template)
    metadata = template.get("metadata") or {}
    spec = template["spec"]
    spec.setdefault("restartPolicy", "Never")
    items = [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]
    if version != "v2beta1":
        items.insert(0, {"key": "kubexec.sh", "path": "kubexec.sh", "mode": 0o555})
    config = {"name": "mpi-job-config", "configMap": {"name": f"{job['metadata']['name']}-config", "items": items}}
    spec["volumes"] = [*(spec.get("volumes") or []), config]
    if version == "v2beta1":
        paths = (("ssh-privatekey", "id_rsa"), ("ssh-publickey", "id_rsa.pub"), ("ssh-publickey", "authorized_keys"))
        secret = {"secretName": f"{job['metadata']['name']}-ssh", "defaultMode": 0o600}
        secret["items"] = [{"key": key, "path": path} for key, path in paths]
        spec["volumes"].append({"name": "ssh-auth", "secret": secret})
    return {
        "metadata": {
            "name": name,
            "labels": {**(metadata.get("labels") or {}), **labels(version, job, role_name, index)},
            "annotations": metadata.get("annotations") or {},
        },
        "spec": spec,
    }


def _mount(version, job, container):
    mounts = [*(container.get("volumeMounts") or []), {"name": "mpi-job-config", "mountPath": "/etc/mpi"}]
    if version == "v2beta1":
        path = (job.get("spec") or {}).get("sshAuthMountPath") or SSH_MOUNT
        mounts.append({"name": "ssh-auth", "mountPath": path})
    container["volumeMounts"] = mounts


def workers(version, job):
    found = []
    for index, name in enumerate(worker_pods(job["metadata"]["name"], replicas(version, job))):
        pod = _pod(version, job, "worker", name, index)
        container = pod["spec"]["containers"][0]
        if version == "v2beta1":
            if not container.get("command") and not container.get("args"):
                container["command"] = ["/usr/sbin/sshd", "-De"]
            pod["spec"].update(hostname=name, subdomain=job["metadata"]["name"])
        elif not container.get("command") or version == "v1alpha1":
            container.update(command=["sleep"], args=["365d"])
        _mount(version, job, container)
        found.append(pod)
    return found


def launcher(version, job, name=None):
    """Return the launcher's pod, or the one that its Job has for a template."""
    pod = _pod(version, job, "launcher", name or f"{job['metadata']['name']}-launcher")
    container = pod["spec"]["containers"][0]
    environment = {"OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile"}
    if version == "v2beta1":
        environment.update(
            OMPI_MCA_orte_keep_fqdn_hostnames="true",
            OMPI_MCA_plm_rsh_args="-o ConnectionAttempts=10",
            OMPI_MCA_orte_set_default_slots=str(slots(job)),
        )
    else:
        environment["OMPI_MCA_plm_rsh_agent"] = "/etc/mpi/kubexec.sh"
        delivery = {"name": "kubectl-delivery", "image": "mpioperator/kubectl-delivery:latest"}
        pod["spec"]["initContainers"] = [*(pod["spec"].get("initContainers") or []), delivery]
    if version == "v1alpha1":
        container["resources"] = {}
    container["env"] = [
        *(container.get("env") or []),
        *({"name": key, "value": value} for key, value in environment.items()),
    ]
    _mount(version, job, container)
    return pod


def launcher_job(version, job):
    pod = launcher(version, job)
    spec = job.get("spec") or {}
    limit = spec.get("backoffLimit") if version == "v1alpha1" else (spec.get("runPolicy") or {}).get("backoffLimit")
    template = {"metadata": {key: pod["metadata"][key] for key in ("labels", "annotations")}, "spec": pod["spec"]}
    return {
        "metadata": {"name": f"{job['metadata']['name']}-launcher", "labels": {"app": job["metadata"]["name"]}},
        "spec": {"template": template, **({"backoffLimit": limit} if limit is not None else {})},
    }
