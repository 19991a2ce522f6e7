# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A failed module's words are read as what happened, and become a sentence that helps."""

import json
from types import SimpleNamespace

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.clock import (
    MOST_ASKED_SECONDS,
    MOST_CALLS,
    MOST_SECONDS,
    wait_seconds,
)
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import MOST_LETTERS, Trouble, trouble
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.messages import sentence

FORBIDDEN = (
    'mpijobs.kubeflow.org is forbidden: User "system:serviceaccount:ci:runner" cannot create resource "mpijobs" in API group '
    '"kubeflow.org" in the namespace "team-a"'
)
NODES = 'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope'
QUOTA = 'pods "x" is forbidden: exceeded quota: team, requested: pods=2, used: pods=3, limited: pods=4'


def answer(code, message, **details):
    """Return the server's answer as it is sent."""
    found = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "code": code,
    }
    return json.dumps({**found, "details": details} if details else found)


def failed(text):
    return {"failed": True, "msg": text}


def created(body):
    return {"failed": True, "msg": f"Failed to create object: {body}", "reason": "Some Reason"}


def found(code, reason, body, headers="{}"):
    """Return the result of k8s_info, which hands on the client's exception as text."""
    said = f"{code}\nReason: {reason}\nHTTP response headers: HTTPHeaderDict({headers})\nHTTP response body: {body}"
    return {
        "failed": True,
        "msg": f"Exception '{said}\nOriginal traceback: \n  File \"x.py\"' raised while trying to get resource",
    }


def crashed(text):
    return {
        "failed": True,
        "msg": "MODULE FAILURE\nSee stdout/stderr for the exact error",
        "module_stderr": text,
        "rc": 1,
    }


@pytest.mark.parametrize(
    ("result", "kind", "code"),
    [
        (created(answer(500, "etcdserver: request timed out")), "retry", 500),
        (found(504, "Gateway Timeout", "<html>late</html>"), "retry", 504),
        (found(502, "Bad Gateway", "b''"), "retry", 502),
        (found(429, "Too Many Requests", answer(429, "slow down")), "retry", 429),
        (created(answer(409, "the object has been modified")), "conflict", 409),
        (created(answer(404, 'namespaces "x" not found')), "not found", 404),
        (created(answer(422, "MPIJob is invalid")), "invalid", 422),
        (created(answer(401, "Unauthorized")), "unauthorized", 401),
        (created(answer(403, FORBIDDEN)), "forbidden", 403),
        (created(answer(403, QUOTA)), "quota", 403),
        ({"failed": True, "msg": f"Unable to retrieve log from Pod due to: {FORBIDDEN}"}, "forbidden", None),
        (
            created("('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"),
            "retry",
            None,
        ),
        (
            crashed("Traceback:\n  x\nurllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out."),
            "retry",
            None,
        ),
        (crashed("kubernetes.client.exceptions.ApiException: (503)\nReason: Service Unavailable\n"), "retry", 503),
        (
            failed("Module failed: Host value http://h should start with https:// when talking to HTTPS endpoint"),
            "retry",
            None,
        ),
        (
            crashed(
                "MaxRetryError: HTTPSConnectionPool(host='10.0.0.1', port=6443): Max retries exceeded with url: /version (Caused by "
                "NewConnectionError('<x>: Failed to establish a new connection: [Errno 111] Connection refused'))"
            ),
            "unreachable",
            None,
        ),
        (
            crashed(
                "(Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed')))"
            ),
            "certificate",
            None,
        ),
        (failed("Could not create API client: Invalid kube-config file. No configuration found."), "config", None),
        (failed("Failed to import the required Python library (kubernetes) on h's Python."), "library", None),
        (failed("The module kubernetes.core.k8s_info was not found in configured module paths."), "library", None),
        (failed("Failed to find exact match for kubeflow.org/v1.MPIJob by [kind]"), "not served", None),
        ({"failed": True, "msg": "argument 'name' is of type dict"}, "other", None),
    ],
)
def test_a_failure_is_of_a_kind(result, kind, code):
    seen = trouble(result)
    assert (seen.kind, seen.code) == (kind, code)
    assert seen.passes == (kind in ("retry", "unreachable"))
    assert seen.said and "\n" not in seen.said


def test_a_result_without_a_failure_is_no_trouble():
    assert trouble({"changed": True, "result": {"kind": "Status", "code": 500}}) is None
    assert trouble({"resources": []}) is None


@pytest.mark.parametrize(
    ("result", "seconds"),
    [
        (created(answer(429, "slow down", retryAfterSeconds=7)), 7),
        (found(429, "Too Many Requests", "slow down", "{'Retry-After': '3', 'Content-Type': 'text/plain'}"), 3),
        (created(answer(500, "no")), None),
    ],
)
def test_the_server_says_how_long_to_wait(result, seconds):
    assert trouble(result).retry_after == seconds


