# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The resources that the stand-in serves."""

from typing import NamedTuple

VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")


class Resource(NamedTuple):
    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    subresources: tuple = ()
    short: tuple = ()
    verbs: tuple = VERBS

    @property
    def api_version(self):
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def key(self):
        """What objects are stored under: every version of a group has the same ones."""
        return (self.group, self.plural)


SELF_REVIEW = Resource(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False, verbs=("create",)
)
SELF_RULES = Resource(
    "authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", False, verbs=("create",)
)
MPIJOB_GROUP = "kubeflow.org"
# What the CRD of a version fills in.
DEFAULTS = {
    "v2beta1": {
        "launcherCreationPolicy": "AtStartup",
        "mpiImplementation": "OpenMPI",
        "runLauncherAsWorker": False,
        "slotsPerWorker": 1,
        "sshAuthMountPath": "/root/.ssh",
    }
}
CRD = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    False,
    ("status",),
    ("crd", "crds"),
)
POD = Resource("", "v1", "pods", "Pod", True, ("eviction", "exec", "log", "status"), ("po",))
NODE = Resource("", "v1", "nodes", "Node", False, ("status",), ("no",))
EVENT = Resource("", "v1", "events", "Event", True, (), ("ev",))
NAMESPACE = Resource("", "v1", "namespaces", "Namespace", False, ("status",), ("ns",))
SERVICE = Resource("", "v1", "services", "Service", True, ("status",), ("svc",))
SECRET = Resource("", "v1", "secrets", "Secret")
CONFIG_MAP = Resource("", "v1", "configmaps", "ConfigMap", True, (), ("cm",))
QUOTA = Resource("", "v1", "resourcequotas", "ResourceQuota", True, ("status",), ("quota",))
SERVICE_ACCOUNT = Resource("", "v1", "serviceaccounts", "ServiceAccount", True, (), ("sa",))
DEPLOYMENT = Resource("apps", "v1", "deployments", "Deployment", True, ("scale", "status"), ("deploy",))
DAEMON_SET = Resource("apps", "v1", "daemonsets", "DaemonSet", True, ("status",), ("ds",))
STATEFUL_SET = Resource("apps", "v1", "statefulsets", "StatefulSet", True, ("scale", "status"), ("sts",))
REPLICA_SET = Resource("apps", "v1", "replicasets", "ReplicaSet", True, ("scale", "status"), ("rs",))
JOB = Resource("batch", "v1", "jobs", "Job", True, ("status",))
BUDGET = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, ("status",), ("pdb",))
ALWAYS = (
    POD,
    NODE,
    EVENT,
    NAMESPACE,
    SERVICE,
    SECRET,
    CONFIG_MAP,
    QUOTA,
    SERVICE_ACCOUNT,
    DEPLOYMENT,
    DAEMON_SET,
    STATEFUL_SET,
    REPLICA_SET,
    JOB,
    BUDGET,
    CRD,
    SELF_REVIEW,
    SELF_RULES,
)


def mpijobs(version):
    return Resource(MPIJOB_GROUP, version, "mpijobs", "MPIJob", True, ("status",), ("mj",))


def served(mpijob_versions):
    """Return every resource of a cluster that serves MPIJobs in these versions."""
    return (*ALWAYS, *map(mpijobs, mpijob_versions))


def by_kind(kind, resources):
    """Return a resource by its kind, the first version of it."""
    for resource in resources:
        if resource.kind == kind:
            return resource
    raise KeyError(f"no resource of the kind {kind}")


def with_defaults(resource, thing):
    """Return an MPIJob with the defaults of its CRD, as the server stores it."""
    spec = thing.get("spec")
    if resource.group != MPIJOB_GROUP or not isinstance(spec, dict):
        return thing
    spec = {**DEFAULTS.get(resource.version, {}), **spec}
    if "runPolicy" in spec:
        spec["runPolicy"] = {"suspend": False, **spec["runPolicy"]}
    return {**thing, "spec": spec}


def crd(versions):
    """Return the CRD of MPIJobs; the first version is the stored one. Its schema is left open."""
    open_schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"kind": "MPIJob", "listKind": "MPIJobList", "plural": "mpijobs", "singular": "mpijob"}
    return {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": f"mpijobs.{MPIJOB_GROUP}"},
        "spec": {
            "conversion": {"strategy": "None"},
            "group": MPIJOB_GROUP,
            "names": names,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[0],
                    "schema": open_schema,
                    "subresources": {"status": {}},
                }
                for version in versions
            ],
        },
        "status": {
            "acceptedNames": names,
            "conditions": [
                {"type": kind, "status": "True", "reason": reason, "message": ""}
                for kind, reason in (("NamesAccepted", "NoConflicts"), ("Established", "InitialNamesAccepted"))
            ],
            "storedVersions": [versions[0]],
        },
    }
