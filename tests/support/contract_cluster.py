# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster for the contract suite: the API double of labs/kubernetes in this process, or a real cluster.

What is used of the collection are its modules by their names, and of the cluster its API.
"""

import concurrent.futures
import contextlib
import copy
import json
import os
import secrets
import threading
import time
from unittest import mock

import kubernetes
import kubernetes_modules
import urllib3
import yaml
from kubelab import rbac
from kubelab.testing import TICK, running_cluster

from ansible_collections.taco.train.plugins.filter.mpijob import mpijob_manifest
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import KEYS as JOB_KEYS

NODE = "TACO_CONTRACT_NODE"
"""The variable of the environment with the node of a real cluster that may be drained. Without it the double is used."""
IMAGE = os.environ.get("TACO_CONTRACT_IMAGE", "mpioperator/mpi-pi:openmpi")
JOB = "taco-bench"
LABEL = "app.kubernetes.io/managed-by"
ALLOCATABLE = {"cpu": "96", "memory": "900Gi", "hugepages-1Gi": "60Gi", "nvidia.com/gpu": "8", "pods": "110"}
NODES = [{"name": f"gpu-{number}", "allocatable": ALLOCATABLE, "labels": {}} for number in (1, 2)]
# A job that any cluster can run, whatever its nodes have.
OPTIONS = {
    "workers": 2,
    "gpus_per_worker": 1,
    "gpus": "none",
    "hugepages": 0,
    "mounts": [],
    "memory": "64Mi",
    "shm_size": "16m",
    "privileged": False,
    "image": IMAGE,
    "launcher_cpu": "100m",
    "launcher_memory": "64Mi",
}
PATHS = {
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "MPIJob": "/apis/kubeflow.org/{version}/namespaces/{namespace}/mpijobs",
    "Namespace": "/api/v1/namespaces",
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets",
    "ResourceQuota": "/api/v1/namespaces/{namespace}/resourcequotas",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
}
# What is part of the manifest, and no option of the module itself.
KEYS = set(JOB_KEYS) - {"name", "namespace"}
# Of a request, and of a wait for what is certain: a limit that no slow machine reaches.
SECONDS = 600


class Api:
    """Requests of the administrator, who reads what the modules left and does what other clients do."""

    def __init__(self, kubeconfig):
        found = kubernetes.client.Configuration()
        kubernetes.config.load_kube_config(kubeconfig, client_configuration=found)
        self.server = found.host
        self.headers = {"Accept": "application/json"}
        if found.api_key:
            (self.headers["Authorization"],) = found.api_key.values()
        self.pool = urllib3.PoolManager(
            ca_certs=found.ssl_ca_cert, cert_file=found.cert_file, key_file=found.key_file, retries=False
        )

    def __call__(self, method, path, body=None):
        """Return the answer, or None for an object that there isn't."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data = None if body is None else json.dumps(body)
        answer = self.pool.request(
            method, self.server + path, body=data, headers={**self.headers, "Content-Type": kind}, timeout=SECONDS
        )
        if answer.status == 404:
            return None
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.data.decode()}"
        return json.loads(answer.data)


class Cluster:
    """A cluster with a namespace for one test."""

    def __init__(self, kubeconfig, api, namespace, version, node, seconds):
        self.kubeconfig, self.api, self.namespace = kubeconfig, api, namespace
        self.version, self.node = version, node
        self.seconds = seconds
        """How long a wait lasts whose end the test wants to see."""
        self.workers = [f"{JOB}-worker-{number}" for number in range(OPTIONS["workers"])]
        self.double = None
        """The double, which tests make fail."""

    def path(self, kind, name=None):
        path = PATHS[kind].format(version=self.version, namespace=self.namespace)
        return f"{path}/{name}" if name else path

    def get(self, kind, name=JOB):
        return self.api("GET", self.path(kind, name))

    def names(self, kind):
        found = self.api("GET", self.path(kind))
        return sorted(thing["metadata"]["name"] for thing in (found or {}).get("items") or [])

    def create(self, thing):
        if "{namespace}" in PATHS[thing["kind"]]:
            thing["metadata"]["namespace"] = self.namespace
        return self.api("POST", self.path(thing["kind"]), thing)

    def patch(self, kind, name=JOB, **changes):
        return self.api("PATCH", self.path(kind, name), changes)

    def manager(self, manager):
        """Let the job have another manager, or none, and return its uid."""
        return self.patch("MPIJob", metadata={"labels": {LABEL: manager}})["metadata"]["uid"]

    def delete(self, kind, name=JOB):
        return self.api("DELETE", self.path(kind, name))

    def written(self):
        """Return what the modules may write, as it is: two equal values mean that nothing was written."""
        node = self.get("Node", self.node)
        job = self.get("MPIJob") or {"metadata": {}}
        about = {key: job["metadata"].get(key) for key in ("uid", "labels", "annotations")}
        marks = {key: node["metadata"].get(key) for key in ("labels", "annotations")}
        return copy.deepcopy([about, job.get("spec"), marks, node["spec"], self.names("Pod")])

    def run(self, module, check=False, **options):
        """Return the result of a module of the collection."""
        result = run(module, {"kubeconfig": self.kubeconfig, **options}, check)
        assert not result.get("failed"), result["msg"]
        return result

    def fails(self, module, *words, check=False, **options):
        """Return the message of a module that fails, which has these words."""
        result = run(module, {"kubeconfig": self.kubeconfig, **options}, check)
        assert result.get("failed"), result
        missing = [word for word in words if word not in result["msg"]]
        assert not missing, f"{missing} in {result['msg']}"
        assert len(result["msg"]) <= 2000, result["msg"]
        return result["msg"]

    def job(self, check=False, **options):
        """Return the result of the module mpijob, with the options of a small job."""
        return self.run("mpijob", check, **self._job(options))

    def refused(self, *words, check=False, **options):
        """Return the message of a failure of the module mpijob."""
        return self.fails("mpijob", *words, check=check, **self._job(options))

    def removed(self, **options):
        return self.job(state="absent", **options)

    def _job(self, options):
        wait = {"namespace": self.namespace, "wait_timeout": SECONDS, "poll": 0.05}
        given = {name: options.pop(name) for name in list(options) if name in KEYS}
        job = {} if options.get("state") == "absent" else {"definition": mpijob_manifest({**OPTIONS, **given})}
        return {**job, **wait, **options}

    def wait(self, condition, ended=None):
        """Wait until a condition holds, and return what it returned. ended is set when it can't hold any more."""
        end, ended = time.monotonic() + SECONDS, ended or threading.Event()
        found = condition()
        while not found and not ended.is_set() and time.monotonic() < end:
            ended.wait(0.02)
            found = condition()
        assert found, "it never became so"
        return found

    @contextlib.contextmanager
    def meanwhile(self, condition, act):
        """Act as another client once a condition holds, while the body runs."""
        ended = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            acting = pool.submit(lambda: (self.wait(condition, ended), act()))
            try:
                yield
            finally:
                ended.set()
            acting.result()

    def account(self, *without):
        """Return the options for an account with the permissions of the guides but for these: pairs of verb and resource."""
        for verb, resource in without:
            self.double.forbid(verb, resource)
        return {}


