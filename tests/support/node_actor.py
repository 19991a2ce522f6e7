# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules on nodes against a cluster's stand-in."""

import contextlib
import time

import pytest
from kubelab.testing import running_cluster
from kubernetes_modules import execute

from ansible_collections.taco.train.plugins.module_utils.cluster import client
from ansible_collections.taco.train.plugins.module_utils.cluster.drain import CORDONED

OFFERS = {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": 8}
NODES = [{"name": name, "allocatable": OFFERS} for name in ("n1", "n2")]


class Actor:
    """A module on one cluster."""

    def __init__(self, cluster):
        self.cluster, self.lines, self.slept = cluster, [], []

    def execute(self, state, check=False, module="kubernetes_node", **options):
        own = {"name": "n1", "state": state, "timeout": 20, "poll": 0.02} if state else {}
        given = {"kubeconfig": self.cluster.kubeconfig, **own, **options}
        return execute(f"taco.train.{module}", given, check=check)

    def run(self, state, **options):
        result = self.execute(state, **options)
        assert not result.get("failed"), result["msg"]
        return result

    def refused(self, state, **options):
        result = self.execute(state, **options)
        assert result.get("failed"), result
        return result["msg"]

    def node(self, name="n1"):
        return self.cluster.get("Node", name, None)

    def cordoned(self):
        node = self.node()
        return bool(node["spec"].get("unschedulable")), CORDONED in (node["metadata"].get("annotations") or {})

    def pods(self):
        return sorted(found["metadata"]["name"] for found in self.cluster.objects("Pod"))

    def written(self):
        return [request[:2] for request in self.cluster.requests if request[0] != "GET"]

    def cordon(self, unschedulable=True):
        node = self.node()
        node["spec"]["unschedulable"] = unschedulable
        self.cluster.put(node)

    def offer(self, **changes):
        node = self.node()
        for part in ("allocatable", "capacity"):
            node["status"][part].update(changes)
        self.cluster.put(node)


@pytest.fixture
def actor(monkeypatch):
    with contextlib.ExitStack() as stack:
        found = Actor(stack.enter_context(running_cluster(NODES)))
        sleep = time.sleep

        def short(_self, seconds):
            found.slept.append(seconds)
            sleep(min(seconds, 0.02))

        monkeypatch.setattr(client.Clock, "sleep", short)
        monkeypatch.setattr(client.Client, "say", lambda _client, line: found.lines.append(line))
        monkeypatch.setattr(client.Clock, "now", lambda _self: time.monotonic() + sum(found.slept))
        yield found
