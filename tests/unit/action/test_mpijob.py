# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action against a cluster that stores objects and moves pods, by the real modules of kubernetes.core."""

from pathlib import Path
from unittest.mock import MagicMock

import pytest
import yaml
from ansible.errors import AnsibleError
from ansible.playbook.task import Task
from kubelab.testing import running_cluster
from kubernetes_modules import in_process

from ansible_collections.taco.train.plugins.action import mpijob
from ansible_collections.taco.train.plugins.plugin_utils import kubernetes_calls

COLLECTION = Path(__file__).parents[3] / "collections/ansible_collections/taco/train"
ALLOCATABLE = {"cpu": "96", "memory": "900Gi", "hugepages-1Gi": "60Gi", "nvidia.com/gpu": "8", "pods": "110"}
NODES = [{"name": f"gpu-{index}", "allocatable": ALLOCATABLE, "labels": {}} for index in (1, 2)]
WRITES = ("POST", "PUT", "PATCH", "DELETE")
NAMES = ["taco-bench-worker-0", "taco-bench-worker-1"]


class Actor:
    """The action on one cluster."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        self.calls, self.lines, self.slept = [], [], []

    def run(self, check=False, **options):
        given = {
            "workers": 2,
            "gpus_per_worker": 8,
            "kubeconfig": self.cluster.kubeconfig,
            "wait_timeout": 20,
            "poll": 0.02,
            "logs_dir": str(self.folder / "pods"),
        }
        task = Task()
        task.args = {**given, **options}
        task.check_mode = check
        action = mpijob.ActionModule(task, MagicMock(), MagicMock(), None, MagicMock(), None)
        action._display = MagicMock()
        action._display.display = self.lines.append
        self.calls.clear()
        with in_process(action, self.calls):
            return action.run(task_vars={"inventory_hostname": "localhost"})

    def refused(self, *words, **options):
        """Run, and hold every word against the error."""
        with pytest.raises(AnsibleError) as error:
            self.run(**options)
        for word in words:
            assert word in str(error.value), str(error.value)
        return str(error.value)

    def written(self):
        return [request for request in self.cluster.requests if request[0] in WRITES]

    def jobs(self):
        return [job["metadata"]["name"] for job in self.cluster.objects("MPIJob")]


@pytest.fixture
def clock(monkeypatch):
    """Let nobody wait longer than a test has time for; returns how long they would have."""
    slept = []
    sleep = kubernetes_calls.time.sleep

    def short(_self, seconds):
        slept.append(seconds)
        sleep(min(seconds, 0.02))

    monkeypatch.setattr(kubernetes_calls.Clock, "sleep", short)
    monkeypatch.setattr(kubernetes_calls.Clock, "chance", lambda _self: 0.0)
    return slept


@pytest.fixture
def on(tmp_path, clock):
    """Return a function that makes an actor on a new cluster."""
    import contextlib

    with contextlib.ExitStack() as stack:

        def make(nodes=NODES, **options):
            actor = Actor(stack.enter_context(running_cluster(nodes, **options)), tmp_path)
            actor.slept = clock
            return actor

        yield make


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_a_job_runs_and_its_pods_become_hosts(on, version):
    actor = on(serve=(version,))
    result = actor.run()
    assert result["changed"]
    assert result["api_version"] == version
    assert actor.jobs() == ["taco-bench"]
    assert set(result["placement"]) == set(NAMES)
    assert sorted(result["placement"].values()) == ["gpu-1", "gpu-2"]
    assert [pod["name"] for pod in result["pods"]] == [*NAMES, result["launcher"]["pod"]]
    assert actor.lines[-1].startswith("taco-bench: Running, 2 of 2 workers ready, launcher runs")
    again = actor.run()
    assert not again["changed"]
    assert again["pods"] == result["pods"]
    assert "Nothing was changed" in again["msg"]