class RealCluster(Cluster):
    """A cluster of somebody, with the MPI Operator."""

    def account(self, *without):
        user = f"{self.namespace}-{secrets.token_hex(2)}"
        for thing in rbac.documents([self.namespace]):
            thing["metadata"]["name"] = user
            if "roleRef" in thing:
                thing["roleRef"]["name"] = thing["subjects"][0]["name"] = user
            else:
                thing["rules"] = list(_rules(thing["rules"], without))
            self.create(thing)
        return {"access": {"impersonate_user": user}}


def _rules(rules, without):
    """The rules of a role but for pairs of verb and resource."""
    for rule in rules:
        verbs = [verb for verb in rule["verbs"] if (verb, rule["resources"][0]) not in without]
        if verbs:
            yield {**rule, "verbs": verbs}


def run(module, options, check=False):
    """The result of a module of the collection."""
    return kubernetes_modules.execute(f"taco.train.{module}", options, check=check)


@contextlib.contextmanager
def double(nodes=NODES, serve=("v2beta1",), **options):
    """Run the double while the context lasts."""
    with running_cluster(nodes, serve=serve, **options) as running:
        cluster = Cluster(
            running.kubeconfig, Api(running.admin_kubeconfig), "default", (*serve, "v1")[0], nodes[0]["name"], 1
        )
        cluster.double = running
        with time_of(running):
            yield cluster


@contextlib.contextmanager
def time_of(double):
    """Let time pass for modules as the double's controllers run, whatever the speed of the machine; pauses are short."""
    sleep, monotonic = time.sleep, time.monotonic

    def is_module():
        return threading.current_thread() is threading.main_thread()

    with mock.patch.multiple(
        time,
        sleep=lambda seconds: sleep(min(seconds, TICK) if is_module() else seconds),
        monotonic=lambda: double.rounds * TICK if is_module() else monotonic(),
    ):
        yield


@contextlib.contextmanager
def real(node):
    """Give a test a namespace of the cluster of KUBECONFIG, and delete it afterwards with all that is in it."""
    kubeconfig = os.environ["KUBECONFIG"]
    api = Api(kubeconfig)
    crd = api("GET", f"{PATHS['CustomResourceDefinition']}/mpijobs.kubeflow.org")
    version = next(version["name"] for version in crd["spec"]["versions"] if version["storage"])
    name = f"taco-contract-{secrets.token_hex(4)}"
    cluster = RealCluster(kubeconfig, api, name, version, node, 30)
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        cluster.wait(lambda: cluster.get("ServiceAccount", "default"))
        yield cluster
    finally:
        if cluster.get("MPIJob"):
            cluster.patch("MPIJob", metadata={"finalizers": None})
        cluster.run("kubernetes_node", name=node, state="uncordoned")
        cluster.patch("Node", node, spec={"unschedulable": None})
        cluster.delete("Namespace", name)
        for kind in ("ClusterRole", "ClusterRoleBinding"):
            for found in cluster.names(kind):
                if found.startswith(name):
                    cluster.delete(kind, found)


def with_other(kubeconfig, path, **changes):
    """Write a kubeconfig with another server or token, and return its path."""
    with open(kubeconfig, encoding="utf-8") as file:
        config = yaml.safe_load(file)
    if "server" in changes:
        config["clusters"] = [dict(one, cluster={"server": changes["server"]}) for one in config["clusters"]]
    if "token" in changes:
        config["users"] = [dict(one, user={"token": changes["token"]}) for one in config["users"]]
    path.write_text(yaml.safe_dump(config))
    return str(path)
