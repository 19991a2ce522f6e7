# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that are containers in the engines of the lab's nodes."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from shell import CommandError

from kubelab import lab_pods, ssh_key, status
from kubelab.conditions import set_condition
from kubelab.lab_nodes import FIRST_ADDRESS
from kubelab.resources import CONFIG_MAP, NODE, SECRET

BUSY_SECONDS = 0.7
IDLE_SECONDS = 5
SSH_PORT = 22
FIRST_PORT = 2300  # of pods on their node's network, whose port 22 is the node's own
_EXITED = re.compile(r"Exited \((\d+)\)")
_NO_IMAGE = re.compile(r"[Nn]o such image|Unable to find image|pull access denied|manifest unknown|dial tcp|not found")


class Place:
    """A pod's container: where it is, and how far."""

    def __init__(self, pod, node, number):
        host = pod["spec"].get("hostNetwork")
        self.pod = pod
        self.node = node
        self.number = number
        self.ip = None if host else f"{node.subnet}.{number}"
        self.port = FIRST_PORT + number if host else SSH_PORT
        self.step = {"state": "ContainerCreating"}
        self.starting = True
        self.up = False
        self.gone = False
        self.stopping = False


class LabRuntime:
    def __init__(self, nodes, scripts=None):
        self.nodes = {node.name: node for node in nodes}
        self.scripts = scripts
        self.storage = None
        self.logs = {}
        self._places = {}
        self._lock = threading.RLock()
        self._telling = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=4)
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def start(self, storage):
        self.storage = storage
        self._watcher.start()

    def close(self):
        self._stopped.set()
        self._changed.set()
        self._watcher.join(30)
        self._pool.shutdown(wait=True, cancel_futures=True)

    # What the kubelet asks.

    def step(self, pod):
        scripted = self.scripts.scripted(pod) if self.scripts else None
        if scripted:
            return scripted
        with self._lock:
            place = self._places.get(pod["metadata"]["uid"])
            if place is None:
                place = self._begin(pod)
            return place.step

    def ip(self, pod):
        with self._lock:
            place = self._places.get(pod["metadata"]["uid"])
            return place.ip if place else None

    def stop(self, pod):
        with self._lock:
            place = self._places.get(pod["metadata"]["uid"])
            if place is None:
                return True
            if place.gone:
                del self._places[pod["metadata"]["uid"]]
                return True
            if not place.stopping and not place.starting:
                place.stopping = True
                self._pool.submit(self._end, place)
            return False

    def exec_argv(self, pod, container):
        node = self.nodes[pod["spec"]["nodeName"]]
        inside = ["docker", "exec", "--interactive", lab_pods.container_name(pod)]
        return [*node.engine.prefix, "exec", "--interactive", node.name, *inside]

    def log(self, pod, container):
        node = self.nodes[pod["spec"]["nodeName"]]
        try:
            return node.shell(f"docker logs {lab_pods.container_name(pod)} 2>&1")
        except CommandError as error:
            raise status.plain(500, f"the log of {pod['metadata']['name']} can't be read: {error}") from error

    # What is done about it.

    def _begin(self, pod):
        node = self.nodes[pod["spec"]["nodeName"]]
        taken = {place.number for place in self._places.values() if place.node is node}
        number = next(number for number in range(FIRST_ADDRESS, 250) if number not in taken)
        place = Place(pod, node, number)
        self._places[pod["metadata"]["uid"]] = place
        self._pool.submit(self._run, place)
        return place

    def _objects(self, namespace):
        resources = {"ConfigMap": CONFIG_MAP, "Secret": SECRET}
        return lambda kind, name: self.storage.find(resources[kind], namespace, name) or {}

    def _run(self, place):
        pod = place.pod
        try:
            files = lab_pods.files(pod, self._objects(pod["metadata"]["namespace"]), ssh_key.pair())
            place.node.shell(lab_pods.start_script(pod, place.ip, place.port), data=lab_pods.archive(files))
            place.up = True
            # A pod that is said to run must be found by the others.
            self._tell_addresses()
            with self._lock:
                place.step = {"state": "Running"}
        except Exception as error:
            text = str(error).strip().splitlines()[-1]
            state = "ImagePullBackOff" if _NO_IMAGE.search(str(error)) else "CreateContainerConfigError"
            with self._lock:
                place.step = {"state": state} if state == "ImagePullBackOff" else {"state": state, "message": text}
            print(f"kubelet: {pod['metadata']['name']}: {error}", flush=True)
        finally:
            place.starting = False
            self._changed.set()

    def _end(self, place):
        try:
            place.node.shell(lab_pods.stop_script(place.pod))
        except CommandError as error:
            print(f"kubelet: {place.pod['metadata']['name']} doesn't end: {error}", flush=True)
        place.gone = True
        self._tell_addresses()

    def _tell_addresses(self):
        """Write the names and addresses of all pods that run into each of them."""
        # One after the other: what was looked up earlier must not be written later.
        with self._telling:
            self._write_addresses()

    def _write_addresses(self):
        with self._lock:
            running = [one for one in self._places.values() if one.up and not one.gone and not one.stopping]
        addresses, table = {}, []
        for place in running:
            metadata, spec = place.pod["metadata"], place.pod["spec"]
            addresses[metadata["name"]] = (place.ip, spec.get("hostname"), spec.get("subdomain"), metadata["namespace"])
            table.append(f"{metadata['name']} {place.ip or place.node.address} {place.port}\n")
        for node in self.nodes.values():
            texts = {}
            for place in running:
                if place.node is node:
                    where = lab_pods.folder(place.pod)
                    texts[f"{where}/hosts"] = lab_pods.hosts_text(place.pod, addresses)
                    texts[f"{where}/kube/pods"] = "".join(table)
            if texts:
                node.shell(lab_pods.write_script(texts))

    # What the nodes say.

    def _watch(self):
        while not self._stopped.is_set():
            for node in self.nodes.values():
                try:
                    self._look(node)
                except (CommandError, ValueError) as error:
                    print(f"kubelet: {node.name} doesn't answer: {error}", flush=True)
                    self._say_node(node, None)
            with self._lock:
                busy = any(place.starting or place.stopping for place in self._places.values())
            self._changed.wait(BUSY_SECONDS if busy else IDLE_SECONDS)
            self._changed.clear()
            time.sleep(0.1)

    def _look(self, node):
        with self._lock:
            settled = [
                one for one in self._places.values() if one.node is node and not one.starting and not one.stopping
            ]
        allocatable, containers = node.look()
        self._say_node(node, allocatable)
        with self._lock:
            for place in settled:
                if place.step["state"] != "Running":
                    continue
                state, words = containers.get(lab_pods.container_name(place.pod), ("gone", ""))
                if state in ("exited", "dead", "gone"):
                    code = int(_EXITED.match(words).group(1)) if _EXITED.match(words) else 137
                    place.up = False
                    place.step = (
                        {"state": "Succeeded"}
                        if code == 0 and state == "exited"
                        else {"state": "Failed", "exit_code": code}
                    )

    def _say_node(self, node, allocatable):
        def change(thing):
            if allocatable is None:
                set_condition(thing, "Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
                return
            set_condition(thing, "Ready", "True", "KubeletReady", "kubelet is posting ready status")
            for part in ("allocatable", "capacity"):
                thing["status"][part].update(allocatable)

        self.storage.update(NODE, None, node.name, change)
