# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods of an MPIJob that do not start, end or are evicted are named with the cause."""

import pytest
from mpijob_actor import NODES, REMOVE


def test_pods_that_may_not_be_listed_leave_their_holders_unknown(on):
    actor = on()
    actor.cluster.script(
        "worker-1$", [{"state": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient hugepages-1Gi."}]
    )
    actor.cluster.fail(method="GET", path="/api/v1/pods", status=403, times=99)
    actor.refused(
        "the nodes have hugepages-1Gi, and other pods hold it (gpu-1, gpu-2: run `kubectl describe node`",
        wait_timeout=1,
    )


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (
            [{"state": "ImagePullBackOff"}],
            ["taco-bench-worker-1: its container mpi-worker has no image", "set mpijob_image"],
        ),
        (
            [{"state": "CrashLoopBackOff", "exit_code": 3}],
            ["taco-bench-worker-1: its container mpi-worker", "exit status 3"],
        ),
        (
            [{"state": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient hugepages-1Gi."}],
            [
                "Insufficient",
                "the nodes have hugepages-1Gi, and other pods hold it",
                "default/taco-bench-worker-0 (50 GiB)",
            ],
        ),
        ([{"state": "NotReady"}], ["taco-bench-worker-1: it runs and isn't Ready"]),
    ],
    ids=["image", "crash loop", "unschedulable", "not ready"],
)
def test_a_pod_that_does_not_start_is_named_when_the_time_is_up(on, steps, words):
    actor = on()
    actor.cluster.script("worker-1$", steps)
    actor.refused("1 of 2 workers are ready", *words, REMOVE, wait_timeout=1)
    assert (
        any(line.startswith("taco-bench: taco-bench-worker-1: ") for line in actor.lines)
        or steps[0]["state"] == "NotReady"
    )


def test_a_worker_that_crashes_is_not_waited_for_to_the_end(on, monkeypatch):
    monkeypatch.setattr("ansible_collections.taco.train.plugins.module_utils.cluster.wait.ENDED_SECONDS", 0.1)
    actor = on()
    actor.cluster.script("worker-1$", [{"state": "Failed", "exit_code": 3}])
    actor.refused("taco-bench-worker-1 ended and was not started again", "exit status 3", REMOVE, wait_timeout=600)


def test_the_log_of_a_worker_that_ended_is_quoted(on, monkeypatch):
    monkeypatch.setattr("ansible_collections.taco.train.plugins.module_utils.cluster.wait.ENDED_SECONDS", 0.1)
    actor = on()
    actor.cluster.log(
        "taco-bench-worker-1",
        "ssh: Could not resolve hostname taco-bench-worker-0.taco-bench: Name or service not known\n",
    )
    actor.cluster.script("worker-1$", [{"state": "Failed", "exit_code": 255}])
    actor.refused(
        "taco-bench-worker-1 ended and was not started again",
        "the log of taco-bench-worker-1 ends with: ssh: Could not resolve hostname taco-bench-worker-0.taco-bench",
        "kubectl get service taco-bench",
        wait_timeout=600,
    )


def test_taints_that_the_scheduler_does_not_name_are_read_from_the_nodes(on):
    tainted = {**NODES[1], "taints": [{"key": "team", "value": "speech", "effect": "PreferNoSchedule"}]}
    actor = on(nodes=[NODES[0], tainted])
    taint = [{"key": "team", "value": "speech", "effect": "NoSchedule"}]

    def change():
        node = actor.cluster.get("Node", "gpu-2", None)
        node["spec"]["taints"] = taint
        actor.cluster.put(node)

    actor.on_line["taco-bench: "] = change
    actor.cluster.script(
        "worker-1$",
        [{"state": "Unschedulable", "message": "0/2 nodes are available: 2 node(s) had untolerated taint(s)."}],
    )
    actor.refused("untolerated taint(s)", "gpu-2 has team=speech:NoSchedule", wait_timeout=1)


def test_an_evicted_worker_ends_the_job(on):
    actor = on()
    actor.cluster.script("worker-1$", [{"state": "Running", "seconds": 0.05}, {"state": "Evicted"}])
    actor.cluster.script("worker-0$", [{"state": "ContainerCreating", "seconds": 60}])
    actor.refused("MPIJobEvicted", "1/2 workers are evicted", "low on resource", REMOVE)
