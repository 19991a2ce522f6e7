# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The TLS of the API double by the real modules of kubernetes.core: what they return when a certificate is not accepted.

The results are kept in tests/fixtures/kubernetes for the tests of messages. A fixture is written again with TACO_RECORD=1.
"""

import datetime
import json
import os
import re
from pathlib import Path

import pytest
from kubelab import certificates, kubeconfig
from kubelab.testing import running_cluster
from kubernetes_modules import execute

FIXTURES = Path(__file__).parents[2] / "fixtures/kubernetes"
EXPIRED = datetime.timedelta(hours=-1)
MODULES = {
    "k8s_info": {"kind": "Node", "api_version": "v1"},
    "k8s": {"state": "present", "resource_definition": {"kind": "ConfigMap", "metadata": {"name": "a"}}},
    "k8s_drain": {"name": "n1", "state": "drain"},
}


def _wrong_authority(cluster):
    return {"authority": certificates.Authority().pem, "token": cluster.token}


def _wrong_name(cluster):
    return {"url": cluster.url.replace("127.0.0.1", "localhost"), "token": cluster.token}


def _valid(cluster):
    return {"token": cluster.token}


def _expired_client(cluster):
    return {"certificate": cluster.authority.client("taco", EXPIRED)}


def _unknown_token(_cluster):
    return {"token": "another"}


CASES = {
    "tls-wrong-authority": (_wrong_authority, {}),
    "tls-wrong-name": (_wrong_name, {}),
    "tls-expired-server": (_valid, {"lifetime": EXPIRED}),
    "tls-expired-client": (_expired_client, {}),
    "unknown-token": (_unknown_token, {}),
}


def _written(path, cluster, url=None, authority=None, **user):
    kubeconfig.write(path, url or cluster.url, authority or cluster.authority.pem, **user)
    return str(path)


def _normal(message):
    """Return a message without what differs from run to run and between versions of Python and OpenSSL."""
    message = re.split(r"\nHTTP response headers|\nOriginal traceback", message)[0]
    return re.sub(r"port=\d+", "port=6443", re.sub(r"_ssl\.c:\d+", "_ssl.c:1", message)).replace(
        "self signed", "self-signed"
    )


def _recorded(name, result):
    path = FIXTURES / f"{name}.json"
    if os.environ.get("TACO_RECORD"):
        # Nobody's paths, and the port that people know.
        message = re.sub(r"port=\d+", "port=6443", re.sub(r'File "\S*/site-packages/', 'File "/', result["msg"]))
        path.write_text(json.dumps({"failed": True, "msg": message}, indent=2) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_what_the_modules_return_is_what_the_fixtures_hold(name, tmp_path):
    account, options = CASES[name]
    with running_cluster(**options) as cluster:
        path = _written(tmp_path / "config", cluster, **account(cluster))
        results = [
            execute(f"kubernetes.core.{module}", {**given, "kubeconfig": path}) for module, given in MODULES.items()
        ]
    assert [result["failed"] for result in results] == [True] * len(MODULES)
    expected = _recorded(name, results[0])
    assert {_normal(result["msg"]) for result in results} == {_normal(expected["msg"])}


def test_a_certificate_stands_in_for_a_token(tmp_path):
    with running_cluster([{"name": "n1"}]) as cluster:
        path = _written(tmp_path / "config", cluster, certificate=cluster.authority.client("taco"))
        found = execute("kubernetes.core.k8s_info", {**MODULES["k8s_info"], "kubeconfig": path})
    assert [node["metadata"]["name"] for node in found["resources"]] == ["n1"]


def test_a_certificate_need_not_be_checked(tmp_path):
    with running_cluster([{"name": "n1"}]) as cluster:
        path = _written(tmp_path / "config", cluster, **_wrong_authority(cluster))
        options = {**MODULES["k8s_info"], "kubeconfig": path, "validate_certs": False}
        assert len(execute("kubernetes.core.k8s_info", options)["resources"]) == 1


def test_without_tls_there_is_no_answer():
    with running_cluster() as cluster:
        options = {**MODULES["k8s_info"], "host": cluster.url.replace("https", "http"), "api_key": cluster.token}
        failed = execute("kubernetes.core.k8s_info", options)
    assert failed["failed"], failed
