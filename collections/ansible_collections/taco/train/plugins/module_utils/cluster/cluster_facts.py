# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What preflight has to know of a cluster: its nodes, whether it knows MPIJobs and runs them, and whether we may do what we will."""

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client, KubernetesError, Request
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import FORBIDDEN
from ansible_collections.taco.train.plugins.module_utils.cluster.names import CRD
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import is_ready, name_of, pod_state
from ansible_collections.taco.train.plugins.module_utils.cluster.readiness import outline as node_outline

REVIEWS, REVIEW = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
# The manifests of mpi-operator from 0.1 to 0.6 and Arena's chart give the pods of the controller the first label; the Training
# Operator, which also runs MPIJobs of version v1, has the second.
LABELS = ("app=mpi-operator", "control-plane=kubeflow-training-operator")


class Permission(NamedTuple):
    """What one step has to be allowed."""

    verb: str
    resource: str
    group: str = ""
    subresource: str = ""
    whole_cluster: bool = False
    name: str = ""
    """Of the only object that it is needed for, if there is only one."""

    def attributes(self, namespace: str) -> Dict[str, str]:
        """Return what the API server is asked about."""
        asked = {"verb": self.verb, "resource": self.resource, "group": self.group, "subresource": self.subresource}
        asked.update(name=self.name, namespace="" if self.whole_cluster else namespace)
        return {key: value for key, value in asked.items() if value or key == "group"}

    def __str__(self) -> str:
        name = "/".join(filter(None, (self.resource, self.subresource)))
        return f"{self.verb} {name}" + (f".{self.group}" if self.group else "")


# All that the playbooks from preflight to rollback do, as docs/kubernetes/permissions.yml grants it. Pods of other namespaces are
# listed and evicted when a node is drained.
PERMISSIONS = (
    *(Permission(verb, "nodes", whole_cluster=True) for verb in ("get", "list", "patch", "watch")),
    *(Permission(verb, "pods", whole_cluster=True) for verb in ("get", "list", "watch")),
    Permission("create", "pods", subresource="eviction", whole_cluster=True),
    Permission("list", "poddisruptionbudgets", "policy", whole_cluster=True),
    Permission("get", "customresourcedefinitions", "apiextensions.k8s.io", whole_cluster=True, name=CRD),
    *(Permission(verb, "mpijobs", "kubeflow.org") for verb in ("get", "list", "create", "patch", "delete", "watch")),
    Permission("list", "events"),
    # A command is run by GET; for that Kubernetes wants `get`, and from 1.35 on `create` as well.
    *(Permission(verb, "pods", subresource="exec") for verb in ("create", "get")),
    Permission("get", "pods", subresource="log"),
)


def missing(client: Client, namespace: str) -> List[str]:
    """Return the permissions that we lack."""
    found = []
    for permission in PERMISSIONS:
        asked = {"resourceAttributes": permission.attributes(namespace)}
        review = {"apiVersion": REVIEWS, "kind": REVIEW, "spec": asked}
        answer = client.call(Request("create", REVIEW, REVIEWS), "ask for our permissions", review)
        if not (answer.get("status") or {}).get("allowed"):
            found.append(str(permission))
    return found


def outline(pod: Mapping[str, Any]) -> Dict[str, Any]:
    """Return a controller's pod with why it isn't Ready."""
    namespace = (pod.get("metadata") or {}).get("namespace") or ""
    return {"name": f"{namespace}/{name_of(pod)}", "ready": is_ready(pod), "why": pod_state(pod, None, []).why}


def _unless_forbidden(read: Callable[[], Any]) -> Any:
    """Return what is read, or None where it may not be: that is said among the permissions."""
    try:
        return read()
    except KubernetesError as error:
        if error.trouble.kind != FORBIDDEN:
            raise
    return None


def facts(client: Client, namespace: str) -> Dict[str, Any]:
    """Return the facts. An API server that doesn't answer is one of them."""
    found: Dict[str, Any] = dict.fromkeys(("error", "missing", "nodes", "crd", "operators"))
    found["crd_forbidden"] = False

    def crd() -> List[Optional[Mapping[str, Any]]]:
        return [client.find("CustomResourceDefinition", "apiextensions.k8s.io/v1", CRD)]

    def operators() -> List[Dict[str, Any]]:
        return [outline(pod) for label in LABELS for pod in client.read("Pod", "v1", labels=label) or []]

    try:
        found["missing"] = missing(client, namespace)
        found["nodes"] = _unless_forbidden(lambda: [node_outline(node) for node in client.read("Node", "v1") or []])
        read = _unless_forbidden(crd)
        found["crd"], found["crd_forbidden"] = (read or [None])[0], read is None
        found["operators"] = _unless_forbidden(operators)
    except KubernetesError as error:
        found["error"] = str(error)
    return found
