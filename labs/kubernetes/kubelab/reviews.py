# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an account is told of its own permissions."""

from kubelab import rbac, status
from kubelab.resources import SELF_REVIEW, SELF_RULES

RESOURCES = (SELF_REVIEW, SELF_RULES)
EVERYTHING = ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},)


def _access(cluster, user, spec):
    wanted = spec.get("resourceAttributes")
    if not wanted:
        raise status.bad_request("spec.resourceAttributes is the only question that is known here")
    path = "/".join(filter(None, (wanted.get("resource"), wanted.get("subresource"))))
    question = rbac.Question(
        wanted.get("verb"), wanted.get("group") or "", path, wanted.get("namespace") or None, wanted.get("name")
    )
    return {"allowed": cluster.allows(user, question)}


def _rules(cluster, user, spec):
    if not spec.get("namespace"):
        raise status.bad_request("no namespace on request")
    found = EVERYTHING if user == rbac.ADMIN else rbac.rules(cluster.permissions, user, spec["namespace"])
    return {"resourceRules": list(found), "nonResourceRules": list(rbac.PATHS), "incomplete": False}


def answer(cluster, user, resource, body):
    """Return the answer to an account that asks what it may do."""
    spec = (body or {}).get("spec") or {}
    return {**(body or {}), "status": (_access if resource == SELF_REVIEW else _rules)(cluster, user, spec)}
