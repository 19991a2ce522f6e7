# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What preflight has to know of a cluster: its nodes, whether it knows MPIJobs and runs them, and whether we may do what we will."""

from typing import Any, Callable, Dict, List, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client, KubernetesError, Request
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import FORBIDDEN
from ansible_collections.taco.train.plugins.module_utils.cluster.names import CRD
from ansible_collections.taco.train.plugins.module_utils.cluster.permissions import LABELS, PERMISSIONS
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import outline
from ansible_collections.taco.train.plugins.module_utils.cluster.readiness import outline as node_outline

REVIEWS, REVIEW = "authorization.k8s.io/v1", "SelfSubjectAccessReview"


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
