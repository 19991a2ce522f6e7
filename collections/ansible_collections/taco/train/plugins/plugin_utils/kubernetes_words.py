# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Say to people what went wrong between a host and the API server of a cluster, and what helps. Values in, text out."""

import json
from typing import Any, Callable, Mapping

from ansible_collections.taco.train.plugins.plugin_utils import kubernetes_error as kind
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes_error import Trouble

LIBRARY_FIX = "pip install kubernetes"
COLLECTION_FIX = "ansible-galaxy collection install kubernetes.core"


def rule(details: Mapping[str, str]) -> str:
    """Return the rule of a Role that allows what was refused."""
    words = {"apiGroups": [details["group"]], "resources": [details["resource"]], "verbs": [details["verb"]]}
    return json.dumps(words)


def _forbidden(trouble: Trouble) -> str:
    details = trouble.details
    if not details:
        return f"the API server refuses it ({trouble.said}): have whoever runs the cluster allow it"
    namespace = details.get("namespace")
    where = f"in the namespace {namespace}" if namespace else "in the whole cluster"
    role, binding = ("Role", "RoleBinding") if namespace else ("ClusterRole", "ClusterRoleBinding")
    group = f" of the group {details['group']}" if details["group"] else ""
    return (
        f"the user {details['user']} may not {details['verb']} {details['resource']}{group} {where}: give it a {role} with the rule "
        f"{rule(details)}, and a {binding} to it"
    )


def _quota(trouble: Trouble) -> str:
    quota, amounts = trouble.details["quota"], trouble.details["amounts"]
    return (
        f"it would exceed the quota {quota} ({amounts}): ask for less, remove what is no longer needed in the namespace, or have "
        "the quota raised"
    )


def _config(trouble: Trouble, kubeconfig: str | None) -> str:
    where = (
        f"taco_kubeconfig is {kubeconfig}"
        if kubeconfig
        else "taco_kubeconfig is not set, so the client's own was looked for"
    )
    return (
        f"no kubeconfig that works was found ({trouble.said}); {where}: set taco_kubeconfig to the file's path there, and "
        "taco_kube_context to one of its contexts if it isn't the current one"
    )


def _unreachable(trouble: Trouble, kubeconfig: str | None) -> str:
    host = trouble.details.get("host")
    url = f"the API server at {host}:{trouble.details['port']}" if host else "the API server"
    given = f", now {kubeconfig}" if kubeconfig else ""
    return (
        f"{url} can't be reached ({trouble.said}): see that it runs and that this host has a way to it, and set taco_kubeconfig"
        f"{given} to the right cluster's, or taco_kube_host to a host that reaches it"
    )


def _library(trouble: Trouble) -> str:
    if "was not found" in trouble.said:
        return f"the collection kubernetes.core is not installed: run `{COLLECTION_FIX}` on the controller"
    return (
        f"the Python that modules are run with there lacks the library kubernetes ({trouble.said}): run `{LIBRARY_FIX}` with that "
        "Python, or set taco_kube_host to a host that has it"
    )


def sentence(host: str, doing: str, trouble: Trouble, kubeconfig: Any = None) -> str:
    """Return what could not be done, on which host, why, and what helps."""
    path = kubeconfig if isinstance(kubeconfig, str) else None
    why: dict[str, Callable[[], str]] = {
        kind.FORBIDDEN: lambda: _forbidden(trouble),
        kind.QUOTA: lambda: _quota(trouble),
        kind.CONFIG: lambda: _config(trouble, path),
        kind.UNREACHABLE: lambda: _unreachable(trouble, path),
        kind.LIBRARY: lambda: _library(trouble),
        kind.UNAUTHORIZED: lambda: (
            f"the API server doesn't know who is asking ({trouble.said}): the credentials have run out or are of another cluster, so "
            "renew those in taco_kubeconfig"
        ),
        kind.NOT_FOUND: lambda: (
            f"{trouble.said}: create it, or see that taco_kube_namespace and taco_kubeconfig are those of the cluster"
        ),
        kind.INVALID: lambda: f"the API server finds it invalid ({trouble.said}): change what it names",
        kind.CONFLICT: lambda: f"something else changed it at the same time ({trouble.said}): run it again",
        kind.RETRY: lambda: (
            f"the API server didn't answer as it should, however often it was asked ({trouble.said}): run it again later"
        ),
    }
    return f"{host}: can't {doing}: {why.get(trouble.kind, lambda: trouble.said)()}"
