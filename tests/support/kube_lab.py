# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in for a cluster that `make kubelab-up` started, as tests ask it and tell it what to do."""

import json
import ssl
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".lab" / "kube"


class KubeLab:
    """Requests to the API, and below /kubelab what it is told, as the administrator."""

    def __init__(self):
        found = json.loads((FOLDER / "state.json").read_text(encoding="utf-8"))
        self.url, self.token = found["url"], found["admin_token"]
        tls = urllib.request.HTTPSHandler(context=ssl.create_default_context(cadata=found["ca"]))
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), tls)

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers)
        with self.opener.open(request, timeout=60) as answer:
            return json.load(answer)

    def tell(self, call, **options):
        return self.ask("/kubelab/" + call, options)

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.ask("/api/v1/namespaces/default/pods")["items"]}

    def nodes(self):
        return {node["metadata"]["name"]: node for node in self.ask("/api/v1/nodes")["items"]}

    def jobs(self, version="v1"):
        found = self.ask(f"/apis/kubeflow.org/{version}/namespaces/default/mpijobs")["items"]
        return {job["metadata"]["name"]: job for job in found}


def up(command, serve):
    """Bring the cluster up with these versions of MPIJobs and return it."""
    done = command(sys.executable, ROOT / "labs/kubernetes/kubelab.py", "up", "--nodes", "2", "--serve", serve)
    assert done.returncode == 0, done.stdout
    return KubeLab()
