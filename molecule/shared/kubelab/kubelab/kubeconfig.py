# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file by which a client finds the cluster."""

import hashlib
import os
import pathlib
import tempfile

import yaml


def content(url, token, namespace="default", name="kubelab"):
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url}}],
        "users": [{"name": "taco", "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "taco", "namespace": namespace}}],
        "current-context": name,
    }


def write(path, url, token, **more):
    path.write_text(yaml.safe_dump(content(url, token, **more)), encoding="utf-8")
    path.chmod(0o600)


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
