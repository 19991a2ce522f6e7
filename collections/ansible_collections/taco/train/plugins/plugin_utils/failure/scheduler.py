# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that Kubernetes and its registry report, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.images import IMAGES
from ansible_collections.taco.train.plugins.plugin_utils.failure.resources import EVICTED, NOT_STARTED, PENDING

SCHEDULER = [
    cause(
        # Status 401: who asks is not known. No right of a role changes that.
        "kube_access",
        r"You must be logged in to the server|asked for the client to provide credentials|unable to upgrade connection: Unauthorized|"
        r"\b401 Unauthorized\b.{0,80}(?:api|kube)|x509: certificate has expired|invalid bearer token|service account token has "
        r"(?:expired|been invalidated)",
        "the API server of Kubernetes does not accept the token of the launcher (401 Unauthorized)",
        "check the token of the launcher's service account (/var/run/secrets/kubernetes.io/serviceaccount): its Secret still exists, it "
        "has not expired, and all API servers have the same service-account keys; then run the mpijob role again",
    ),
    cause(
        # Status 403: the right is missing.
        "kube_access",
        r"unable to upgrade connection: Forbidden|\(Forbidden\): .{0,40}?pods? \"(?P<host>[^\"]+)\" is forbidden(?!: exceeded quota)|"
        r"cannot create resource \"pods/exec\"|User \"system:serviceaccount:[^\"]+\" cannot ",
        "the API server of Kubernetes does not let the launcher execute commands in the pods",
        "give the launcher's service account the right to create pods/exec (kubectl auth can-i create pods/exec --as=...), or use an "
        "MPI Operator that starts ranks by ssh",
    ),
    cause(
        "kube_object",
        r"no matches for kind \"(?P<kind>[^\"]{1,80})\".{0,120}|the server doesn't have a resource type \"(?P<kind2>[^\"]{1,80})\"|"
        r"could not find the requested resource.{0,80}",
        "Kubernetes knows no objects of the kind {kind}: its operator is not installed, or has another version",
        "install the operator and its CustomResourceDefinitions (kubectl get crd, kubectl api-resources), in the version of the API that "
        "the job names",
    ),
    cause(
        "kube_object",
        r"(?P<why>failed calling webhook .{1,200}|admission webhook \"[^\"]{1,120}\" denied the request.{0,200}|ValidationError\(.{1,160}|"
        r"is invalid: spec.{1,160}|pods \"[^\"]{1,200}\" is forbidden: (?!User |exceeded quota|must specify).{1,200})",
        "Kubernetes does not take an object of the job ({why})",
        "change what the message names in the job (mpijob_* variables), or what is missing for it: the service account, the policy of the "
        "namespace (Pod Security), the webhook's pods",
    ),
    cause(
        "pod_absent",
        r'(?:Error from server \(NotFound\): )?pods? "(?P<host>[^"]+)" not found',
        "the pod {host} does not exist",
        "look at the pods' events (kubectl describe pod), and run the mpijob role",
    ),
    *PENDING,
    cause(
        # The device plugin's word of a GPU or an adapter.
        "pod_pending",
        r"Allocate failed due to (?P<why>no healthy devices present.{0,100}|can't allocate unregistered device.{0,80}|device "
        r"plugin GetPreferredAllocation.{0,160})",
        NOT_STARTED,
        "look at the devices of that node: nvidia-smi and dmesg (Xid) there, and the log of the device plugin; drain the node, and "
        "reset the GPU or reboot it",
    ),
    cause(
        # Volcano, and others that start all pods of a group or none. The rest of the sentence may be in the next line.
        "pod_pending",
        r"(?P<why>(?:\d+/\d+ tasks in gang unschedulable|pod group is not ready, \d|resource in cluster is overused|queue resource quota "
        r"insufficient)[^\"']{0,200}?)(?=,?[\"']?\s*$)|\breason: (?P<why2>NotEnoughResources)\s*$",
        "a group of pods can't be scheduled together: the resources for all of them are missing ({why})",
        "see what is short (kubectl describe podgroup, kubectl describe node), and free it (GPUs, CPUs, memory of other pods), or ask for "
        "less: mpijob_workers, mpijob_gpus_per_worker, mpijob_memory; the launcher is a pod of the group, too",
    ),
    cause(
        # Kueue.
        "pod_pending",
        r"couldn't assign flavors to pod set \S+: (?P<why>.{1,200})",
        "Kueue does not admit the job ({why})",
        "request what the queue has (kubectl describe clusterqueue, workload): mpijob_workers, mpijob_gpus_per_worker, mpijob_memory; else "
        "wait for other jobs",
    ),
    cause(
        "pod_pending",
        r"Failed to create pod sandbox: (?P<why>.{0,240}(?:failed to assign an IP address|no IP addresses available|cni plugin not "
        r"initialized|failed to setup network|failed to set up sandbox container).{0,120})",
        NOT_STARTED,
        "look at the network plugin of that node: its pods (kubectl get pods -n kube-system), its addresses that are left, its log",
    ),
    cause(
        "lost_node",
        r"Pod was terminated in response to imminent node shutdown|in response to node shutdown",
        "a node was shut down, and Kubernetes ended its pods",
        "find out why the node was shut down (maintenance, or a reclaimed spot instance), and run the mpijob role again",
    ),
    cause(
        "pod_pending",
        r"(?P<why>(?P<object>(?:configmap|secret|persistentvolumeclaim) \"[^\"]{1,120}\") not found|couldn't find key \S+ in "
        r"(?P<object2>(?:ConfigMap|Secret) \S+))",
        NOT_STARTED,
        "create the {object} in the job's namespace; those of the job itself are made by the MPI Operator: look at its log",
    ),
    cause(
        "pod_pending",
        r"\d+/\d+ nodes are available: (?P<why>.{1,200})|(?P<why3>no nodes available to schedule pods)|(?P<quota>exceeded quota: .{1,160})",
        "Kubernetes did not start a pod ({why}{quota})",
        "request what the nodes and the quota have (kubectl describe node, kubectl describe quota), or free it",
    ),
    cause(
        "pod_pending",
        r"(?P<why>MountVolume\.\w+ failed for volume .{1,160}|"
        r"Unable to attach or mount volumes: .{1,160}|Failed to create pod sandbox: (?!.{0,200}no runtime for).{1,160}|"
        r"Allocate failed due to requested number of devices unavailable.{1,120}|pod (?P<host>\S+) does not have a host assigned)",
        NOT_STARTED,
        "look at the pod's events (kubectl describe pod): its volumes (mpijob_mounts), its network, and the devices that its node has free",
    ),
    cause(
        # A symptom: the events of this pod or of another one have the reason.
        "pod_pending",
        r"is (?P<why>waiting to start: (?:ContainerCreating|PodInitializing))|\b(?P<why2>CreateContainerConfigError)\b",
        NOT_STARTED,
        "look at the pod's events (kubectl describe pod); a launcher waits for its workers, so look at theirs as well",
    ),
    cause(
        "pod_container",
        r"unable to upgrade connection: container not found \(\"(?P<container>[^\"]{1,253})\"\)",
        "the container {container} of a pod is not running",
        "see why it ended or has not started (kubectl get pods, kubectl describe pod, kubectl logs --previous), then run the mpijob role "
        "again",
    ),
    cause(
        "cluster",
        r"error executing command in container: (?P<why5>.{1,160})|Unable to connect to the server: (?P<why>.{1,160})|"
        r"The connection to the server \S+ was refused|dial tcp \S+:10250: (?P<why4>.{1,120})|error dialing backend: (?P<why2>.{1,160})|"
        r"unable to upgrade connection: (?P<why3>.{1,120})",
        "Kubernetes did not pass a command to a pod ({why})",
        "look at the node and its kubelet (kubectl get nodes, port 10250), and run again",
    ),
    *EVICTED,
    cause(
        "pod_evicted",
        r"The node was low on resource: (?P<why>[^.]+)|Pod was (?:evicted|preempted)|DisruptionTarget|"
        r"Reason: +Evicted|\d/\d+ +Evicted\b|Evicted pod[:/ ]|TaintManagerEviction|Preempted by (?:a )?pod",
        "Kubernetes evicted a pod ({why})",
        "look at the node's conditions, and request what the pods need",
        r"The node was low on resource: (?P<why2>[^.\r\n]+)",
    ),
    *IMAGES,
]
