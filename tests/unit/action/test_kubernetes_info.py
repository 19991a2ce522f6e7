# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster as a whole against a cluster's stand-in."""

from pathlib import Path


def test_the_cluster_is_looked_at_as_a_whole(actor):
    actor.cluster.forbid("patch", "nodes")
    actor.cluster.forbid("create", "mpijobs")
    actor.cluster.forbid("create", "pods/eviction")
    found = actor.run(None, module="kubernetes_info", check=True)["kubernetes"]
    assert found["missing"] == ["patch nodes", "create pods/eviction", "create mpijobs.kubeflow.org"]
    assert [node["metadata"]["name"] for node in found["nodes"]] == ["n1", "n2"]
    assert found["crd"]["metadata"]["name"] == "mpijobs.kubeflow.org" and found["error"] is None
    assert found["operators"] == []
    assert all(path.endswith("selfsubjectaccessreviews") for _method, path in actor.written())


def test_what_may_not_be_read_is_one_finding_among_others(actor):
    actor.cluster.forbid("list", "nodes")
    actor.cluster.forbid("get", "customresourcedefinitions")
    actor.cluster.forbid("list", "pods")
    found = actor.run(None, module="kubernetes_info")["kubernetes"]
    assert (found["nodes"], found["crd"], found["crd_forbidden"], found["error"]) == (None, None, True, None)
    assert found["operators"] is None


def test_a_cluster_that_does_not_answer_is_a_finding(actor, tmp_path):
    config = Path(actor.cluster.kubeconfig).read_text().replace(actor.cluster.url, "http://127.0.0.1:9")
    (tmp_path / "config").write_text(config)
    found = actor.run(None, module="kubernetes_info", kubeconfig=str(tmp_path / "config"))["kubernetes"]
    assert "the API server at 127.0.0.1:9 can't be reached" in found["error"] and found["nodes"] is None


def test_a_kubeconfig_given_as_text_is_never_shown(actor):
    text = "apiVersion: v1\nusers:\n- user: {token: SECRET}\n"
    said = actor.refused("ready", kubeconfig=text)
    assert "taco_kubeconfig is not a path" in said and "SECRET" not in said
