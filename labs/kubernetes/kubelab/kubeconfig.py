# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file by which a client finds the cluster."""

import base64
import hashlib
import os
import pathlib
import tempfile

import yaml


def _encoded(text):
    return base64.b64encode(text.encode()).decode()


def content(url, authority, token=None, certificate=None, namespace="default", name="kubelab"):
    """Return a kubeconfig: authority is the certificate of who signed the server's, certificate an account's with its key."""
    user = {"token": token} if token else {}
    if certificate:
        user.update(zip(("client-certificate-data", "client-key-data"), map(_encoded, certificate)))
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url, "certificate-authority-data": _encoded(authority)}}],
        "users": [{"name": "taco", "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "taco", "namespace": namespace}}],
        "current-context": name,
    }


def write(path, *arguments, **options):
    """Write what content() returns into a file that is its owner's alone."""
    path.touch(0o600)
    path.write_text(yaml.safe_dump(content(*arguments, **options)), encoding="utf-8")


def forget_discovery(url):
    """Delete what clients have kept of this server: another test's may have its port, and serve something else."""
    hosts = [url, f"{url}-{os.getuid()}", f"{url}-{_login()}"]
    for host in map(str.encode, hosts):
        names = (f"osrcp-{hashlib.md5(host).hexdigest()}.json", f"k8srcp-{hashlib.sha256(host).hexdigest()}.json")
        for name in names:
            pathlib.Path(tempfile.gettempdir(), name).unlink(missing_ok=True)


def _login():
    try:
        return os.getlogin()
    except OSError:
        return os.environ.get("USERNAME", "")
