# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How to fix what keeps a pod from running, by the words of kubelet, container runtime and registry. Text in, text out."""

import re
from typing import Dict, Match, Optional, Tuple

PODS_OF_NODE = "kubectl get pods --all-namespaces --field-selector spec.nodeName={node}"

# (what the cluster says, the fix). The first that fits counts. {node}, {image} and {pod} are filled in.
IMAGE_FIXES = (
    (
        r"toomanyrequests|rate limit|429 Too Many Requests",
        "the registry limits anonymous pulls: add an image pull secret to the ServiceAccount of the pods, or set mpijob_image to "
        "an image of a registry without this limit",
    ),
    (
        r"unauthorized|authentication required|authorization failed|no basic auth credentials|401 Unauthorized|403 Forbidden"
        r"|access (to the resource )?is denied|access forbidden|\bdenied\b|insufficient_scope",
        "add an image pull secret for the registry to the ServiceAccount of the pods (kubectl create secret docker-registry), or "
        "correct mpijob_image, now {image}",
    ),
    (r"x509|certificate", "install the certificate authority of the registry for the container runtime of node {node}"),
    (
        r"ErrImageNeverPull|pull policy of Never",
        "load the image {image} on node {node}, as the pull policy Never requires, or change the pull policy",
    ),
    (
        r"InvalidImageName|invalid reference format|couldn't parse image",
        "correct mpijob_image: {image} is not the name of an image",
    ),
    (
        r"no match for platform|no matching manifest|exec format error",
        "set mpijob_image to an image for the platform of the nodes",
    ),
    (r"no space left on device", "free disk space on node {node}, as for unused images (crictl rmi --prune)"),
    (
        r"i/o timeout|timeout|deadline exceeded|no such host|connection refused|connection reset|no route to host|server misbehaving"
        r"|RegistryUnavailable|unreachable|50[234] ",
        "check that node {node} reaches the registry of {image} (DNS, proxy, firewall), or set mpijob_image to an image of a "
        "registry that it reaches",
    ),
    (
        r"not found|manifest unknown|does not exist|404",
        "set mpijob_image to an image that exists, now {image}",
    ),
    (r"SignatureValidationFailed|signature", "sign the image {image} as the policy of node {node} requires"),
)
OTHER_IMAGE_FIX = "set mpijob_image to an image that the nodes can pull, now {image}"