def test_what_is_wrong_with_each_field_is_kept():
    cause = {"field": "spec.slotsPerWorker", "message": "must be 1 or more"}
    assert (
        "spec.slotsPerWorker: must be 1 or more" in trouble(created(answer(422, "it is invalid", causes=[cause]))).said
    )


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            FORBIDDEN,
            [
                "the user system:serviceaccount:ci:runner may not create mpijobs of the group kubeflow.org in the namespace team-a",
                'a Role with the rule {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["create"]}',
                "a RoleBinding",
            ],
        ),
        (
            NODES,
            [
                "may not list nodes in the whole cluster",
                'ClusterRole with the rule {"apiGroups": [""]',
                "ClusterRoleBinding",
            ],
        ),
        (QUOTA, ["the quota team (requested: pods=2, used: pods=3, limited: pods=4)", "raised"]),
        ("the policy says no", ["the policy says no", "have whoever administers the cluster allow it"]),
        (
            "unable to create new content in namespace team-a because it is being terminated",
            ["the namespace team-a is being deleted: wait until it is gone", "taco_kube_namespace"],
        ),
        (
            'admission webhook "guard.example.com" denied the request: no privileged jobs',
            ["no privileged jobs", "the webhook guard.example.com"],
        ),
    ],
)
def test_a_refusal_says_who_lacks_what(message, words):
    said = sentence("localhost", "create it", trouble(created(answer(403, message))))
    assert said.startswith("localhost: can't create it: ")
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (
            Trouble("unreachable", "refused", details={"host": "10.0.0.1", "port": "6443"}),
            ["10.0.0.1:6443", "taco_kubeconfig"],
        ),
        (Trouble("unreachable", "refused"), ["the API server can't be reached"]),
        (Trouble("config", "no file"), ["taco_kubeconfig", "taco_kube_context"]),
        (Trouble("library", "Failed to import kubernetes"), ["pip install kubernetes", "taco_kube_host"]),
        (Trouble("library", "the module x was not found"), ["ansible-galaxy collection install kubernetes.core"]),
        (Trouble("retry", "late"), ["late", "run it again later"]),
        (Trouble("unauthorized", "who"), ["credentials", "taco_kubeconfig"]),
        (Trouble("other", "something"), ["something"]),
    ],
)
def test_every_kind_becomes_a_sentence(seen, words):
    for kubeconfig in (None, "/home/me/config", {"clusters": []}):
        said = sentence("h", "read it", seen, kubeconfig)
        assert all(word in said for word in words) and "clusters" not in said and "None" not in said


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nusers:\n- user:\n    token: SECRET\n",
        "token: SECRET",
        '{"token":"SECRET"}',
        "SECRET\n",
        "U0VDUkVU" * 32,
        {"token": "SECRET"},
    ],
)
def test_a_kubeconfig_that_is_no_path_is_never_shown(text):
    for kind in ("unreachable", "certificate", "config"):
        said = sentence("gpu1", "read Nodes", Trouble(kind, "no"), text)
        assert "SECRET" not in said and "U0VDUkVU" not in said
    assert "taco_kubeconfig is not a path (not shown, since it may hold a token)" in said


@pytest.mark.parametrize("path", ["/root/.kube/config", "~/.kube/tke 1.yml", "kube:prod", "$HOME/config"])
def test_a_kubeconfig_that_is_a_path_is_shown(path):
    assert f"taco_kubeconfig is {path}: set" in sentence("gpu1", "read Nodes", Trouble("config", "no"), path)


def test_waits_grow_end_and_heed_the_server():
    waits = [wait_seconds(failures, None, 0.0) for failures in range(1, MOST_CALLS + 1)]
    assert waits[-1] is None and waits[:-1] == sorted(waits[:-1]) and max(waits[:-1]) <= MOST_SECONDS
    assert wait_seconds(1, 30, 0.0) >= 30
    assert wait_seconds(1, MOST_ASKED_SECONDS + 1, 0.0) is None
    assert wait_seconds(3, None, 1.0) == 1.5 * wait_seconds(3, None, 0.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
            "Connection aborted: Remote end closed connection without response",
        ),
        (
            "('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))",
            "Connection aborted: Connection reset by peer",
        ),
        (
            "HTTPSConnectionPool(host='10.0.0.1', port=6443): Read timed out. (read timeout=5)",
            "Read timed out. (read timeout=5)",
        ),
        (
            "(Caused by NewConnectionError('<urllib3.HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno 113] No "
            "route to host'))",
            "Failed to establish a new connection: [Errno 113] No route to host",
        ),
        (
            "(Caused by NameResolutionError(\"<urllib3 object>: Failed to resolve 'api.example' ([Errno -2] Name or service not known)\"))",
            "Name or service not known",
        ),
        (
            "Connection broken: IncompleteRead(12 bytes read, 5 more expected)",
            "Connection broken: IncompleteRead(12 bytes read, 5 more expected)",
        ),
    ],
)
def test_the_words_of_a_lost_connection_are_not_cut(text, said):
    assert trouble({"failed": True, "msg": f"Task failed: Module failed: {text}"}).said == said


def summary(msg, traceback=None, chained=None):
    """An exception as ansible-core 2.19 and newer hand it on."""
    chain = SimpleNamespace(event=chained.event) if chained else None
    event = SimpleNamespace(msg=msg, formatted_traceback=traceback, chain=chain)
    return SimpleNamespace(event=event)


HANGS = 'Traceback (most recent call last):\n  File "x.py"\nurllib3.exceptions.ReadTimeoutError: Read timed out. (read timeout=60)\n'


@pytest.mark.parametrize(
    ("exception", "kind", "said"),
    [
        (summary("Task failed.", HANGS), "retry", "ReadTimeoutError: Read timed out. (read timeout=60)"),
        (summary("Task failed.", None, summary("Read timed out.", None)), "retry", "Read timed out"),
        (
            summary("Host value http://h should start with https:// when talking to HTTPS endpoint"),
            "retry",
            "should start with https:// when talking to HTTPS endpoint",
        ),
        (summary("(403)\nReason: Forbidden\n"), "forbidden", "MODULE FAILURE"),
    ],
)
def test_an_exception_of_a_newer_core_is_read_by_its_words(exception, kind, said):
    found = trouble({"failed": True, "msg": "MODULE FAILURE", "exception": exception})
    assert (found.kind, found.said) == (kind, said)


def test_a_message_that_is_too_long_keeps_its_end():
    said = trouble(created(answer(422, "it is invalid " + "x" * 3000 + " because of the last cause"))).said
    assert said.startswith("it is invalid") and said.endswith("because of the last cause") and len(said) <= MOST_LETTERS
