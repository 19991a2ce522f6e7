# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why Kubernetes does not start a pod or evicts it: what the nodes lack, each resource with its own fix."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause, cause

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
EVICTED = [
    cause(
        "pod_evicted",
        rf"(?P<why>The node was low on resource: {resource}\b[^.]{{0,120}}|{exceeds})",
        "Kubernetes evicted a pod ({why})",
        fix,
    )
    for resource, exceeds, fix in (
        (
            # The limit of the pod, whatever the node has.
            "(?!)",
            r"(?:Pod ephemeral local storage usage|[Cc]ontainer \S+ exceeded its local ephemeral storage).{0,120}",
            "raise the pod's limit of ephemeral-storage, or write less in the container (traces, caches and checkpoints in /tmp): mount a "
            "volume for them",
        ),
        (
            "(?:ephemeral-storage|nodefs|imagefs|inodes)",
            r"Usage of EmptyDir volume.{0,120}",
            "free the disk of the node (images, logs), write less in the container, or set the limits of its volumes higher: for /dev/shm "
            "mpijob_shm_size",
        ),
        (
            "memory",
            r"node had condition: \[?MemoryPressure",
            "set mpijob_memory to what the workers use, use fewer data loader workers, and end other pods of the node (kubectl describe "
            "node)",
        ),
    )
]
