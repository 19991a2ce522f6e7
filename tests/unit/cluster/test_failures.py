# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a server answers and what happens to a connection become a sentence with the fix."""

import json
import os
import ssl
import subprocess
import sys
from types import SimpleNamespace

import pytest
import urllib3
import yaml
from kubernetes.client import ApiException
from kubernetes.config import ConfigException

from ansible_collections.taco.train.plugins.module_utils.cluster import client
from ansible_collections.taco.train.plugins.module_utils.cluster.client import Request
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import (
    MOST_ASKED_SECONDS,
    MOST_CALLS,
    MOST_SECONDS,
    wait_seconds,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import (
    MOST_LETTERS,
    Trouble,
    object_of,
    trouble_of,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import sentence

CREATE = Request("create", "MPIJob", "kubeflow.org/v1", "team-a")
LIST = Request("list", "Node")
EXEC = Request("create", "Pod", "v1", "team-a", "p", "exec")
REFUSED = 'mpijobs.kubeflow.org is forbidden: User "ci" cannot create resource "mpijobs" in API group "kubeflow.org"'
QUOTA = 'pods "x" is forbidden: exceeded quota: team, requested: pods=2, used: pods=3, limited: pods=4'


def answer(code, message, headers=None, **details):
    status = {"kind": "Status", "status": "Failure", "message": message, "code": code, "details": details}
    response = SimpleNamespace(status=code, reason="x", data=json.dumps(status).encode(), headers=headers or {})
    return ApiException(http_resp=response)


def plain(code, text):
    return ApiException(http_resp=SimpleNamespace(status=code, reason="x", data=text.encode(), headers={}))


def behind(error):
    """The client's exception for what happened to a connection."""
    try:
        try:
            raise error
        except type(error):
            raise ApiException(status=0, reason=str(error))  # noqa: B904 - the Kubernetes client raises it without "from", so only __context__ has the error
    except ApiException as found:
        return found


def not_an_object(text):
    with pytest.raises(ValueError, match="the answer is no object") as error:
        object_of(text)
    return error.value


def over_tls(words):
    return behind(urllib3.exceptions.SSLError(ssl.SSLError(1, words)))


def unauthorized():
    error = urllib3.exceptions.HTTPError("Handshake status 401")
    error.status_code, error.resp_body = 401, b"Unauthorized"
    return behind(error)


CASES = {
    "permission": (
        answer(403, REFUSED),
        "forbidden",
        CREATE,
        ["the user ci may not create mpijobs", "a Role with the rule"],
    ),
    "permission of the cluster": (
        answer(403, 'User "u" cannot list resource "nodes"'),
        "forbidden",
        LIST,
        ["in the whole cluster", "a ClusterRole"],
    ),
    "no credentials": (
        answer(403, 'User "system:anonymous" cannot list resource "nodes"'),
        "forbidden",
        LIST,
        ["had no credentials", "correct the user"],
    ),
    "exec": (answer(403, 'pods "p" is forbidden: '), "forbidden", EXEC, ['"verbs": ["get", "create"]']),
    "quota": (answer(403, QUOTA), "quota", CREATE, ["the quota team", "requested: pods=2", "have the quota raised"]),
    "admission": (answer(403, "x is forbidden: no"), "forbidden", CREATE, ["the API server refuses it"]),
    "credentials": (answer(401, "Unauthorized"), "unauthorized", LIST, ["renew the user's credentials"]),
    "credentials of an exec": (unauthorized(), "unauthorized", EXEC, ["renew the user's credentials"]),
    "absent": (answer(404, 'namespaces "n" not found', name="n"), "not found", CREATE, ["taco_kube_namespace"]),
    "not served": (plain(404, "404 page not found\n"), "not served", LIST, ["404 page not found"]),
    "a proxy's 404": (plain(404, "<html>nothing here"), "other", LIST, ["<html>nothing here"]),
    "conflict": (answer(409, "modified"), "conflict", CREATE, ["another client changed it"]),
    "a login page": (
        not_an_object("<html>\x1b[31mSign in"),
        "other",
        LIST,
        ["begins with '<html> [31mSign in'", "no login page"],
    ),
    "a JSON text that is no object": (not_an_object("[]"), "other", LIST, ["begins with '[]'", "is an API server"]),
    "another address": (plain(302, ""), "other", LIST, ["HTTP status 302", "is an API server"]),
    "gone": (answer(410, "too old resource version"), "gone", LIST, ["too old"]),
    "invalid": (answer(422, "Invalid value"), "invalid", CREATE, ["change what it names"]),
    "overload": (answer(429, "too many"), "retry", LIST, ["run it again later"]),
    "server error": (answer(500, "etcdserver: timed out"), "retry", LIST, ["etcdserver: timed out"]),
    "gateway": (plain(502, "<html>bad gateway"), "retry", LIST, ["bad gateway"]),
    "webhook": (
        answer(500, 'failed calling webhook "guard.example.com": refused'),
        "retry",
        CREATE,
        ["check that the service behind"],
    ),
    "plain HTTP": (
        plain(400, "Client sent an HTTP request to an HTTPS server.\n"),
        "certificate",
        LIST,
        ["https:// or http://"],
    ),
    "refused connection": (
        urllib3.exceptions.NewConnectionError(None, "[Errno 111] Connection refused"),
        "unreachable",
        LIST,
        ["taco_kube_host"],
    ),
    "lost connection": (urllib3.exceptions.ProtocolError("Connection aborted"), "retry", LIST, ["run it again later"]),
    "aborted connection": (
        urllib3.exceptions.ProtocolError("Connection aborted.", ConnectionResetError(104, "reset by peer")),
        "retry",
        LIST,
        ["(reset by peer)"],
    ),
    "slow": (urllib3.exceptions.ReadTimeoutError(None, None, "Read timed out"), "retry", LIST, ["Read timed out"]),
    "reset": (behind(ConnectionResetError(104, "Connection reset by peer")), "retry", EXEC, ["reset by peer"]),
    "authority": (
        over_tls("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)"),
        "certificate",
        LIST,
        [
            "(certificate verify failed: self-signed certificate)",
            "does not trust the authority",
            "validate_certs: false",
        ],
    ),
    "name": (
        over_tls(
            "[SSL: X] certificate verify failed: IP address mismatch, certificate is not valid for '::1' (_ssl.c:1)"
        ),
        "certificate",
        LIST,
        ["is for other names"],
    ),
    "expired": (
        over_tls("[SSL: X] certificate verify failed: certificate has expired (_ssl.c:1)"),
        "certificate",
        LIST,
        ["renew the certificate of the API server at 10.0.0.1:6443"],
    ),
    "client": (
        over_tls("[SSL: X] tlsv13 alert certificate required (_ssl.c:1)"),
        "certificate",
        LIST,
        ["client-key-data"],
    ),
    "no TLS": (
        over_tls("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1)"),
        "certificate",
        LIST,
        ["https://"],
    ),
    "end of TLS": (
        behind(urllib3.exceptions.SSLError(ssl.SSLEOFError(8, "EOF occurred"))),
        "retry",
        LIST,
        ["EOF occurred"],
    ),
    "no file": (FileNotFoundError(2, "No such file", "/nowhere/ca.pem"), "certificate", LIST, ["must exist, hold PEM"]),
    "kubeconfig": (ConfigException("Invalid kube-config file"), "config", LIST, ["taco_kube_context"]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_went_wrong_is_named_with_its_fix(name):
    error, kind, request, words = CASES[name]
    found = trouble_of(error)
    assert found.kind == kind, found
    assert found.passes is (kind in ("retry", "unreachable"))
    said = sentence("do it", found, request, "/home/me/config", "https://10.0.0.1:6443")
    for word in ["can't do it: ", *words]:
        assert word in said, said
    assert "\n" not in said and "object at 0x" not in said and "Errno" not in said and "Error(" not in said


def test_a_token_in_a_kubeconfig_that_is_no_yaml_is_not_shown():
    with pytest.raises(yaml.YAMLError) as error:
        yaml.safe_load("users:\n- user: {token: SECRET\n  x: [")
    said = sentence("read Nodes", trouble_of(error.value), LIST, "token: SECRET")
    assert "SECRET" not in said and "it is no YAML: see line" in said


def test_a_permission_that_held_before_may_come_back():
    found = trouble_of(answer(403, REFUSED))
    assert not found.passes and found._replace(worked=True).passes


def test_the_server_is_given_the_time_that_it_asks_for():
    assert trouble_of(answer(429, "slow down", headers={"Retry-After": "7"})).retry_after == 7
    assert trouble_of(answer(503, "slow down", retryAfterSeconds=3)).retry_after == 3
    assert trouble_of(answer(503, "slow down", headers={"Retry-After": "soon"})).retry_after is None


def test_what_is_invalid_is_named_field_by_field():
    found = trouble_of(answer(422, "is invalid", causes=[{"field": "spec.x", "message": "Required value"}]))
    assert found.said == "is invalid (spec.x: Required value)"


def test_a_long_answer_keeps_its_beginning_and_its_end():
    found = trouble_of(plain(500, "a" * 5000 + "cause"))
    assert len(found.said) <= MOST_LETTERS and found.said.endswith("cause") and found.said.startswith("a")


def test_a_missing_library_is_named_with_the_command_that_installs_it():
    def said(missing):
        return sentence("read Nodes", Trouble("library", missing), LIST)

    assert "pip install kubernetes" in said("No module named 'kubernetes'")
    assert "ansible-galaxy collection install 'kubernetes.core:>=3.0.0'" in said(
        "No module named 'ansible_collections.kubernetes'"
    )


def test_pauses_grow_to_a_limit_and_end():
    pauses = [wait_seconds(number, None, 0.0) for number in range(1, MOST_CALLS)]
    assert pauses == sorted(pauses) and max(pauses) <= MOST_SECONDS and wait_seconds(MOST_CALLS, None, 0.0) is None
    assert wait_seconds(1, 9.0, 0.0) == 9.0 and wait_seconds(1, MOST_ASKED_SECONDS + 1, 0.0) is None


def test_without_the_library_the_modules_start_and_say_what_is_missing(monkeypatch):
    monkeypatch.setattr(client, "LIBRARY_MISSING", "No module named 'kubernetes'")
    with pytest.raises(client.KubernetesError, match="pip install kubernetes"):
        client.Client({}).read("Node", "v1")
    code = (
        "import sys; sys.modules['kubernetes'] = None; from ansible_collections.taco.train.plugins.module_utils.cluster import present, "
        "failures; assert 'kubernetes' in failures.MISSING, failures.MISSING"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
