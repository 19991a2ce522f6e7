# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do where the hosts are the pods of an MPIJob: the operator makes their names, keys and limits, and not the roles of hosts."""

import re
from typing import Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

MOST_CHARACTERS = 400
# The operator's script for kubectl exec, the launcher's pod, and a worker's name in the headless Service.
OF_A_POD = re.compile(
    r"/etc/mpi/kubexec\.sh|\bkubectl (?:exec|logs) |\b[a-z0-9-]{1,200}-(?:worker|master)-\d+ +\d+/\d+ +[A-Z]|^\+ POD_NAME=|command "
    r"terminated with exit code|\b[a-z0-9][a-z0-9-]{0,200}-launcher(?:-[a-z0-9]{5})?\b|\b[a-z0-9-]{0,200}mpijob[a-z0-9-]{0,200}-worker-\d|"
    r"\b(?P<job>[a-z0-9][a-z0-9-]{0,200})-worker-\d+\.(?:(?P=job)\b|[a-z0-9.-]{1,200}\.svc\b)"
)
# A worker's bare name, which a virtual machine may also have.
BARE_NAME = re.compile(r"\b[a-z0-9][a-z0-9-]{0,200}-(?:worker|launcher|master)-\d+\b")
# The pod or the node that an event, a table or a description of kubectl is about.
OF_LINE = re.compile(
    r"(?:^|\s)pods?/(?P<host>[a-z0-9][\w.-]*)|^(?:[a-z0-9][\w.-]* +)?(?P<host2>[a-z0-9][a-z0-9.-]*-[a-z0-9.-]*) +\d+/\d+ +[A-Z]|"
    r"\b[Pp]od:? \"?(?:[a-z0-9-]+/)?(?P<host3>[a-z0-9][a-z0-9.-]*-[a-z0-9.-]*)\b|container \S+ in pod (?P<host4>[a-z0-9][a-z0-9.-]*)"
)
NODE = re.compile(r"\b[Nn]ode:? \"?(?P<host>[a-z0-9][a-z0-9.-]*\d)\b")
ASSIGNED = re.compile(r"Successfully assigned \S{1,300} to (?P<host>[a-z0-9][\w.-]*)")
# The name in a description, or the command that prints it, which a filter may have cut.
NAME = re.compile(
    r"^Name: +(?P<host>[a-z0-9][\w.-]*)\s*$|\bkubectl .{0,200}\bdescribe (?:pods?|po)[ /](?P<command>[a-z0-9][\w.-]*)(?=\s|$)"
)
EVICTED = re.compile(r"^(?:[a-z0-9][\w.-]* +)?(?P<host>[a-z0-9][a-z0-9.-]*-[a-z0-9.-]*) +\d+/\d+ +Evicted\b")
# A description of a pod is shorter than this many lines.
MOST_OF_A_DESCRIPTION = 200
# Causes that Kubernetes reports of a pod.
OF_PODS = {"memory", "pod_pending", "pod_evicted", "pod_crash", "image", "cluster", "killed", "lost_node"}
NAMES = (
    "check that all worker pods run (kubectl get pods) and that the cluster's DNS has their names: the job's headless Service "
    "(kubectl get endpoints) and CoreDNS; then run the mpijob role again"
)
LOGIN = (
    "look at sshd in the worker's log (kubectl logs); check that the Secret with the job's ssh key is mounted in launcher and workers "
    "(sshAuthMountPath), and that .ssh belongs to the user of sshd with modes 0700 and 0600, or set StrictModes no in the image"
)
SERVER = (
    "check that the worker pods are ready and run sshd (kubectl get pods, kubectl logs), and that no NetworkPolicy blocks its port; the "
    "launcher may have started before them: run the mpijob role again"
)
MEMORY = (
    "look at the pod (kubectl describe pod: OOMKilled, Evicted) and the events of its node; set mpijob_memory to a larger value, or use "
    "fewer data loader workers"
)
TRAFFIC = (
    "allow all traffic between the pods (NetworkPolicy, security groups of the nodes), and set mpijob_network_mode and the interface to "
    "a network that they share"
)
MASTER = (
    "check that the pod of rank 0 runs and that its Service has it (kubectl get pods, kubectl get endpoints); let workers that start "
    "before it wait for its name (an init container) or start again (restartPolicy: OnFailure); then look at the cluster's DNS "
    "(CoreDNS) and at MASTER_ADDR, which the operator sets"
)
# Of the causes of an address of rank 0, the one of a name that is not known.
NO_NAME = re.compile(r"Name or service not known|network addresses of \(.{1,120} cannot be retrieved|\[Errno -[235]\]")
FIXES = {
    "ssh_resolve": NAMES,
    "mpi_resolve": NAMES,
    "ssh_key": LOGIN,
    "ssh_password": LOGIN,
    "ssh_host_key": "set StrictHostKeyChecking no and UserKnownHostsFile /dev/null in the ssh_config of the image: pods have new keys",
    "ssh_connect": SERVER,
    "ssh_reach": SERVER,
    "ssh_closed": SERVER,
    "daemon": "look at the worker pods (kubectl get pods, kubectl logs), and use one mpijob_image for launcher and workers",
    "daemon_absent": "use one mpijob_image, with the same Open MPI at the same path, for launcher and workers",
    "mpi_version": "use one mpijob_image, with the same Open MPI, for launcher and workers",
    "slots": "start at most mpijob_workers x mpijob_gpus_per_worker ranks",
    "killed": MEMORY,
    "memory": MEMORY,
    "lost_node": "look at the pod and at its node (kubectl describe pod, kubectl get nodes): OOMKilled, Evicted, NotReady",
    "mpi_connect": TRAFFIC,
    "mpi_unreachable": TRAFFIC,
    "gloo_connect": TRAFFIC,
    "nccl_connect": TRAFFIC,
}


def pod_at(cause: str, lines: Sequence[Line], place: int) -> Optional[str]:
    """The pod or the node that a line of kubectl is about: the one in it, or that of the description that it stands in."""
    if cause not in OF_PODS:
        return None
    match = OF_LINE.search(lines[place].text[:MOST_CHARACTERS])
    if match:
        return next(value for value in match.groupdict().values() if value)
    above = (
        NAME.search(line.text[:MOST_CHARACTERS])
        for line in reversed(lines[max(place - MOST_OF_A_DESCRIPTION, 0) : place])
    )
    described = next((match for match in above if match), None)
    pod = described[1] or described["command"] if described else None
    named = NODE.search(lines[place].text[:MOST_CHARACTERS])
    rows = (EVICTED.match(line.text[:MOST_CHARACTERS]) for line in lines) if cause == "pod_evicted" else ()
    evicted = {match["host"] for match in rows if match}
    node = named["host"] if named else evicted.pop() if len(evicted) == 1 else node_of_pod(lines)
    # What a node fails to do, such as to pull an image, is its own fault; a description has the name of the pod first.
    return node or pod if cause == "image" and described and not described[1] else pod or node


def node_of_pod(lines: Sequence[Line]) -> Optional[str]:
    """The node that the scheduler's events name, None where they name several."""
    matches = (ASSIGNED.search(line.text[:MOST_CHARACTERS]) for line in lines)
    nodes = {match["host"] for match in matches if match}
    return nodes.pop() if len(nodes) == 1 else None


def in_pods(lines: Sequence[Line]) -> bool:
    """Whether a log is that of an MPIJob."""
    return any(OF_A_POD.search(line.text[:MOST_CHARACTERS]) for line in lines)
