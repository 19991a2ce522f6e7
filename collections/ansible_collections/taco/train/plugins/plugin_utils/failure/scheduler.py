# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that Kubernetes reports, most specific first: what the nodes lack with a fix for each resource."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause, cause, table
from ansible_collections.taco.train.plugins.plugin_utils.failure.containers import IMAGES

NOT_STARTED = "Kubernetes did not start a pod ({why})"
# Resources by the names that Kubernetes gives them.
RESOURCES = (
    (
        r"hugepages-\w+",
        "reserve huge pages of this size on the nodes (roles hugepages and reboot; a kubelet counts them when it starts: kubectl describe "
        "node), end other pods that have them, or set mpijob_hugepages to a smaller number",
    ),
    (
        r"(?:nvidia\.com/(?:gpu|mig)|(?:aliyun\.com|tencent\.com)/)[\w.-]*",
        "request what the nodes have (mpijob_gpus_per_worker, mpijob_workers, taco_gpus_per_node, benchmark_hosts), or free it (kubectl "
        "describe node); a node without any GPU needs the device plugin",
    ),
    (
        r"(?:[\w./-]*(?:rdma|mellanox|infiniband|hca|/efa)|nvidia\.com/)[\w./-]*",
        "check the device plugin of the network adapters on the nodes (kubectl describe node), and request what it offers; end other pods "
        "that have them",
    ),
    (
        r"ephemeral-storage",
        "free the disk of the nodes (images, logs, emptyDir volumes: kubectl describe node), or request less of it",
    ),
    (
        r"memory",
        "set mpijob_memory to a smaller value (it contains mpijob_shm_size), or end other pods (kubectl describe node); pages that are "
        "reserved as huge pages are not memory of the node",
    ),
    (
        r"cpu",
        "request fewer CPUs (mpijob_launcher_cpu for the launcher), or end other pods (kubectl describe node)",
    ),
)
# Reasons for which nodes are left out, where no resource is short.
NODES = (
    (
        r"Insufficient (?:pods\b|[\w./-]*/eni)|Too many pods",
        "end other pods of the nodes, or raise the limit of pods (maxPods of the kubelet, addresses of the network plugin)",
    ),
    (
        r"unbound immediate PersistentVolumeClaims|volume node affinity conflict|persistentvolumeclaim \"",
        "look at the pod's volumes (mpijob_mounts; kubectl get pvc), and at the zone or the node that they belong to",
    ),
    (
        r"free (?:host )?ports",
        "end the other job that uses these ports of the node, or leave mpijob_network_mode empty",
    ),
    (
        r"(?:didn't|did not) match (?:Pod's )?node (?:affinity|selector)|(?:didn't|did not) (?:match|satisfy) .{0,40}(?:anti-)?affinity",
        "compare the labels of the nodes with what the pod selects (kubectl get nodes --show-labels, mpijob_gpu_topology)",
    ),
    (
        r"were unschedulable|node\.kubernetes\.io/unschedulable",
        "make the nodes schedulable again (kubectl uncordon)",
    ),
    (
        r"node\.kubernetes\.io/(?P<condition>not-ready|unreachable|disk-pressure|memory-pressure|pid-pressure|network-unavailable)",
        "look at the conditions of the nodes (kubectl describe node: {condition})",
    ),
    (
        r"had (?:un\w+ )?taints? (?:\{(?P<taint>[^}:]{1,120})|that)",
        "remove the taint {taint} of the nodes (kubectl taint), or run the job on nodes without it (kubectl describe node)",
    ),
)


def pending(reason: str, fix: str, others: str = "") -> Cause:
    """A cause of a pod that waits, by a reason in the scheduler's event."""
    return cause(
        "pod_pending",
        rf"\d+/\d+ nodes are (?:un)?available: (?P<why>(?=.{{0,600}}(?:{reason})).{{1,2000}}?)(?=\.?(?: preemption:|\s*$)){others}",
        NOT_STARTED,
        fix,
    )


def lacking(resource: str, fix: str) -> Cause:
    """The cause of a pod for which a resource is short: by the scheduler, the kubelet, or a quota."""
    name = rf"{resource}(?![\w-])"
    return pending(
        rf"Insufficient {name}",
        fix,
        rf"|(?P<why2>didn't have enough (?:resource|capacity): {name}.{{0,120}}|devices unavailable for {name}.{{0,120}}|"
        rf"OutOf{name}(?!.*enough))|(?P<why3>exceeded quota: (?=.{{0,200}}requested: .{{0,120}}{resource}=).{{1,160}})",
    )


