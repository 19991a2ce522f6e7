# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say to people what went wrong between this machine and the API server of a cluster, and what helps. Values in, text out."""

import json
import re
from typing import Any, Optional

from ansible_collections.taco.train.plugins.module_utils.cluster import certificate, failures
from ansible_collections.taco.train.plugins.module_utils.cluster.admission import ASK, QUOTA_FIX, advice
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import Trouble

LIBRARY_FIX = "pip install kubernetes"
COLLECTION_FIX = "ansible-galaxy collection install 'kubernetes.core:>=3.0.0'"
# As whom the API server takes a request without credentials.
ANONYMOUS = "system:anonymous"
# What a path doesn't have: more lines, or a mapping of YAML or JSON. A token or a file in base64 is longer than a path.
_CONTENT = re.compile(r"""[\x00-\x1f\x7f{}\[\]"']|:\s|:$""")
MOST_PATH_LETTERS = 255


def path_of(kubeconfig: Any) -> Optional[str]:
    """Return a kubeconfig that is a path. Anything else may be its content, with a token, and must not be shown."""
    if not isinstance(kubeconfig, str) or len(kubeconfig) > MOST_PATH_LETTERS:
        return None
    return None if _CONTENT.search(kubeconfig) else kubeconfig or None


def _forbidden(trouble: Trouble, request: Any) -> str:
    if trouble.details.get("user") == ANONYMOUS:
        return (
            f"the request had no credentials ({trouble.said}): the user of taco_kubeconfig has none, or its command for credentials (exec) "
            "failed: correct the user, and check it with kubectl auth whoami"
        )
    # From 1.35 on a command in a pod needs a second verb, and the answer has no reason.
    is_exec = request.subresource == "exec"
    if "user" not in trouble.details and not is_exec:
        known = advice(trouble.said)
        return f"the API server refuses it ({trouble.said}): {known.fix if known else ASK}"
    where = f"in the namespace {request.namespace}" if request.namespace else "in the whole cluster"
    role, binding = ("Role", "RoleBinding") if request.namespace else ("ClusterRole", "ClusterRoleBinding")
    group = f" of the group {request.group}" if request.group else ""
    verbs = ["get", "create"] if is_exec else [request.verb]
    allowed = json.dumps({"apiGroups": [request.group], "resources": [request.resource], "verbs": verbs})
    return (
        f"the user {trouble.details.get('user') or 'of the kubeconfig'} may not {' or '.join(verbs)} {request.resource}{group} {where} "
        f"({trouble.said}): give it a {role} with the rule {allowed}, and a {binding} to it"
    )


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


def _unreachable(trouble: Trouble, server: str, path: Optional[str]) -> str:
    given = f", now {path}" if path else ""
    return (
        f"{server} can't be reached ({trouble.said}): check that it runs and that this host has a route to it, and set "
        f"taco_kubeconfig{given} to the right cluster's, or taco_kube_host to a host that reaches it"
    )


def _retry(trouble: Trouble, server: str, is_plain: bool) -> str:
    known = advice(trouble.said)
    fix = known.fix if known else "run it again later"
    if trouble.code is None and is_plain:
        # A server that speaks TLS closes a connection that does not.
        fix = f"if it speaks TLS, set the cluster's server in taco_kubeconfig to https://, else {fix}"
    return f"{server} didn't answer as it should, however often it was asked ({trouble.said}): {fix}"


def _library(trouble: Trouble) -> str:
    if "ansible_collections" in trouble.said:
        return f"the collection kubernetes.core is not installed, or it is older than 3.0.0: run `{COLLECTION_FIX}` on the controller"
    return (
        f"the Python that modules are run with there lacks the library kubernetes ({trouble.said}): run `{LIBRARY_FIX}` with that "
        "Python, or set taco_kube_host to a host that has it"
    )


def _reason(trouble: Trouble, request: Any, kubeconfig: Any, server: str) -> str:
    path = path_of(kubeconfig)
    is_plain = server.startswith("http://")
    server = f"the API server at {server.partition('://')[2]}" if server else "the API server"
    if trouble.kind == failures.FORBIDDEN:
        return _forbidden(trouble, request)
    if trouble.kind == failures.CONFIG:
        return _config(trouble, kubeconfig)
    if trouble.kind == failures.UNREACHABLE:
        return _unreachable(trouble, server, path)
    if trouble.kind == failures.CERTIFICATE:
        return f"no TLS connection ({trouble.said}): {certificate.fix(trouble.said, server, path)}"
    if trouble.kind == failures.RETRY:
        return _retry(trouble, server, is_plain)
    if trouble.kind == failures.LIBRARY:
        return _library(trouble)
    if trouble.kind == failures.QUOTA:
        quota, amounts = trouble.details["quota"], trouble.details["amounts"]
        return f"it would exceed the quota {quota} ({amounts}): {QUOTA_FIX}"
    return _WORDS.get(trouble.kind, "{said}").replace("{said}", trouble.said)


_WORDS = {
    failures.UNAUTHORIZED: "the API server does not accept the credentials ({said}): the token or the client certificate has expired, "
    "is signed by another authority or is of another cluster, so renew the user's credentials in taco_kubeconfig (token, "
    "client-certificate-data)",
    failures.NOT_FOUND: "{said}: create it, or check that taco_kube_namespace and taco_kubeconfig are those of the cluster",
    failures.INVALID: "the API server finds it invalid ({said}): change what it names",
    failures.CONFLICT: "another client changed it at the same time ({said}): run it again",
}


def sentence(doing: str, trouble: Trouble, request: Any, kubeconfig: Any = None, server: str = "") -> str:
    """Return what could not be done, why, and what helps; server is its address."""
    return f"can't {doing}: {_reason(trouble, request, kubeconfig, server)}"
