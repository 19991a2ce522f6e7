# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The permissions that the playbooks need in a cluster, and the labels of the controllers that run MPIJobs."""

from typing import Dict, NamedTuple

from ansible_collections.taco.train.plugins.module_utils.cluster.names import CRD

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