PENDING = [
    *(lacking(resource, fix) for resource, fix in RESOURCES),
    *(pending(reason, fix) for reason, fix in NODES),
]
SCHEDULER = [
    *table(r"""
# Status 401: who asks is not known. No right of a role changes that.
kube_access
  pattern You must be logged in to the server|asked for the client to provide credentials|unable to upgrade connection: Unauthorized
          |\b401 Unauthorized\b.{0,80}(?:api|kube)|x509: certificate has expired|invalid bearer token
          |service account token has (?:expired|been invalidated)
  found   the API server of Kubernetes does not accept the token of the launcher (401 Unauthorized)
  fix     check the token of the launcher's service account (/var/run/secrets/kubernetes.io/serviceaccount): its Secret still exists, it has
          not expired, and all API servers have the same service-account keys; then run the mpijob role again
# Status 403: the right is missing.
kube_access
  pattern unable to upgrade connection: Forbidden|\(Forbidden\): .{0,40}?pods? "(?P<host>[^"]+)" is forbidden(?!: exceeded quota)
          |cannot create resource "pods/exec"|User "system:serviceaccount:[^"]+" cannot[ ]
  found   the API server of Kubernetes does not let the launcher execute commands in the pods
  fix     give the launcher's service account the right to create pods/exec (kubectl auth can-i create pods/exec --as=...), or use an MPI
          Operator that starts ranks by ssh
kube_object
  pattern no matches for kind "(?P<kind>[^"]{1,80})".{0,120}|the server doesn't have a resource type "(?P<kind2>[^"]{1,80})"
          |could not find the requested resource.{0,80}
  found   Kubernetes knows no objects of the kind {kind}: its operator is not installed, or has another version
  fix     install the operator and its CustomResourceDefinitions (kubectl get crd, kubectl api-resources), in the version of the API that
          the job names
kube_object
  pattern (?P<why>failed calling webhook .{1,200}|admission webhook "[^"]{1,120}" denied the request.{0,200}|ValidationError\(.{1,160}
          |is invalid: spec.{1,160}|pods "[^"]{1,200}" is forbidden: (?!User |exceeded quota|must specify).{1,200})
  found   Kubernetes does not take an object of the job ({why})
  fix     change what the message names in the job (mpijob_* variables), or what is missing for it: the service account, the policy of the
          namespace (Pod Security), the webhook's pods
pod_absent
  pattern (?:Error from server \(NotFound\): )?pods? "(?P<host>[^"]+)" not found
  found   the pod {host} does not exist
  fix     look at the pods' events (kubectl describe pod), and run the mpijob role
"""),
    *PENDING,
    *table(
        r"""
# The device plugin's word of a GPU or an adapter.
pod_pending
  pattern Allocate failed due to (?P<why>no healthy devices present.{0,100}|can't allocate unregistered device.{0,80}
          |device plugin GetPreferredAllocation.{0,160})
  found   <<NOT_STARTED>>
  fix     look at the devices of that node: nvidia-smi and dmesg (Xid) there, and the log of the device plugin; drain the node, and reset
          the GPU or reboot it
# Volcano, and others that start all pods of a group or none. The rest of the sentence may be in the next line.
pod_pending
  pattern (?P<why>(?:\d+/\d+ tasks in gang unschedulable|pod group is not ready, \d|resource in cluster is overused
          |queue resource quota insufficient)[^"']{0,200}?)(?=,?["']?\s*$)|\breason: (?P<why2>NotEnoughResources)\s*$
  found   a group of pods can't be scheduled together: the resources for all of them are missing ({why})
  fix     see what is short (kubectl describe podgroup, kubectl describe node), and free it (GPUs, CPUs, memory of other pods), or ask for
          less: mpijob_workers, mpijob_gpus_per_worker, mpijob_memory; the launcher is a pod of the group, too
# Kueue.
pod_pending
  pattern couldn't assign flavors to pod set \S+: (?P<why>.{1,200})
  found   Kueue does not admit the job ({why})
  fix     request what the queue has (kubectl describe clusterqueue, workload): mpijob_workers, mpijob_gpus_per_worker, mpijob_memory; else
          wait for other jobs
pod_pending
  pattern Failed to create pod sandbox: (?P<why>.{0,240}(?:failed to assign an IP address|no IP addresses available
          |cni plugin not initialized|failed to setup network|failed to set up sandbox container).{0,120})
  found   <<NOT_STARTED>>
  fix     look at the network plugin of that node: its pods (kubectl get pods -n kube-system), its addresses that are left, its log
lost_node
  pattern Pod was terminated in response to imminent node shutdown|in response to node shutdown
  found   a node was shut down, and Kubernetes ended its pods
  fix     find out why the node was shut down (maintenance, or a reclaimed spot instance), and run the mpijob role again
pod_pending
  pattern (?P<why>(?P<object>(?:configmap|secret|persistentvolumeclaim) "[^"]{1,120}") not found
          |couldn't find key \S+ in (?P<object2>(?:ConfigMap|Secret) \S+))
  found   <<NOT_STARTED>>
  fix     create the {object} in the job's namespace; those of the job itself are made by the MPI Operator: look at its log
pod_pending
  pattern \d+/\d+ nodes are available: (?P<why>.{1,200})|(?P<why3>no nodes available to schedule pods)|(?P<quota>exceeded quota: .{1,160})
  found   Kubernetes did not start a pod ({why}{quota})
  fix     request what the nodes and the quota have (kubectl describe node, kubectl describe quota), or free it
pod_pending
  pattern (?P<why>MountVolume\.\w+ failed for volume .{1,160}
          |Unable to attach or mount volumes: .{1,160}|Failed to create pod sandbox: (?!.{0,200}no runtime for).{1,160}
          |Allocate failed due to requested number of devices unavailable.{1,120}|pod (?P<host>\S+) does not have a host assigned)
  found   <<NOT_STARTED>>
  fix     look at the pod's events (kubectl describe pod): its volumes (mpijob_mounts), its network, and the devices that its node has free
# A symptom: the events of this pod or of another one have the reason.
pod_pending
  pattern is (?P<why>waiting to start: (?:ContainerCreating|PodInitializing))|\b(?P<why2>CreateContainerConfigError)\b
  found   <<NOT_STARTED>>
  fix     look at the pod's events (kubectl describe pod); a launcher waits for its workers, so look at theirs as well
pod_container
  pattern unable to upgrade connection: container not found \("(?P<container>[^"]{1,253})"\)
  found   the container {container} of a pod is not running
  fix     see why it ended or has not started (kubectl get pods, kubectl describe pod, kubectl logs --previous), then run the mpijob role
          again
cluster
  pattern error executing command in container: (?P<why5>.{1,160})|Unable to connect to the server: (?P<why>.{1,160})
          |The connection to the server \S+ was refused|dial tcp \S+:10250: (?P<why4>.{1,120})|error dialing backend: (?P<why2>.{1,160})
          |unable to upgrade connection: (?P<why3>.{1,120})
  found   Kubernetes did not pass a command to a pod ({why})
  fix     look at the node and its kubelet (kubectl get nodes, port 10250), and run again
# The limit of the pod, whatever the node has.
pod_evicted
  pattern (?P<why>(?:Pod ephemeral local storage usage|[Cc]ontainer \S+ exceeded its local ephemeral storage).{0,120})
  found   Kubernetes evicted a pod ({why})
  fix     raise the pod's limit of ephemeral-storage, or write less in the container (traces, caches and checkpoints in /tmp): mount a
          volume for them
pod_evicted
  pattern (?P<why>The node was low on resource: (?:ephemeral-storage|nodefs|imagefs|inodes)\b[^.]{0,120}|Usage of EmptyDir volume.{0,120})
  found   Kubernetes evicted a pod ({why})
  fix     free the disk of the node (images, logs), write less in the container, or set the limits of its volumes higher: for /dev/shm
          mpijob_shm_size
pod_evicted
  pattern (?P<why>The node was low on resource: memory\b[^.]{0,120}|node had condition: \[?MemoryPressure)
  found   Kubernetes evicted a pod ({why})
  fix     set mpijob_memory to what the workers use, use fewer data loader workers, and end other pods of the node (kubectl describe node)
pod_evicted
  pattern The node was low on resource: (?P<why>[^.]+)|Pod was (?:evicted|preempted)|DisruptionTarget|Reason: +Evicted|\d/\d+ +Evicted\b
          |Evicted pod[:/ ]|TaintManagerEviction|Preempted by (?:a )?pod
  found   Kubernetes evicted a pod ({why})
  fix     look at the node's conditions, and request what the pods need
  near    The node was low on resource: (?P<why2>[^.\r\n]+)
""",
        NOT_STARTED=NOT_STARTED,
    ),
    *IMAGES,
]
