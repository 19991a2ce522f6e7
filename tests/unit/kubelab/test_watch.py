# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module kubernetes_info with objects to watch on the stand-in: when it returns, what it asks, and what it says when it may not ask."""

import queue
import threading
import time

import pytest
from kubelab.testing import running_cluster
from kubernetes_modules import execute

from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
from ansible_collections.taco.train.plugins.modules import kubernetes_info
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.client import (
    Clock,
    Cluster,
    KubernetesError,
    watched,
)

NODES = [{"name": name, "allocatable": {"nvidia.com/gpu": 8}} for name in ("node-1", "node-2")]


@pytest.fixture
def cluster():
    with running_cluster(NODES, operator=False) as running:
        yield running


def label(cluster, name, value):
    node = cluster.get("Node", name, None)
    node["metadata"].setdefault("labels", {})["state"] = value
    cluster.put(node)


def watch(cluster, *things, seconds=10, kubeconfig=None):
    """Run the module; return its result, the seconds that it took and the requests for nodes that it made."""
    before, began = len(cluster.requests), time.monotonic()
    access = {"kubeconfig": kubeconfig or cluster.kubeconfig}
    result = execute("taco.train.kubernetes_info", {"watched": list(things), "seconds": seconds, "access": access})
    asked = [request for request in cluster.requests[before:] if request[1].startswith("/api/v1/nodes")]
    return result, time.monotonic() - began, asked


def node(cluster, name="node-1"):
    return watched("Node", "v1", [cluster.get("Node", name, None)], name=name)


def test_a_change_ends_it_at_once(cluster):
    threading.Timer(0.5, label, (cluster, "node-1", "changed")).start()
    result, took, asked = watch(cluster, node(cluster))
    assert result["differs"] is True and result["changed"] is False
    assert took < 5 and len(asked) <= 2


def test_of_several_the_first_change_counts(cluster):
    threading.Timer(0.5, label, (cluster, "node-2", "changed")).start()
    result, took, _asked = watch(cluster, node(cluster), node(cluster, "node-2"))
    assert result["differs"] is True and took < 5


def test_a_deleted_object_and_a_new_one_are_changes(cluster):
    threading.Timer(0.3, cluster.delete, ("Node", "node-1", None)).start()
    assert watch(cluster, node(cluster))[0]["differs"] is True
    threading.Timer(0.3, cluster.add_node, ("node-1",)).start()
    assert watch(cluster, watched("Node", "v1", [], name="node-1"))[0]["differs"] is True


def test_what_has_changed_before_it_began_is_not_missed(cluster):
    known = node(cluster)
    label(cluster, "node-1", "changed")
    result, took, asked = watch(cluster, known)
    assert result["differs"] is True and took < 5 and len(asked) == 1


def test_another_object_is_none_of_its_business(cluster):
    threading.Timer(0.3, label, (cluster, "node-2", "changed")).start()
    result, took, asked = watch(cluster, node(cluster), seconds=1)
    assert result["differs"] is False and took >= 1 and len(asked) == 2


def test_a_version_that_is_not_kept_any_more_is_a_change(cluster):
    client = get_api_client(kubeconfig=cluster.kubeconfig)
    label(cluster, "node-1", "changed")
    cluster.compact()
    ended = queue.Queue()
    kubernetes_info.follow(
        client.client,
        client.resource("Node", "v1"),
        {**node(cluster), "namespace": None, "label_selector": None},
        "1",
        5,
        ended,
    )
    assert ended.get_nowait() is True


def seen_from(cluster):
    slept = []
    clock = Clock()
    clock.sleep = slept.append
    return Cluster(execute, "localhost", {"kubeconfig": cluster.kubeconfig}, lambda _line: None, clock), slept


@pytest.mark.parametrize("verb", ["list", "watch"])
def test_a_permission_that_is_missing_is_named(cluster, verb):
    cluster.forbid(verb, "nodes")
    seen, _slept = seen_from(cluster)
    with pytest.raises(KubernetesError, match=f"{verb} nodes"):
        seen.wait_for_change([node(cluster)], 5, 0)


# Of a lost connection the client asks three times more by itself.
@pytest.mark.parametrize(("fault", "times"), [({"status": 503}, 1), ({"body": "disconnect"}, 4)])
def test_where_watches_fail_the_caller_looks_again(cluster, fault, times):
    cluster.fail("GET", "/api/v1/nodes", times=times, **fault)
    seen, slept = seen_from(cluster)
    known = node(cluster)
    assert seen.wait_for_change([known], 10, 3) is False and slept
    label(cluster, "node-1", "changed")
    assert seen.wait_for_change([known], 10, 3) is True


@pytest.mark.parametrize(
    ("options", "words"), [({"seconds": 0}, "from 1 to 3600"), ({"seconds": 10**12}, "from 1 to 3600")]
)
def test_options_that_make_no_sense_are_refused(cluster, options, words):
    result, _took, asked = watch(cluster, node(cluster), **options)
    assert result["failed"] and words in result["msg"] and not asked


def test_nothing_to_watch_is_refused(cluster):
    assert "watched is empty" in watch(cluster)[0]["msg"]


def test_a_kubeconfig_that_is_wrong_is_an_error(cluster, tmp_path):
    wrong = tmp_path / "config"
    wrong.write_text("{}\n")
    result, _took, _asked = watch(cluster, node(cluster), kubeconfig=str(wrong))
    assert result["failed"] and "Invalid kube-config" in result["msg"]
