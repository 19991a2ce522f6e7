# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A controller that is killed right before or right after any write to the cluster: the next run leads to the same state."""

import itertools
from pathlib import Path

import pytest
from killed_steps import Killed
from kubernetes_modules import execute as run_module

from ansible_collections.taco.train.plugins.module_utils.cluster.client import METHODS, Client

LABEL, BEFORE = "ack.node.gpu.schedule", "taco.train/gpu-schedule-before"


def killed_at_every_write(monkeypatch, function):
    """Run a function that is killed before its first write, after it, before its second one, and so on; yield after each kill."""
    real = Client._answer
    for kill in itertools.count(2):
        number, after = kill // 2, kill % 2 == 1
        written = itertools.count(1)

        def answer(client, request, *more, number=number, after=after, written=written):
            dies = request.verb in METHODS and request.subresource != "exec" and next(written) == number
            if dies and not after:
                raise Killed
            result = real(client, request, *more)
            if dies:
                raise Killed
            return result

        with monkeypatch.context() as patch:
            patch.setattr(Client, "_answer", answer)
            try:
                function()
                return
            except Killed:
                when = f"{'after' if after else 'before'} write {number}"
        yield when


def schedule(cluster, state):
    options = {"nodes": ["gpu-1", "gpu-2"], "wait_timeout": 10, "poll": 0.02, "state": state}
    return run_module("taco.train.gpu_topology", {"kubeconfig": cluster.kubeconfig, **options})


def labels(cluster):
    metadata = [node["metadata"] for node in cluster.objects("Node")]
    return [((one.get("labels") or {}).get(LABEL), (one.get("annotations") or {}).get(BEFORE)) for one in metadata]


def test_labels_of_nodes_are_put_back_whenever_it_was_killed(on, monkeypatch):
    cluster = on().cluster
    before, kills = labels(cluster), []
    for when in killed_at_every_write(monkeypatch, lambda: schedule(cluster, "topology")):
        kills.append(when)
        schedule(cluster, "restored")
        assert labels(cluster) == before, when
    assert len(kills) == 4, kills
    for when in killed_at_every_write(monkeypatch, lambda: schedule(cluster, "restored")):
        schedule(cluster, "restored")
        assert labels(cluster) == before, when
        schedule(cluster, "topology")
    assert labels(cluster) == before


@pytest.mark.parametrize("state", ["present", "replaced", "absent"])
def test_a_job_is_brought_to_its_state_whenever_it_was_killed(on, monkeypatch, state):
    actor = on()
    options = {"present": {}, "replaced": {"memory": "64Gi", "replace": True}, "absent": {"state": "absent"}}[state]
    options["interrupt_running_work"] = True
    ready = {"state": "absent"} if state == "present" else {"replace": True}

    def perform():
        return actor.run(**options)

    actor.run(**ready, interrupt_running_work=True)
    kills = []
    for when in killed_at_every_write(monkeypatch, perform):
        kills.append(when)
        perform()
        assert actor.jobs() == ([] if state == "absent" else ["taco-bench"]), when
        assert len(actor.cluster.objects("Pod")) == (0 if state == "absent" else 3), when
        assert not perform()["changed"], when
        actor.run(**ready, interrupt_running_work=True)
    assert len(kills) == {"present": 2, "replaced": 4, "absent": 2}[state], kills
    if state != "present":
        # What the pods of each job had printed was kept before anything was deleted.
        assert len({path.name for path in Path(actor.folder, "pods").iterdir()}) >= 6
