# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What preflight says of a cluster."""

from types import SimpleNamespace

import jmespath
import pytest
from kubelab.resources import crd
from observed import NODE, VARIABLES

from ansible_collections.taco.train.plugins.module_utils.cluster import cluster_facts
from ansible_collections.taco.train.plugins.module_utils.cluster.permissions import PERMISSIONS
from ansible_collections.taco.train.plugins.plugin_utils.preflight import kubernetes
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import Host, failed_hosts, judge

TKE = dict(VARIABLES, taco_platform="tke", taco_node_name="n1")
READY = {"metadata": {"name": "n1"}, "spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
FACTS = {"error": None, "missing": [], "nodes": [READY], "crd": crd(("v1",)), "crd_forbidden": False}
OPERATOR = {"name": "mpi-operator/mpi-operator-1", "ready": True, "why": ""}
FACTS["operators"] = [OPERATOR]


def node_check(variables, facts):
    (check,) = kubernetes.host_checks(variables, facts)
    return check


def node(**changes):
    return {**READY, **changes}


def of_cluster(variables=TKE, **facts):
    found = kubernetes.cluster_checks(variables, {**FACTS, **facts})
    assert [check.id for check in found] == list(kubernetes.CLUSTER_CHECKS)
    return {check.id.partition(".")[2]: check for check in found}


def test_a_cluster_in_order_passes():
    assert {check.status for check in of_cluster().values()} == {"pass"}
    assert node_check(TKE, FACTS).status == "pass"


def test_all_missing_permissions_are_named_at_once():
    found = of_cluster(missing=["patch nodes", "create mpijobs.kubeflow.org"])["permissions"]
    assert found.status == "fail" and found.found == "missing: patch nodes, create mpijobs.kubeflow.org"


def test_each_question_is_about_the_namespace_or_the_whole_cluster_and_what_is_not_allowed_is_missing():
    asked = []

    def call(_request, _doing, body):
        asked.append(body["spec"]["resourceAttributes"])
        return {"status": {"allowed": len(asked) not in (3, 8)}}

    assert cluster_facts.missing(SimpleNamespace(call=call), "training") == ["patch nodes", "create pods/eviction"]
    for question, permission in zip(asked, PERMISSIONS, strict=True):
        assert question.get("namespace") == (None if permission.whole_cluster else "training")
        assert question.get("name", "") == permission.name
        assert question["verb"] in str(permission) and question["resource"] in str(permission)


def test_a_cluster_that_cannot_be_asked_is_one_failure():
    found = of_cluster(error="gpu1: can't read Nodes: refused")
    assert [check.status for check in found.values()] == ["fail", "skip", "skip", "skip"] and "refused" in found[
        "api"
    ].found
    nobody = kubernetes.cluster_checks(TKE, None)
    assert nobody[0].status == "fail" and "the cluster was not observed" in nobody[0].found
    assert node_check(TKE, None).status == "skip"


@pytest.mark.parametrize(
    "served, platform, wanted, status, word",
    [
        (("v2beta1",), "tke", None, "pass", "v2beta1"),
        (("v1", "v2beta1"), "tke", "v2beta1", "pass", "v2beta1"),
        (("v1",), "tke", "v2beta1", "fail", "v1"),
        (None, "tke", None, "fail", "no CRD mpijobs.kubeflow.org"),
        (("v1alpha1",), "tke", None, "fail", "v1alpha1"),
        (("v1alpha1",), "ack", None, "warn", "v1alpha1"),
    ],
)
def test_the_version_of_mpijob_is_one_that_can_be_used(served, platform, wanted, status, word):
    variables = dict(TKE, taco_platform=platform, mpijob_api_version=wanted)
    found = of_cluster(variables, crd=crd(served) if served else None)["mpijob"]
    assert found.status == status and word in found.found


def test_a_crd_that_may_not_be_read_is_said_among_the_permissions():
    found = of_cluster(crd=None, crd_forbidden=True, missing=["get customresourcedefinitions.apiextensions.k8s.io"])
    assert (found["mpijob"].status, found["permissions"].status) == ("skip", "fail")
    assert of_cluster(missing=None)["permissions"].status == "skip"


@pytest.mark.parametrize(
    "nodes, status, word",
    [
        ([node(metadata={"name": "10.0.0.1"})], "fail", "it has 10.0.0.1"),
        ([node(status={"conditions": [{"type": "Ready", "status": "False", "message": "PLEG"}]})], "fail", "PLEG"),
        ([node(spec={"unschedulable": True})], "warn", "n1 is cordoned"),
        (
            [node(metadata={"name": "n1", "annotations": {"taco.train/cordoned": "x"}}, spec={"unschedulable": True})],
            "warn",
            "an earlier run",
        ),
        (None, "skip", "not known"),
    ],
)
def test_a_host_must_be_a_node_that_pods_can_come_to(nodes, status, word):
    found = node_check(TKE, dict(FACTS, nodes=nodes))
    assert found.status == status and word in found.found


def test_the_verdict_has_them_for_hosts_of_a_cluster_alone():
    plain, in_cluster = Host(NODE, VARIABLES), Host(dict(NODE, container_engine=None), TKE)
    verdict = judge({"gpu1": in_cluster}, jmespath.search, kubernetes=dict(FACTS, nodes=[], missing=["list pods"]))
    found = {check["id"]: check["status"] for check in verdict["hosts"]["gpu1"]["checks"] + verdict["fleet"]}
    assert found["kubernetes.node"] == found["kubernetes.permissions"] == "fail" and found["engine.present"] == "skip"
    assert failed_hosts(verdict) == ["gpu1"]
    skipped = judge({"gpu1": in_cluster}, jmespath.search, ["kubernetes.permissions"], kubernetes=FACTS)
    assert skipped["status"] == "pass"
    without = judge({"gpu1": plain}, jmespath.search)
    assert not [check for check in without["hosts"]["gpu1"]["checks"] + without["fleet"] if "kubernetes" in check["id"]]


@pytest.mark.parametrize(
    ("operators", "status", "words"),
    [
        (None, "skip", "may not be listed"),
        ([], "warn", "app=mpi-operator"),
        ([dict(OPERATOR, ready=False, why="its image is missing")], "fail", "is not Ready (its image is missing)"),
        ([dict(OPERATOR, ready=False, why="ended"), OPERATOR], "pass", "mpi-operator/mpi-operator-1"),
    ],
)
def test_the_controller_of_mpijobs_has_to_run(operators, status, words):
    found = of_cluster(operators=operators)["operator"]
    assert found.status == status and words in found.found


INFO = {
    "kubeletVersion": "v1.18.8-aliyun.1",
    "containerRuntimeVersion": "docker://19.3.5",
    "osImage": "Alibaba Cloud Linux (Aliyun Linux) 2.1903 LTS (Hunting Beagle)",
}
LABELS = {
    "aliyun.accelerator/nvidia_name": "Tesla-V100-SXM2-16GB",
    "ack.aliyun.com/nvidia-driver-version": "418.181.07",
}


def of_ack(labels=(), **info):
    node = {"metadata": {"name": "n1", "labels": {**LABELS, **dict(labels)}}, "status": {"nodeInfo": {**INFO, **info}}}
    found = {
        check.id: check for check in kubernetes.host_checks(dict(TKE, taco_platform="ack"), dict(FACTS, nodes=[node]))
    }
    return found["kubernetes.ack"]


def by_part(major, minor, rev):
    parts = zip(("major", "minor", "rev"), (major, minor, rev))
    return {
        "ack.aliyun.com/nvidia-driver-version": "",
        **{f"nvidia.com/cuda.driver.{name}": one for name, one in parts},
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"containerRuntimeVersion": "containerd://1.4.8"},
        {"osImage": "CentOS Linux 7 (Core)"},
        {"osImage": "Aliyun Linux 2.1903 (Hunting Beagle)"},
        {"osImage": "Ubuntu 18.04.5 LTS", "kubeletVersion": "v1.31.1-aliyun.1"},
        {"labels": by_part("450", "80", "02")},
        {"labels": dict.fromkeys(LABELS, "")},
    ],
)
def test_a_node_of_ack_that_meets_the_document_passes(changes):
    assert of_ack(**changes).status == "pass"


