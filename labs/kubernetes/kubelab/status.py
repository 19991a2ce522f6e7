# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Kubernetes API server answers when it refuses: Status objects, in its own words."""

import json

PHRASES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
MESSAGES = {
    401: "Unauthorized",
    429: "the server has received too many requests and has asked us to try again later",
    500: 'an error on the server ("Internal Server Error: etcdserver: request timed out") has prevented the request from '
    "succeeding",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


class Refused(Exception):
    """A request that the server refuses, with the Status that says so."""

    def __init__(self, code, message, reason=None, details=None, headers=None):
        super().__init__(message)
        self.code = code
        self.headers = headers or {}
        self.body = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason or PHRASES.get(code, ""),
            "code": code,
        }
        if details:
            self.body["details"] = details


def qualified(resource):
    """Return a resource as messages name it: pods, mpijobs.kubeflow.org."""
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def _details(resource, name, **more):
    return {"name": name, **({"group": resource.group} if resource.group else {}), "kind": resource.plural, **more}


def not_found(resource, name):
    return Refused(404, f'{qualified(resource)} "{name}" not found', details=_details(resource, name))


def no_such_path():
    """The answer for an unknown group, version or resource: a Status of the path, not of an object."""
    return Refused(404, "the server could not find the requested resource", details={})


def already_exists(resource, name):
    message = f'{qualified(resource)} "{name}" already exists'
    return Refused(409, message, "AlreadyExists", _details(resource, name))


def conflict(resource, name):
    message = (
        f'Operation cannot be fulfilled on {qualified(resource)} "{name}": the object has been modified; please apply your '
        "changes to the latest version and try again"
    )
    return Refused(409, message, "Conflict", _details(resource, name))


def uid_conflict(resource, name, wanted, found):
    message = (
        f'Operation cannot be fulfilled on {qualified(resource)} "{name}": Precondition failed: UID in precondition: {wanted}, '
        f"UID in object meta: {found}"
    )
    return Refused(409, message, "Conflict", _details(resource, name))


def forbidden(resource, name, why):
    return Refused(403, f'{qualified(resource)} "{name}" is forbidden: {why}', details=_details(resource, name))


def not_permitted(user, verb, resource, namespace, name, subresource=None):
    """The refusal of RBAC."""
    path = f"{resource.plural}/{subresource}" if subresource else resource.plural
    where = f' in the namespace "{namespace}"' if namespace else " at the cluster scope"
    why = f'User "{user}" cannot {verb} resource "{path}" in API group "{resource.group}"{where}'
    if name:
        return forbidden(resource, name, why)
    details = {**({"group": resource.group} if resource.group else {}), "kind": resource.plural}
    return Refused(403, f"{qualified(resource)} is forbidden: {why}", details=details)


def terminating(resource, name, namespace):
    """The refusal of a new object whose namespace is being deleted."""
    refused = forbidden(
        resource, name, f"unable to create new content in namespace {namespace} because it is being terminated"
    )
    cause = {"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated"}
    refused.body["details"]["causes"] = [{**cause, "field": "metadata.namespace"}]
    return refused


def quota_exceeded(resource, name, quota, asked, used, limited):
    """The refusal of the admission of quotas; each amount is a text such as pods=1."""
    why = f"exceeded quota: {quota}, requested: {asked}, used: {used}, limited: {limited}"
    return forbidden(resource, name, why)


def invalid(resource, name, causes):
    """Return a refusal of the object's content; causes are (reason, field, message)."""
    listed = [{"reason": reason, "message": message, "field": field} for reason, field, message in causes]
    said = [f"{cause['field']}: {cause['message']}" for cause in listed]
    text = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {"name": name, **({"group": resource.group} if resource.group else {}), "kind": resource.kind}
    return Refused(422, f'{kind} "{name}" is invalid: {text}', details={**details, "causes": listed})


def bad_request(message):
    return Refused(400, message)


def unsupported_patch(found, known):
    message = (
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(known)}"
        if found
        else "a content type is needed"
    )
    return Refused(415, message)


def cannot_evict(budget, needed, healthy):
    """The refusal of an eviction by a PodDisruptionBudget."""
    why = f"The disruption budget {budget} needs {needed} healthy pods and has {healthy} currently"
    details = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return Refused(429, message, details=details)


def plain(code, message=None):
    """Return a refusal that no object is the cause of, as a fault is given one."""
    details, headers = None, None
    if code == 429:
        details, headers = {"retryAfterSeconds": 1}, {"Retry-After": "1"}
    return Refused(code, message or MESSAGES.get(code, f"the server answered {code}"), details=details, headers=headers)


def of_command(code):
    """The exit status of a command in a container, as the last message of its websocket."""
    if code == 0:
        return json.dumps({"metadata": {}, "status": "Success"}).encode()
    said = f"command terminated with non-zero exit code: exit status {code}"
    causes = [{"reason": "ExitCode", "message": str(code)}]
    answer = {
        "metadata": {},
        "status": "Failure",
        "message": said,
        "reason": "NonZeroExitCode",
        "details": {"causes": causes},
    }
    return json.dumps(answer).encode()
