# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What preflight says of a cluster."""

import jmespath
import pytest
from kubelab.resources import crd
from observed import NODE, VARIABLES

from ansible_collections.taco.train.plugins.plugin_utils import checks_kubernetes as checks
from ansible_collections.taco.train.plugins.plugin_utils.verdict import Host, failed_hosts, judge

TKE = dict(VARIABLES, taco_platform="tke", taco_node_name="n1")
READY = {"metadata": {"name": "n1"}, "spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
FACTS = {"error": None, "missing": [], "nodes": [READY], "crd": crd(("v1",)), "crd_forbidden": False}


def node(**changes):
    return {**READY, **changes}


def of_cluster(variables=TKE, **facts):
    found = checks.cluster_checks(variables, {**FACTS, **facts})
    assert [check.id for check in found] == list(checks.CLUSTER_CHECKS)
    return {check.id.partition(".")[2]: check for check in found}


def test_a_cluster_in_order_passes():
    assert {check.status for check in of_cluster().values()} == {"pass"}
    assert checks.node_check(TKE, FACTS).status == "pass"


def test_all_missing_permissions_are_named_at_once():
    found = of_cluster(missing=["patch nodes", "create mpijobs.kubeflow.org"])["permissions"]
    assert found.status == "fail" and found.found == "may not patch nodes, create mpijobs.kubeflow.org"


def test_answers_are_those_of_the_questions():
    answers = [{"status": {"allowed": True}} for _permission in checks.PERMISSIONS]
    assert checks.missing(answers) == []
    answers[2], answers[5] = {"status": {"allowed": False}}, {}
    assert checks.missing(answers) == ["patch nodes", "create pods/eviction"]


@pytest.mark.parametrize("permission", checks.PERMISSIONS, ids=str)
def test_a_question_is_about_the_namespace_or_the_whole_cluster(permission):
    asked = checks.review(permission, "training")["spec"]["resourceAttributes"]
    assert asked.get("namespace") == (None if permission.whole_cluster else "training")
    assert asked["verb"] in str(permission) and asked["resource"] in str(permission)


def test_a_cluster_that_cannot_be_asked_is_one_failure():
    found = of_cluster(error="gpu1: can't read Nodes: refused")
    assert [check.status for check in found.values()] == ["fail", "skip", "skip"] and "refused" in found["api"].found
    nobody = checks.cluster_checks(TKE, None)
    assert nobody[0].status == "fail" and "no task has looked" in nobody[0].found
    assert checks.node_check(TKE, None).status == "skip"


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
    found = checks.node_check(TKE, dict(FACTS, nodes=nodes))
    assert found.status == status and word in found.found


def test_the_verdict_has_them_for_hosts_of_a_cluster_alone():
    plain, in_cluster = Host(NODE, VARIABLES), Host(dict(NODE, container_engine=None), TKE)
    verdict = judge({"gpu1": in_cluster}, jmespath.search, kubernetes=dict(FACTS, nodes=[], missing=["list pods"]))
    found = {check["id"]: check["status"] for check in verdict["hosts"]["gpu1"]["checks"] + verdict["cluster"]}
    assert found["kubernetes.node"] == found["kubernetes.permissions"] == "fail" and found["engine.present"] == "skip"
    assert failed_hosts(verdict) == ["gpu1"]
    skipped = judge({"gpu1": in_cluster}, jmespath.search, ["kubernetes.permissions"], kubernetes=FACTS)
    assert skipped["status"] == "pass"
    without = judge({"gpu1": plain}, jmespath.search)
    assert not [
        check for check in without["hosts"]["gpu1"]["checks"] + without["cluster"] if "kubernetes" in check["id"]
    ]