FIXES = (
    # A volume
    (
        r"hostPath type check failed: (?P<path>\S+)",
        "create {path} on node {node} (HARP's paths: run the role taco.train.harp), or take it out of mpijob_mounts",
    ),
    (
        r'(?:secret|configmap) "(?P<path>[^"]+)" not found',
        "create {path} in the namespace; if the name begins with the name of the job, the MPI Operator creates it: check its log",
    ),
    (
        r"hugetlbfs|hugepages.*mount",
        "check that node {node} has hugepages of this size (grep Huge /proc/meminfo)",
    ),
    (
        r"FailedMount|FailedAttachVolume|[Uu]nable to attach or mount volumes",
        "check the volumes of the pod (kubectl describe pod {pod}) and the paths of mpijob_mounts on node {node}",
    ),
    # The network of a pod
    (
        r"failed to get sandbox image|sandbox_image|pause:",
        "check that node {node} can pull the sandbox image of its container runtime",
    ),
    (
        r'no runtime for "?(?P<path>[\w-]+)"? is configured|(?:unknown or )?invalid runtime name:? (?P<other>[\w-]+)',
        "configure the runtime {path}{other} in the container runtime of node {node} (nvidia-ctk runtime configure) and restart it",
    ),
    (
        r"failed to get sandbox runtime",
        "check the runtimes in the configuration of the container runtime of node {node} (containerd config dump)",
    ),
    (
        r"FailedCreatePodSandBox|NetworkNotReady|network plugin is not ready|cni|CNI",
        "check the pods of the network plugin on node {node} (" + PODS_OF_NODE + ")",
    ),
    # A container
    (
        r"nvidia-container-cli|nvml error|libnvidia|NVIDIA driver|nvidia-container-runtime|/dev/nvidia|nvidia\.com/gpu=",
        "check the driver on node {node} (nvidia-smi) and its NVIDIA Container Toolkit",
    ),
    (
        r'exec: "?(?P<path>[^":]+)"?: (?:executable file not found|stat |no such file|permission denied)'
        r"|stat (?P<other>/\S+): no such file",
        "set mpijob_image to an image that contains {path}{other}, or correct mpijob_command",
    ),
    (
        r"exec format error",
        "set mpijob_image to an image for the platform of the nodes",
    ),
    (
        r"runAsNonRoot",
        "remove runAsNonRoot from what adds it to the pods, as the image {image} runs as root",
    ),
    (
        r"is not a shared mount|mount propagation|error mounting|failed to stat|not a directory|no such file or directory",
        "check the paths of mpijob_mounts on node {node} and in the image",
    ),
    (r"no space left on device", "free disk space on node {node}"),
    # The admission of the kubelet
    (
        r"UnexpectedAdmissionError|Allocate failed|no healthy devices|devices unavailable",
        "check the GPUs and the device plugin on node {node} (nvidia-smi, `"
        + PODS_OF_NODE
        + "`), then delete the pod {pod}",
    ),
    (
        r"OutOf(?P<path>[A-Za-z0-9./-]+)|Node didn't have enough resource: (?P<other>[^,]+)",
        "another pod took {path}{other} of node {node} first: find it with `"
        + PODS_OF_NODE
        + "`, and delete the pod {pod} when there "
        "is room",
    ),
    (
        r"TopologyAffinityError|Topology locality",
        "free devices and CPUs of one NUMA node on {node}, or change the topologyManagerPolicy of its kubelet",
    ),
    (
        r"NodeAffinity",
        "restore the labels of node {node}, which changed after the pod was scheduled, then delete the pod {pod}",
    ),
    (
        r"SysctlForbidden|AppArmor|seccomp",
        "allow it in the configuration of the kubelet of node {node}, or remove what adds it to the pods",
    ),
    # An end
    (
        r"EmptyDir volume \"(?P<path>[^\"]+)\" exceeds",
        "raise mpijob_shm_size, and mpijob_memory by as much",
    ),
    (
        r"ephemeral[- ](?:local )?storage|DiskPressure|disk pressure|low on resource: (?:inodes|nodefs|imagefs|ephemeral)",
        "free disk space on node {node} (kubectl describe node {node})",
    ),
    (
        r"MemoryPressure|low on (?:resource: )?memory",
        "free memory on node {node}, or raise mpijob_memory to what the workers use (kubectl describe node {node})",
    ),
    (r"PIDPressure|low on resource: pids", "end processes on node {node}"),
    (
        r"reempt",
        "give the job's pods a higher priority, or wait until the pods with a higher one have ended",
    ),
    (
        r"TaintManager|[Tt]aint [Mm]anager|NoExecute",
        "check that node {node} is Ready, and its taints (kubectl describe node {node})",
    ),
    (r"EvictionAPI|Eviction API", "find who drains node {node} (kubectl get node {node}: SchedulingDisabled)"),
    (
        r"NodeLost|unresponsive|PodGC|node no longer exists|Unknown",
        "check that node {node} runs and its kubelet answers (kubectl get node {node})",
    ),
    (r"[Nn]ode ?[Ss]hutdown|node shutdown|^Terminated", "start node {node} again, or wait until it is back"),
    (r"DeadlineExceeded|active (?:on the node )?longer than", "raise activeDeadlineSeconds of the job"),
    (r"Unhealthy|probe failed", "read the log of the pod (kubectl logs {pod}), and find what adds the probe to it"),
)
_KEYS = (
    "the MPI Operator mounts the keys from the Secret {job}-ssh: check that the user of the image may read them where "
    "sshAuthMountPath puts them, and that sshd of the image uses them"
)
# What the launcher prints when it does not reach a worker. The first that fits counts.
LOG_FIXES = (
    (
        r"Could not resolve hostname",
        "check that the Service {job} of the workers exists (kubectl get service {job}) and that the DNS of the cluster answers "
        "(kubectl get pods --namespace kube-system --selector k8s-app=kube-dns)",
    ),
    (
        r"ssh: connect to host .*: Connection (?:refused|timed out)|ssh: connect to host .*: No route to host",
        "check that sshd runs in the workers (kubectl logs) and that no NetworkPolicy keeps the launcher from them",
    ),
    (
        r"Host key verification failed",
        "set StrictHostKeyChecking no in the ssh_config of the image: the host keys of workers are new in each pod",
    ),
    (r"Permission denied \([a-z,-]*(?:publickey|password)", _KEYS),
    (
        r"kex_exchange_identification|Connection (?:closed|reset) by \S+ port",
        "check that sshd runs in the workers, and its messages there (kubectl logs)",
    ),
    (r"CUDA out of memory|Out of memory|OutOfMemoryError", "lower the batch size of the program"),
)
OTHER_FIX = "run `kubectl describe pod {pod}`"


def _filled(fix: str, match: Optional[Match[str]], known: Dict[str, str]) -> str:
    groups = {name: value or "" for name, value in match.groupdict().items()} if match else {}
    words = {"path": "", "other": "", **known, **groups}
    return re.sub(r"\{(\w+)\}", lambda name: words[name[1]], fix)


def _first(said: str, table: Tuple[Tuple[str, str], ...], known: Dict[str, str]) -> Optional[str]:
    for words, fix in table:
        match = re.search(words, said)
        if match:
            return _filled(fix, match, known)
    return None


def image_fix(said: str, pod: str, node: Optional[str], image: Optional[str]) -> str:
    """Return what helps when the image of a container can't be pulled."""
    known = {"pod": pod, "node": node or "of the pod", "image": image or "not set"}
    return _first(said, IMAGE_FIXES, known) or _filled(OTHER_IMAGE_FIX, None, known)


def pod_fix(said: str, pod: str, node: Optional[str], image: Optional[str] = None) -> str:
    """Return what helps against what a pod or its container ended by or can't start for."""
    known = {"pod": pod, "node": node or "of the pod", "image": image or "of the pod"}
    return _first(said, FIXES, known) or _filled(OTHER_FIX, None, known)


def log_fix(text: str, job: str) -> str:
    """Return what helps against what a log ends with; empty where that is not known."""
    return _first(text, LOG_FIXES, {"job": job}) or ""
