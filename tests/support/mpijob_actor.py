# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module mpijob on a stand-in of a cluster."""

import contextlib
import time

import pytest
from kubelab.testing import running_cluster
from kubernetes_modules import execute

from ansible_collections.taco.train.plugins.filter.mpijob import mpijob_manifest
from ansible_collections.taco.train.plugins.module_utils.cluster import client, jobs, watch

ALLOCATABLE = {"cpu": "96", "memory": "900Gi", "hugepages-1Gi": "60Gi", "nvidia.com/gpu": "8", "pods": "110"}
NODES = [{"name": f"gpu-{index}", "allocatable": ALLOCATABLE, "labels": {}} for index in (1, 2)]
WRITES = ("POST", "PUT", "PATCH", "DELETE")
REMOVE = "kubectl delete mpijob taco-bench --namespace default"
WORKERS = ["taco-bench-worker-0", "taco-bench-worker-1"]
MOST_SECONDS = 0.02
JOB_OPTIONS = (
    "workers",
    "gpus_per_worker",
    "image",
    "clean_pod_policy",
    "command",
    "gpu_topology",
    "hugepages",
    "memory",
)


class Actor:
    """What a test does with the action, and what it saw of it."""

    def __init__(self, cluster, folder, slept):
        self.cluster, self.folder, self.slept = cluster, folder, slept
        self.lines = []
        self.on_line = {}
        """What is done, once, when a line with these words is shown."""

    def show(self, line):
        self.lines.append(line)
        for words in [words for words in self.on_line if words in line]:
            self.on_line.pop(words)()

    def execute(self, check=False, **options):
        job = {name: options.pop(name) for name in list(options) if name in JOB_OPTIONS}
        given = {
            "definition": mpijob_manifest({"workers": 2, "gpus_per_worker": 8, **job}),
            "kubeconfig": self.cluster.kubeconfig,
            "wait_timeout": 20,
            "poll": 0.05,
            "logs_dir": str(self.folder / "pods"),
            **options,
        }
        return execute("taco.train.mpijob", given, check=check)

    def run(self, check=False, **options):
        result = self.execute(check, **options)
        assert not result.get("failed"), result["msg"]
        return result

    def refused(self, *words, **options):
        """Run, hold every word against the error, and return it."""
        result = self.execute(**options)
        assert result.get("failed"), result
        for word in words:
            assert word in result["msg"], result["msg"]
        return result["msg"]

    def written(self):
        """Return the requests that change something, but for those that the cluster refused."""
        return [(method, path) for method, path, _status in self.cluster.requests if method in WRITES]

    def jobs(self):
        return [job["metadata"]["name"] for job in self.cluster.objects("MPIJob")]


@pytest.fixture
def on(tmp_path, monkeypatch):
    """Return a function that makes an actor on a new cluster. Time passes only while somebody waits, and faster."""
    slept = []
    sleep = time.sleep

    def short(_clock, seconds):
        slept.append(seconds)
        sleep(min(seconds, MOST_SECONDS))

    monkeypatch.setattr(client.Clock, "sleep", short)
    monkeypatch.setattr(client.Clock, "now", lambda _clock: sum(slept))
    monkeypatch.setattr(client.Clock, "chance", lambda _clock: 0.0)
    wait = watch.wait_for_change

    def watch_shortly(cluster, objects, seconds, pause):
        changed = wait(cluster, objects, 1, pause)
        if not changed:
            slept.append(min(seconds, watch.MOST_WATCH_SECONDS))
        return changed

    monkeypatch.setattr(jobs, "wait_for_change", watch_shortly)

    def actor(nodes=NODES, **options):
        made = Actor(stack.enter_context(running_cluster(nodes, **options)), tmp_path, slept)
        monkeypatch.setattr(client.Client, "say", lambda _client, line: made.show(line))
        return made

    with contextlib.ExitStack() as stack:
        yield actor
