# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster: its objects, its API in a thread with a loop of its own, and its controllers in another thread."""

import asyncio
import secrets
import threading
import time
import traceback

from kubelab import admission, batch, certificates, controller_pod, garbage, nodes, rbac, status
from kubelab.api import Api, server
from kubelab.faults import Faults
from kubelab.kubelet import Imagined, Kubelet
from kubelab.mpi_operator import Operator
from kubelab.resources import CRD, POD, by_kind, crd, served
from kubelab.scheduler import Scheduler
from kubelab.scripts import Scripts
from kubelab.storage import Storage

START_SECONDS = 300
NAMESPACES = ("default", "kube-system")
# What its certificate is of, beside the address that it is reached at.
NAMES = ("kubernetes", "kubernetes.default.svc")


class Cluster:
    """What runs, and what tests do to it."""

    def __init__(
        self,
        node_list=(),
        serve=("v1",),
        operator=True,
        tick=0.02,
        runtime=None,
        host="127.0.0.1",
        port=None,
        token=None,
        admin_token=None,
        lifetime=certificates.LIFETIME,
        operator_pod=False,
    ):
        """operator_pod is whether the operator has a pod of its own, as in a real cluster.

        lifetime is how long the certificate of the API server is valid, from now; below zero it has expired.
        """
        self.storage = Storage()
        self.faults = Faults()
        self.scripts = Scripts(2 * tick)
        self.resources = served(serve)
        self.rounds = 0
        """How often the controllers have run: the time of a test that does not depend on the machine's speed."""
        self.requests = []
        self.errors = []
        """What went wrong in the double itself. A test fails by it."""
        self.stopping = threading.Event()
        self.token = token or secrets.token_hex(16)
        self.admin_token = admin_token or secrets.token_hex(16)
        self.tokens = {self.token: rbac.USER, self.admin_token: rbac.ADMIN}
        self.permissions = rbac.documents(["default"])
        self.used = set()
        """What the account was allowed and did, as questions without names."""
        self.denied = set()
        """What the account did not have a permission for, and requested."""
        self.authority = certificates.Authority()
        self.runtime = runtime or Imagined(self.scripts)
        self.url = ""
        self.pod_refusal = None
        self._tick = tick
        self._place = (host, port)
        self._lifetime = lifetime
        self._threads = []
        self._ready = threading.Event()
        self._problem = None
        self._accounts = admission.ServiceAccounts(self.storage)
        for name in NAMESPACES:
            self.namespace(name)
        if serve:
            self.storage.create(CRD, None, crd(serve))
        for node in node_list:
            self.add_node(**node)
        self._controllers = [
            self._accounts.tick,
            lambda: garbage.collect(self.storage, self.resources),
            lambda: nodes.serve_gpus(self.storage),
            Scheduler(self.storage, self.scripts).tick,
            lambda: batch.tick(self.storage, self.create_pod),
            Kubelet(self.storage, self.runtime).tick,
        ]
        self._operator = Operator(self.storage, self.create_pod, serve)
        self._operator.alive = operator
        self._controllers.append(self._operator.tick)
        self._operator_pod = operator_pod and bool(serve)
        if self._operator_pod:
            self.namespace(controller_pod.NAMESPACE)
        self._show_operator()

    # What runs.

    def start(self):
        self._threads = [threading.Thread(target=part, daemon=True) for part in (self._serve, self._control)]
        self._threads[0].start()
        if not self._ready.wait(START_SECONDS):
            raise RuntimeError(f"the API didn't start within {START_SECONDS} s")
        if self._problem:
            raise self._problem
        self._threads[1].start()

    def stop(self):
        self.stopping.set()
        for thread in self._threads:
            thread.join(30)

    def _serve(self):
        try:
            asyncio.run(self._served())
        except Exception as error:
            self._problem = error
            traceback.print_exc()
            self._ready.set()

    async def _served(self):
        host, port = self._place
        context = certificates.server_context(self.authority, [host, *NAMES], self._lifetime)
        async with Api(self) as api, server(api, host, port, context) as running:
            self.url = str(running.url).rstrip("/")
            self._ready.set()
            while not self.stopping.is_set():
                await asyncio.sleep(0.02)

    def _control(self):
        while not self.stopping.is_set():
            for controller in self._controllers:
                try:
                    controller()
                except status.Refused:
                    pass  # what is deleted meanwhile is gone in the next round
                except Exception:
                    self.record_error()
            self.rounds += 1
            time.sleep(self._tick)

    def record_error(self):
        """Record the error that is handled."""
        traceback.print_exc()
        self.errors.append(traceback.format_exc())

    # What the API asks.

    def record(self, method, path, code):
        self.requests.append((method, path, code))

    def allows(self, user, question):
        """Return whether a user may do something, by the rules and by what a test has forbidden."""
        refused = user != rbac.ADMIN and self.faults.forbids(question.verb, question.resource, question.namespace)
        return not refused and rbac.allowed(self.permissions, user, question)

    def require_permission(self, user, verb, target):
        resource = target.resource
        path = f"{resource.plural}/{target.subresource}" if target.subresource else resource.plural
        # Kubernetes 1.35 and later want the right to create for a command over a websocket too, which is a GET.
        for wanted in {verb, "create"} if target.subresource == "exec" else {verb}:
            question = rbac.Question(wanted, resource.group, path, target.namespace, target.name)
            if not self.allows(user, question):
                self.denied.add((wanted, resource.group, path, bool(target.namespace)))
                raise status.not_permitted(user, wanted, resource, target.namespace, target.name, target.subresource)
            if user == rbac.USER:
                self.used.add((wanted, resource.group, path, bool(target.namespace)))

    def grant(self, *namespaces):
        """Let the account do in these namespaces what the manifest lets it do in its one."""
        self.permissions = rbac.documents(namespaces)

    def log_of(self, pod, container):
        return self.runtime.log(pod, container)

    def create_pod(self, namespace, pod):
        """Create a pod as a controller does, which is refused what everybody is."""
        with self.storage.lock:
            admission.admit(self.storage, POD, namespace, pod, self.pod_refusal)
            return self.storage.create(POD, namespace, {**pod, "status": {"phase": "Pending"}})

    # What tests do.

    def _resource(self, kind):
        return by_kind(kind, self.resources)

    def objects(self, kind, namespace=None):
        return self.storage.list(self._resource(kind), namespace)

    def get(self, kind, name, namespace="default"):
        """Return an object, or None."""
        return self.storage.find(self._resource(kind), namespace, name)

    def put(self, thing):
        """Write an object as it is, with its status."""
        found = [
            resource
            for resource in self.resources
            if (resource.kind, resource.api_version) == (thing["kind"], thing["apiVersion"])
        ]
        if not found:
            raise KeyError(f"the cluster serves no {thing['kind']} in {thing['apiVersion']}")
        return self.storage.put(found[0], thing)

    def delete(self, kind, name, namespace="default"):
        self.storage.delete(self._resource(kind), namespace, name, {"gracePeriodSeconds": 0})

    def add_node(self, name, allocatable=None, labels=None, address="", taints=None):
        return self.put(nodes.node(name, allocatable or {}, labels, address, taints))

    def namespace(self, name):
        """Create a namespace with its default service account."""
        metadata = {"name": name, "labels": {"kubernetes.io/metadata.name": name}}
        self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "status": {"phase": "Active"}})
        self._accounts.tick()

    def refuse_pods(self, why=None):
        """Let the admission refuse every new pod with these words, or none."""
        self.pod_refusal = why

    def fail(self, method="*", path="", status=500, times=1, body=None):
        self.faults.fail(method, path, status, times, body)

    def before(self, method, path, act):
        """Let another client act right before the next request of this kind; it changes objects by methods of this class."""
        self.faults.before(method, path, act)

    def compact(self):
        """Forget what has changed so far, as etcd does every five minutes: a watch from before it is told 410."""
        self.storage.compact()

    def forbid(self, verb, resource, namespace=None):
        self.faults.forbid(verb, resource, namespace)

    def allow(self):
        self.faults.allow()

    def stop_operator(self):
        """End the operator as one that has lost its lease: what it wrote stays as it is."""
        self._operator.alive = False
        self._show_operator()

    def start_operator(self):
        self._operator.alive = True
        self._show_operator()

    def _show_operator(self):
        if self._operator_pod:
            self.put(controller_pod.pod(self._operator.alive))

    def script(self, pod_name_regex, steps):
        self.scripts.add(pod_name_regex, steps)

    def forget_scripts(self):
        self.scripts.forget()

    def processes(self, pod, text):
        """Set the output of a command that lists the processes of a pod."""
        self.runtime.processes[pod] = text

    def log(self, pod, text):
        """Set the log of a pod."""
        self.runtime.logs[pod] = text

    def quota(self, namespace, hard, name="quota"):
        self.put(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": name, "namespace": namespace},
                "spec": {"hard": hard},
            }
        )

    def wait(self, condition, seconds=10):
        """Wait until a condition, a function without arguments, holds; returns what it returned."""
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found or time.monotonic() > end:
                return found
            time.sleep(0.01)
