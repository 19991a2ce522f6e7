# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say to people what went wrong between a host and the API server of a cluster, and what helps. Values in, text out."""

import json
import re
from typing import Any, Callable

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes import certificate, errors
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.admission import ASK, QUOTA_FIX, advice, rule
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import Trouble

LIBRARY_FIX = "pip install kubernetes"
COLLECTION_FIX = "ansible-galaxy collection install kubernetes.core"
# What a path doesn't have: more lines, or a mapping of YAML or JSON. A token or a file in base64 is longer than a path.
_CONTENT = re.compile(r"""[\x00-\x1f\x7f{}\[\]"']|:\s|:$""")
MOST_PATH_LETTERS = 255


def _forbidden(trouble: Trouble) -> str:
    details = trouble.details
    if not details:
        known = advice(trouble.said)
        return f"the API server refuses it ({trouble.said}): {known.fix if known else ASK}"
    namespace = details.get("namespace")
    where = f"in the namespace {namespace}" if namespace else "in the whole cluster"
    role, binding = ("Role", "RoleBinding") if namespace else ("ClusterRole", "ClusterRoleBinding")
    group = f" of the group {details['group']}" if details["group"] else ""
    return (
        f"the user {details['user']} may not {details['verb']} {details['resource']}{group} {where}: give it a {role} with the rule "
        f"{rule(details)}, and a {binding} to it"
    )


def exec_forbidden(host: str, pod: str, namespace: str, said: str) -> str:
    """Return that commands in pods are refused. Kubernetes 1.35 and newer need the verb create as well, and don't name it."""
    allowed = json.dumps({"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get", "create"]})
    return (
        f"{host}: can't run a command in the pod {pod} of the namespace {namespace} to see whether work runs in it ({said}): "
        f"give the user a Role with the rule {allowed}, and a RoleBinding to it"
    )


def _quota(trouble: Trouble) -> str:
    quota, amounts = trouble.details["quota"], trouble.details["amounts"]
    return f"it would exceed the quota {quota} ({amounts}): {QUOTA_FIX}"


def path_of(kubeconfig: Any) -> str | None:
    """Return a kubeconfig that is a path. Anything else may be its content, with a token, and must not be shown."""
    if not isinstance(kubeconfig, str) or len(kubeconfig) > MOST_PATH_LETTERS:
        return None
    return None if _CONTENT.search(kubeconfig) else kubeconfig or None


def _config(trouble: Trouble, kubeconfig: Any) -> str:
    path = path_of(kubeconfig)
    where = "taco_kubeconfig is not set, so the client's own was looked for"
    if path:
        where = f"taco_kubeconfig is {path}"
    elif kubeconfig:
        where = "taco_kubeconfig is not a path (not shown, since it may hold a token)"
    return (
        f"no kubeconfig that works was found ({trouble.said}); {where}: set taco_kubeconfig to the file's path there, and "
        "taco_kube_context to one of its contexts if it isn't the current one"
    )


def _server(trouble: Trouble) -> str:
    host = trouble.details.get("host")
    return f"the API server at {host}:{trouble.details['port']}" if host else "the API server"


def _certificate(trouble: Trouble, kubeconfig: str | None) -> str:
    return f"no TLS connection ({trouble.said}): {certificate.fix(trouble.said, _server(trouble), kubeconfig)}"


def _unreachable(trouble: Trouble, kubeconfig: str | None) -> str:
    given = f", now {kubeconfig}" if kubeconfig else ""
    return (
        f"{_server(trouble)} can't be reached ({trouble.said}): check that it runs and that this host has a route to it, and set "
        f"taco_kubeconfig{given} to the right cluster's, or taco_kube_host to a host that reaches it"
    )


def _retry(trouble: Trouble) -> str:
    known = advice(trouble.said)
    fix = known.fix if known else "run it again later"
    if "should start with https://" in trouble.said:
        # A connection that was cut while the client asked what the server serves looks the same.
        fix = f"if it speaks TLS, set the cluster's server in taco_kubeconfig to https://, else {fix}"
    return f"the API server didn't answer as it should, however often it was asked ({trouble.said}): {fix}"


def _library(trouble: Trouble) -> str:
    if "was not found" in trouble.said:
        return f"the collection kubernetes.core is not installed: run `{COLLECTION_FIX}` on the controller"
    return (
        f"the Python that modules are run with there lacks the library kubernetes ({trouble.said}): run `{LIBRARY_FIX}` with that "
        "Python, or set taco_kube_host to a host that has it"
    )


def sentence(host: str, doing: str, trouble: Trouble, kubeconfig: Any = None) -> str:
    """Return what could not be done, on which host, why, and what helps."""
    path = path_of(kubeconfig)
    why: dict[str, Callable[[], str]] = {
        errors.FORBIDDEN: lambda: _forbidden(trouble),
        errors.QUOTA: lambda: _quota(trouble),
        errors.CONFIG: lambda: _config(trouble, kubeconfig),
        errors.UNREACHABLE: lambda: _unreachable(trouble, path),
        errors.CERTIFICATE: lambda: _certificate(trouble, path),
        errors.LIBRARY: lambda: _library(trouble),
        errors.UNAUTHORIZED: lambda: (
            f"the API server does not accept the credentials ({trouble.said}): the token or the client certificate has expired, is signed "
            "by another authority or is of another cluster, so renew the user's credentials in taco_kubeconfig (token, "
            "client-certificate-data)"
        ),
        errors.NOT_FOUND: lambda: (
            f"{trouble.said}: create it, or check that taco_kube_namespace and taco_kubeconfig are those of the cluster"
        ),
        errors.INVALID: lambda: f"the API server finds it invalid ({trouble.said}): change what it names",
        errors.CONFLICT: lambda: f"another client changed it at the same time ({trouble.said}): run it again",
        errors.RETRY: lambda: _retry(trouble),
    }
    return f"{host}: can't {doing}: {why.get(trouble.kind, lambda: trouble.said)()}"
