# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How to fix what the admission of a cluster refuses, and whether waiting may be enough. Text in, values out.

The same words reach a user in two ways: as the answer to a request of this collection, and in an event when the server
refuses the request of a controller, such as a pod of the MPI Operator.
"""

import json
import re
from typing import Any, Callable, Mapping, Match, NamedTuple, Optional, Tuple


class Advice(NamedTuple):
    """What helps against a refusal."""

    fix: str
    passes: bool
    """Whether the refusal may end without a change of the job or the cluster's configuration."""


# What of a job violates a PodSecurity level, by the name of the control, and the variable that removes it.
POD_SECURITY_FIXES = (
    ("privileged (", "mpijob_privileged: false"),
    ("host namespaces", "mpijob_network_mode without host"),
    ("hostPath volumes", "mpijob_mounts: []"),
)
LIMIT_FIXES = {
    "memory": "mpijob_memory (or mpijob_launcher_memory)",
    "cpu": "mpijob_launcher_cpu",
    "nvidia.com/gpu": "mpijob_gpus_per_worker",
    "hugepages-1Gi": "mpijob_hugepages",
}
# A control of the level restricted that no option of a job can satisfy: the image's processes run as root.
_ONLY_RESTRICTED = re.compile(
    r"allowPrivilegeEscalation|unrestricted capabilities|runAsNonRoot|seccompProfile|runAsUser"
)


_LIMITED = re.compile(r"(\S+) (?:usage|max limit to request ratio) per (?:Container|Pod) is")


def rule(details: Mapping[str, Any]) -> str:
    """Return the rule of a Role that allows what was refused."""
    words = {"apiGroups": [details["group"]], "resources": [details["resource"]], "verbs": [details["verb"]]}
    return json.dumps(words)


def _pod_security(match: Match[str]) -> str:
    level, violations = match["level"], match["violations"]
    label = (
        "label the namespace with `kubectl label namespace NAMESPACE pod-security.kubernetes.io/enforce=privileged "
        "--overwrite`, or set taco_kube_namespace to a namespace that has this label"
    )
    options = [option for words, option in POD_SECURITY_FIXES if words in violations]
    if not options:
        return f"{label}; the pods of the job can't satisfy {level}"
    rest = " as the only violations are these" if not _ONLY_RESTRICTED.search(violations) else ""
    reach = "" if rest else f"; {level} has other violations, which no option of the job removes"
    return f"{label}, or set {', '.join(options)}{rest}{reach}"


def _service_account(match: Match[str]) -> str:
    return f"create it with `kubectl create serviceaccount {match['name']} --namespace {match['namespace']}`"


def _limit(match: Match[str]) -> str:
    resources = dict.fromkeys(_LIMITED.findall(match.string))
    options = " and ".join(LIMIT_FIXES[name] for name in resources if name in LIMIT_FIXES)
    change = f"set {options} to what the LimitRange allows" if options else "change what the job requests"
    return (
        f"{change}, or have the LimitRange of the namespace changed (kubectl describe limitrange --namespace NAMESPACE)"
    )


def _must_specify(match: Match[str]) -> str:
    # "limits.cpu,limits.memory", and since 1.24 "limits.cpu for: mpi-worker; limits.memory for: mpi-worker"
    parts = (part.partition(" for: ")[0].strip() for part in re.split("[,;]", match["resources"]))
    return (
        f"the quota {match['quota']} requires {', '.join(filter(None, parts))} of each container: add a LimitRange with defaults for them "
        "to the namespace, or have the quota changed"
    )


def _terminating(match: Match[str]) -> str:
    name = match["namespace"]
    return (
        f"the namespace {name} is being deleted: wait until it is gone (kubectl get namespace {name}) and create it again, or set "
        "taco_kube_namespace to another namespace"
    )


def _webhook(match: Match[str]) -> str:
    return (
        f"change what the webhook {match['name']} names, or have its owner allow it (kubectl get validatingwebhookconfigurations,"
        "mutatingwebhookconfigurations)"
    )


def _broken_webhook(match: Match[str]) -> str:
    return (
        f"check that the service behind the webhook {match['name']} runs (kubectl get validatingwebhookconfigurations,"
        "mutatingwebhookconfigurations)"
    )


def _policy(match: Match[str]) -> str:
    return f"change what the ValidatingAdmissionPolicy {match['name']} names, or have its owner allow it"


