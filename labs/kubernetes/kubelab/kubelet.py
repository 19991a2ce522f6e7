# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kubelets: every pod that is bound to a node goes through its steps, and ends when it is deleted."""

import zlib

from kubelab import pod_status
from kubelab.conditions import has_ended
from kubelab.events import event
from kubelab.resources import NODE, POD

# What a step has the kubelet say, and the words with which it does.
EVENTS = {
    "ErrImagePull": ("Warning", "Failed", 'Failed to pull image "{image}": not found'),
    "ImagePullBackOff": ("Normal", "BackOff", 'Back-off pulling image "{image}"'),
    "CrashLoopBackOff": ("Warning", "BackOff", "Back-off restarting failed container {container} in pod {pod}"),
    "Running": ("Normal", "Started", "Started container {container}"),
    "Evicted": ("Warning", "Evicted", "The node was low on resource: memory."),
    "NotReady": ("Warning", "Unhealthy", "Readiness probe failed"),
}


class Imagined:
    """Pods that are only their status. The lab's runtime, which runs containers, has the same methods."""

    def __init__(self, scripts):
        self.scripts = scripts
        self.logs = {}
        self.processes = {}

    def step(self, pod):
        return self.scripts.step(pod)

    def ip(self, pod):
        number = zlib.crc32(pod["metadata"]["uid"].encode())
        return f"10.244.{number // 256 % 256}.{number % 254 + 1}"

    def stop(self, pod):
        """End a pod; returns whether it is gone."""
        return True

    def exec_argv(self, pod, container):
        """Return the command that runs another one in a container, its input and output as they are.

        Nothing runs in these pods. What a test says is the output of every command.
        """
        return ["sh", "-c", 'printf "%s\\n" "$0"', self.processes.get(pod["metadata"]["name"], "sleep infinity")]

    def log(self, pod, container):
        return self.logs.get(pod["metadata"]["name"], f"{pod['metadata']['name']} {container}\n")


class Kubelet:
    def __init__(self, storage, runtime):
        self.storage = storage
        self.runtime = runtime
        self._steps = {}

    def tick(self):
        nodes = {node["metadata"]["name"]: node for node in self.storage.list(NODE)}
        for pod in self.storage.list(POD):
            place = (pod.get("spec") or {}).get("nodeName")
            if not place:
                continue
            if pod["metadata"].get("deletionTimestamp"):
                self._stop(pod)
            elif place in nodes and not has_ended(pod):
                self._go_on(pod, nodes[place])

    def _stop(self, pod):
        if self.runtime.stop(pod) and self.storage.find(POD, pod["metadata"]["namespace"], pod["metadata"]["name"]):
            self._steps.pop(pod["metadata"]["uid"], None)
            self.storage.remove(POD, pod["metadata"]["namespace"], pod["metadata"]["name"])

    def _go_on(self, pod, node):
        uid, step = pod["metadata"]["uid"], self.runtime.step(pod)
        if self._steps.get(uid) == step:
            return
        addresses = (node.get("status") or {}).get("addresses") or []
        host_ip = next((address["address"] for address in addresses if address["type"] == "InternalIP"), "")
        ip = host_ip if pod["spec"].get("hostNetwork") else self.runtime.ip(pod)
        self._steps[uid] = step
        found = self.storage.update(
            POD,
            pod["metadata"]["namespace"],
            pod["metadata"]["name"],
            lambda thing: pod_status.write(thing, step, ip, host_ip),
        )
        if found and step["state"] in EVENTS:
            kind, reason, text = EVENTS[step["state"]]
            first = pod["spec"]["containers"][0]
            words = {"image": first.get("image", ""), "container": first["name"], "pod": pod["metadata"]["name"]}
            event(self.storage, found, kind, reason, step.get("message") or text.format(**words), "kubelet")
