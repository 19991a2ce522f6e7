# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The library, the kubeconfig and the other options by which modules reach an API server."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from guides import COLLECTION

from ansible_collections.taco.train.plugins.module_utils.cluster import arguments, client

CORE = "ansible_collections.kubernetes.core.plugins.module_utils.k8s.client"


ASKED = """
import sys
sys.modules[sys.argv[1]] = None
from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client
Client({}).read("Node", "v1")
"""


@pytest.mark.parametrize(
    "name", ["urllib3", "kubernetes", "kubernetes.dynamic", "ansible_collections.kubernetes", CORE]
)
def test_a_library_that_is_missing_or_too_old_is_named_with_the_command(name):
    environment = dict(os.environ, PYTHONPATH=str(COLLECTION.parents[2]))
    done = subprocess.run(
        [sys.executable, "-c", ASKED, name], env=environment, capture_output=True, text=True, check=False
    )
    said = done.stderr.splitlines()[-1]
    assert "KubernetesError: can't read Nodes: the " in said, done.stderr
    assert ("ansible-galaxy collection install" if "collections" in name else "pip install kubernetes") in said


CLUSTERS = {"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}], "current-context": "x"}
CONTEXTS = {"contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "users": []}
NO_KUBECONFIGS = {
    "a list": (b"- SECRET", "its content is no kubeconfig"),
    "a word": (b"SECRET", "its content is no kubeconfig"),
    "another encoding": (b"users: \xff SECRET", "it is no text in UTF-8"),
    "a damaged certificate": (
        json.dumps(CLUSTERS | CONTEXTS)
        .replace('"server"', '"certificate-authority-data": "SECRET!", "server"')
        .encode(),
        "no base64",
    ),
    "a folder": (None, "Is a directory"),
}


@pytest.mark.parametrize("name", NO_KUBECONFIGS)
def test_a_file_that_is_no_kubeconfig_is_named_without_its_content(tmp_path, name):
    content, expected = NO_KUBECONFIGS[name]
    path = tmp_path / "config"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(client.KubernetesError, match="no kubeconfig that works was found") as error:
        client.Client({"kubeconfig": str(path)}).read("Node", "v1")
    said = str(error.value)
    assert expected in said and str(path) in said and "SECRET" not in said and "Errno" not in said


def test_of_a_kubeconfig_that_is_given_as_content_the_secrets_are_hidden_and_its_names_are_not():
    user = {"name": "u", "user": {"token": "SECRET", "exec": {"env": [{"name": "T", "value": "SECRET 2"}]}}}
    content = {**CLUSTERS, **CONTEXTS, "apiVersion": "v1", "kind": "Config", "users": [user]}
    shown = {"v1", "Config", "x", "c", "u", "T"}
    assert set(arguments.plain_values(content)) == shown
    params = {"kubeconfig": content, "context": None, "access": {}, "progress_file": None}
    module = SimpleNamespace(no_log_values=shown | {"SECRET", "SECRET 2"}, params=params)
    arguments.client_of(module)
    assert module.no_log_values == {"SECRET", "SECRET 2"}


def test_connection_options_of_a_missing_collection_are_not_shown(monkeypatch):
    monkeypatch.setattr(arguments, "AUTH_ARG_SPEC", {})
    assert arguments.access_arguments()["access"]["no_log"]
