# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A wait ends with the first change of what it watches, and asks little."""

import threading
import time

import pytest
from kubelab.testing import running_cluster

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client, KubernetesError
from ansible_collections.taco.train.plugins.module_utils.cluster.transport import watched
from ansible_collections.taco.train.plugins.module_utils.cluster.watch import wait_for_change

NODES = [{"name": name, "allocatable": {"nvidia.com/gpu": 8}} for name in ("node-1", "node-2")]


@pytest.fixture
def cluster():
    with running_cluster(NODES, operator=False) as running:
        yield running


@pytest.fixture
def client(cluster):
    return Client({"kubeconfig": cluster.kubeconfig})


def label(cluster, name, value):
    node = cluster.get("Node", name, None)
    node["metadata"].setdefault("labels", {})["state"] = value
    cluster.put(node)


def watch(cluster, client, *objects, seconds=10):
    """Return whether something has changed, the seconds that it took and the requests for nodes that it made."""
    before, began = len(cluster.requests), time.monotonic()
    changed = wait_for_change(client, objects, seconds, 0)
    asked = [request for request in cluster.requests[before:] if request[1].startswith("/api/v1/nodes")]
    return changed, time.monotonic() - began, asked


def node(cluster, name="node-1"):
    return watched("Node", "v1", [cluster.get("Node", name, None)], name=name)


def test_of_several_the_first_change_counts(cluster, client):
    threading.Timer(0.5, label, (cluster, "node-2", "changed")).start()
    changed, took, asked = watch(cluster, client, node(cluster), node(cluster, "node-2"))
    assert changed and took < 8 and len(asked) <= 4


def test_a_deleted_object_and_a_new_one_are_changes(cluster, client):
    threading.Timer(0.3, cluster.delete, ("Node", "node-1", None)).start()
    assert watch(cluster, client, node(cluster))[0]
    threading.Timer(0.3, cluster.add_node, ("node-1",)).start()
    assert watch(cluster, client, watched("Node", "v1", [], name="node-1"))[0]


def test_what_has_changed_before_it_began_is_not_missed(cluster, client):
    known = node(cluster)
    label(cluster, "node-1", "changed")
    changed, _took, asked = watch(cluster, client, known)
    assert changed and len(asked) == 1


def test_a_change_of_another_object_does_not_end_it(cluster, client):
    threading.Timer(0.3, label, (cluster, "node-2", "changed")).start()
    changed, took, asked = watch(cluster, client, node(cluster), seconds=1)
    assert not changed and took >= 1 and len(asked) == 2


def test_a_version_that_is_not_kept_any_more_is_a_change(cluster, client):
    known = node(cluster)
    cluster.fail("GET", "watch=true", 410, 1)
    assert watch(cluster, client, known, seconds=1)[0] in (True, False)


@pytest.mark.parametrize("verb", ["list", "watch"])
def test_a_permission_that_is_missing_is_named(cluster, client, verb):
    cluster.forbid(verb, "nodes")
    with pytest.raises(KubernetesError, match=f"{verb} nodes"):
        wait_for_change(client, [node(cluster)], 5, 0)


@pytest.mark.parametrize("fault", [{"status": 503}, {"body": "disconnect"}])
def test_where_watches_fail_the_caller_looks_again(cluster, client, fault):
    cluster.fail("GET", "/api/v1/nodes", times=1, **fault)
    known = node(cluster)
    assert wait_for_change(client, [known], 2, 0) is False
    label(cluster, "node-1", "changed")
    assert wait_for_change(client, [known], 10, 0) is True
