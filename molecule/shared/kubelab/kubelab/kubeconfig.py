# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file by which a client finds the cluster."""

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
