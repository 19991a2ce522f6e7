# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who may do what: role-based access control, which denies whatever no rule allows.

The rules of a test's account are those of the manifest that the guides tell people to apply. Values in, values out.
"""

import copy
from pathlib import Path
from typing import NamedTuple

import yaml

MANIFEST = Path(__file__).resolve().parents[3] / "docs/kubernetes/permissions.yml"
USER = "taco"
ADMIN = "kubernetes-admin"
"""Who is of the group system:masters, which no rule is asked about."""
# What Kubernetes lets everybody do who has logged in, by its ClusterRoles system:basic-user and system:discovery.
EVERYBODY = (
    {
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        "verbs": ["create"],
    },
)
PATHS = ({"nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/version"], "verbs": ["get"]},)


class Question(NamedTuple):
    """What a request needs."""

    verb: str
    group: str
    resource: str
    """With its subresource, as pods/log."""
    namespace: str | None = None
    """None is the whole cluster."""
    name: str | None = None


def documents(namespaces, path=MANIFEST):
    """Return the manifest's objects; those of its one namespace are there once for each of these."""
    found = []
    for item in yaml.safe_load(path.read_text(encoding="utf-8"))["items"]:
        if "namespace" not in item["metadata"]:
            found.append(item)
            continue
        for namespace in namespaces:
            found.append(copy.deepcopy(item))
            found[-1]["metadata"]["namespace"] = namespace
    return found


def _role(objects, binding):
    reference, namespace = binding["roleRef"], binding["metadata"].get("namespace")
    for thing in objects:
        same = (thing["kind"], thing["metadata"]["name"]) == (reference["kind"], reference["name"])
        if same and (thing["kind"] == "ClusterRole" or thing["metadata"]["namespace"] == namespace):
            return thing.get("rules") or []
    return []


def rules(objects, user, namespace=None):
    """Return the rules that count for a user in a namespace, or for the whole cluster."""
    found = list(EVERYBODY)
    for binding in objects:
        if not binding["kind"].endswith("Binding") or not any(
            subject["name"] == user for subject in binding["subjects"]
        ):
            continue
        if binding["kind"] == "ClusterRoleBinding" or binding["metadata"]["namespace"] == namespace:
            found += _role(objects, binding)
    return found


def _holds(rule, question):
    names = rule.get("resourceNames")
    wanted = ((question.verb, "verbs"), (question.group, "apiGroups"), (question.resource, "resources"))
    # What has no name yet, or is a list, is nothing that a rule of names allows.
    return all({value, "*"} & set(rule[key]) for value, key in wanted) and (not names or question.name in names)


def allowed(objects, user, question):
    return user == ADMIN or any(_holds(rule, question) for rule in rules(objects, user, question.namespace))