def _controller(match: Match[str]) -> str:
    user, namespace = match["user"], match["namespace"]
    role = "Role and RoleBinding" if namespace else "ClusterRole and ClusterRoleBinding"
    return f"give {user} a {role} with the rule {rule(match.groupdict())}, or install the controller again with its own"


def _exists(match: Match[str]) -> str:
    return f"delete the {match['kind']} {match['name']} of another owner, or set mpijob_name to another name"


def _text(text: str) -> Callable[[Match[str]], str]:
    return lambda _match: text


QUOTA_FIX = "request less, delete what is no longer needed in the namespace, or have the quota raised"
ASK = "have whoever administers the cluster allow it"
_WAIT_FIX = "the server tries again"
# (what the server says, whether it may pass, the fix). The first that fits counts.
_RULES: Tuple[Tuple["re.Pattern[str]", bool, Callable[[Match[str]], str]], ...] = tuple(
    (re.compile(words, re.DOTALL), passes, fix)
    for words, passes, fix in (
        (r"in namespace (?P<namespace>\S+) because it is being terminated", True, _terminating),
        (r'violates PodSecurity "(?P<level>[a-z]+):[^"]*": (?P<violations>.*)', False, _pod_security),
        (
            r"PodSecurityPolicy: unable to|unable to validate against any pod security policy",
            False,
            _text(
                "let the ServiceAccount of the pods use a PodSecurityPolicy that allows them, or set mpijob_privileged: false, "
                "mpijob_mounts: [] or mpijob_network_mode as the policy requires"
            ),
        ),
        (
            r"unable to validate against any security context constraint",
            False,
            _text("let the ServiceAccount of the pods use the SecurityContextConstraints privileged"),
        ),
        (
            r"privileged: Forbidden: disallowed by cluster policy",
            False,
            _text(
                "set mpijob_privileged: false, or have the API server and the kubelets started with --allow-privileged"
            ),
        ),
        (
            r"error looking up service account (?P<namespace>[^/\s]+)/(?P<name>[^:\s]+): ",
            False,
            _service_account,
        ),
        (r"no API token found for service account", True, _text(_WAIT_FIX)),
        (r"exceeded quota: ", True, _text(QUOTA_FIX)),
        (r"failed quota: (?P<quota>[^:]+): must specify (?P<resources>.*)", False, _must_specify),
        (
            r"insufficient quota to match these scopes",
            False,
            _text("have a ResourceQuota created for these scopes, or the pods' PriorityClass changed"),
        ),
        (r"status unknown for quota", True, _text(_WAIT_FIX)),
        (
            r"(?:(?:maximum|minimum) )?(?P<resource>\S+) (?:usage|max limit to request ratio) per (?:Container|Pod) is",
            False,
            _limit,
        ),
        (r'admission webhook "(?P<name>[^"]+)" denied the request', False, _webhook),
        (r'failed calling (?:admission )?webhook "(?P<name>[^"]+)"', True, _broken_webhook),
        (r"ValidatingAdmissionPolicy '(?P<name>[^']+)' with binding '[^']*' denied request", False, _policy),
        (
            r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
            r'(?: in the namespace "(?P<namespace>[^"]*)")?',
            False,
            _controller,
        ),
        (
            r"no PriorityClass with name (?P<name>\S+) was found",
            False,
            lambda match: f"create the PriorityClass {match['name']}, or remove it from the job",
        ),
        (
            r'RuntimeClass "(?P<name>[^"]+)" not found',
            False,
            lambda match: f"create the RuntimeClass {match['name']}, or remove what adds it to the pods",
        ),
        (
            r'Resource "(?P<name>[^"]+)" of Kind "(?P<kind>[^"]*)" already exists and is not managed by',
            False,
            _exists,
        ),
        (r"Found validation errors: ", False, _text("change what the MPI Operator names in the job")),
        (r" is invalid: ", False, _text("change what the server names in the job")),
        (r" is forbidden: ", False, _text(ASK)),
    )
)


def advice(said: str, namespace: str = "") -> Optional[Advice]:
    """Return what helps against a refusal in the server's words, or None when the words are of no known refusal."""
    for words, passes, fix in _RULES:
        match = words.search(said)
        if match:
            return Advice(fix(match).replace("NAMESPACE", namespace or "NAMESPACE"), passes)
    return None
