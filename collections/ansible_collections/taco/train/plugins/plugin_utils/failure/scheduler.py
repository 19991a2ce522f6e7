# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that Kubernetes, its registry and Slurm report, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause

SCHEDULER = [
    cause(
        # Status 401: who asks is not known. No right of a role changes that.
        "kube_access",
        r"You must be logged in to the server|asked for the client to provide credentials|unable to upgrade connection: Unauthorized|"
        r"\b401 Unauthorized\b.{0,80}(?:api|kube)|x509: certificate has expired|invalid bearer token|service account token has "
        r"(?:expired|been invalidated)",
        "the API server of Kubernetes does not accept the token of the launcher (401 Unauthorized)",
        "check the token of the launcher's service account (/var/run/secrets/kubernetes.io/serviceaccount): its Secret still exists, it "
        "has "
        "not expired, and all API servers have the same service-account keys; then run the mpijob role again",
    ),
    cause(
        # Status 403: the right is missing.
        "kube_access",
        r"unable to upgrade connection: Forbidden|\(Forbidden\): .{0,40}?pods? \"(?P<host>[^\"]+)\" is forbidden|"
        r"cannot create resource \"pods/exec\"|User \"system:serviceaccount:[^\"]+\" cannot ",
        "the API server of Kubernetes does not let the launcher execute commands in the pods",
        "give the launcher's service account the right to create pods/exec (kubectl auth can-i create pods/exec --as=...), or use an "
        "MPI Operator that starts ranks by ssh",
    ),
    cause(
        "pod_absent",
        r'(?:Error from server \(NotFound\): )?pods? "(?P<host>[^"]+)" not found',
        "the pod {host} does not exist",
        "look at the pods' events (kubectl describe pod), and run the mpijob role",
    ),
    cause(
        "pod_pending",
        r"\d+/\d+ nodes are available: (?P<why>[^\r\n]{1,200})|(?P<why3>no nodes available to schedule pods)|"
        r"(?P<quota>exceeded quota: [^\r\n]{1,160})",
        "Kubernetes did not start a pod ({why}{quota})",
        "request what the nodes have (taco_gpus_per_node, benchmark_hosts), or free it (kubectl describe node)",
    ),
    cause(
        "pod_pending",
        r"(?P<why>MountVolume\.\w+ failed for volume [^\r\n]{1,160}|Unable to attach or mount volumes: [^\r\n]{1,160}|"
        r"Failed to create pod sandbox: [^\r\n]{1,160}|Allocate failed due to requested number of devices unavailable[^\r\n]{1,120}|"
        r"pod (?P<host>\S+) does not have a host assigned|CreateContainer(?:Config)?Error[^\r\n]{0,120}|RunContainerError[^\r\n]{0,120}|"
        r"(?:configmap|secret|persistentvolumeclaim) \"[^\"]{1,120}\" not found)",
        "Kubernetes did not start a pod ({why})",
        "look at the pod's events (kubectl describe pod): its volumes (mpijob_mounts), its network, and the devices that its node has free",
    ),
    cause(
        # A symptom: the events of this pod or of another one have the reason.
        "pod_pending",
        r"is (?P<why>waiting to start: (?:ContainerCreating|PodInitializing))",
        "Kubernetes did not start a pod ({why})",
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
        r"error executing command in container: (?P<why5>[^\r\n]{1,160})|Unable to connect to the server: (?P<why>[^\r\n]{1,160})|"
        r"The connection to the server \S+ was refused|"
        r"dial tcp \S+:10250: (?P<why4>[^\r\n]{1,120})|error dialing backend: (?P<why2>[^\r\n]{1,160})|unable to "
        r"upgrade connection: (?P<why3>[^\r\n]{1,120})",
        "Kubernetes did not pass a command to a pod ({why})",
        "look at the node and its kubelet (kubectl get nodes, port 10250), and run again",
    ),
    cause(
        "pod_evicted",
        r"The node was low on resource: (?P<why>[^.\r\n]+)|Pod was (?:evicted|preempted)|DisruptionTarget|"
        r"Reason: +Evicted|\d/\d+ +Evicted\b|Evicted pod[:/ ]|TaintManagerEviction|Preempted by (?:a )?pod",
        "Kubernetes evicted a pod ({why})",
        "look at the node's conditions, and request what the pods need",
        r"The node was low on resource: (?P<why2>[^.\r\n]+)",
    ),
    cause(
        "image",
        r"(?P<what>(?:manifest for \S+ )?(?:manifest unknown|not found: manifest)[^\r\n]{0,60}|manifest for \S+ not found|"
        r"pull access denied for \S+?,[^\r\n]{0,60}|unauthorized: [a-z][^\r\n]{1,60}|no matching manifest for \S+[^\r\n]{0,40}|"
        r"toomanyrequests: [^\r\n]{1,60}|Get \"https?://[^\"]{1,200}/v[12]/[^\"]{0,200}\": [^\r\n]{1,120})",
        "an image can't be pulled ({what})",
        "check the name and the tag of taco_image (mpijob_image on Kubernetes), the registry's credentials, and that the host reaches it",
        r"pod \"(?P<host>[^\"]+)\" is waiting to start: trying and failing",
    ),
    cause(
        "image",
        r"(?:ErrImagePull|Back-off pulling image|InvalidImageName|"
        r"trying and failing to pull image|ImagePullBackOff|pull access denied|manifest unknown|"
        r"manifest for \S+ not found)|pyxis: .{0,200}returned error code|failed to import docker image|could not open image \S",
        "an image can't be pulled or opened",
        "check taco_image, and the registry's credentials",
    ),
    cause(
        "lost_node",
        r"Node failure on (?P<host>\S+)|DUE TO NODE (?P<host2>(?!FAILURE)\S+) FAILURE|"
        r"(?:ON (?P<host3>[\w.-]+) CANCELLED AT \S+ )?DUE TO NODE FAILURE",
        "Slurm lost a host: it is down, rebooted or cut off",
        "look at that host (uptime, dmesg, scontrol show node), and run again without it",
    ),
    cause(
        "slurm_credential",
        r"(?:failed on node (?P<host>[\w.-]+): |launch failed: )(?P<why>Invalid job credential|Job credential \w+|Invalid node name)|"
        r"(?P<why2>Error generating job credential|Credential (?:replayed|signature check)|Munge (?:encode|decode) failed[^\r\n]{0,80}|"
        r"Protocol authentication error|Zero Bytes were transmitted or received)",
        "Slurm refused the credential of the job ({why})",
        "check that munge runs with the same key on all nodes, and that their clocks agree (chronyc tracking)",
    ),
    cause(
        "slurm_controller",
        r"(?P<why>Unable to contact slurm controller[^\r\n]{0,60}|"
        r"(?:allocate|allocate resources|create step for job \d+|submit/allocate failed): Socket timed out[^\r\n]{0,40}|"
        r"Unable to confirm allocation for job \d+: [^\r\n]{1,80})",
        "Slurm's controller does not answer or does not know the job ({why})",
        "check slurmctld (scontrol ping), and that the job is still running (squeue)",
    ),
    cause(
        "slurm_resources",
        r"(?:Unable to allocate resources|Unable to create step for job \d+|allocate failed): "
        r"(?P<why>(?:Requested|Invalid (?:generic|qos|QOS|account|partition)|Memory required|Job violates|Job size)[^\r\n]{0,160})",
        "Slurm does not give the job what it requests ({why})",
        "request what the partition has (sinfo -N -l, scontrol show partition), and an account and QOS that are allowed",
    ),
]