@pytest.mark.parametrize(
    ("changes", "expected", "found"),
    [
        ({"kubeletVersion": "v1.16.9-aliyun.1"}, "Kubernetes 1.18.8 or newer", "Kubernetes 1.16.9-aliyun.1"),
        ({"containerRuntimeVersion": "docker://18.9.2"}, "Docker 19.03.5 or newer", "Docker 18.9.2"),
        ({"labels": by_part("410", "79", "0")}, "NVIDIA driver 418.87.01 or newer", "NVIDIA driver 410.79.0"),
    ],
)
def test_a_node_of_ack_that_is_too_old_fails(changes, expected, found):
    check = of_ack(**changes)
    assert (check.status, check.expected, check.found) == ("fail", expected, found)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"osImage": "Alibaba Cloud Linux 3 (Soaring Falcon)"}, "Alibaba Cloud Linux 3 (Soaring Falcon)"),
        ({"labels": {"aliyun.accelerator/nvidia_name": "NVIDIA-A10"}}, "NVIDIA-A10"),
    ],
)
def test_what_the_document_does_not_name_is_a_warning(changes, found):
    check = of_ack(**changes)
    assert (check.status, check.found) == ("warn", found)


def test_a_node_of_ack_that_is_not_known_is_one_finding():
    found = kubernetes.host_checks(dict(TKE, taco_platform="ack", taco_node_name="n9"), FACTS)
    assert [(check.id, check.status) for check in found] == [("kubernetes.node", "fail"), ("kubernetes.ack", "skip")]
