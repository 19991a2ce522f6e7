# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server that can't be reached, doesn't know the account, refuses it or is overloaded is named with the fix."""

import pytest
from contract_cluster import JOB, OPTIONS, run, with_other

from ansible_collections.taco.train.plugins.filter.mpijob import mpijob_manifest

JOBS = "/mpijobs"


def test_a_server_that_cannot_be_reached_is_named_with_the_variable(cluster, tmp_path):
    lost = with_other(cluster.kubeconfig, tmp_path / "lost", server="http://127.0.0.1:9")
    cluster.refused("127.0.0.1:9", "can't be reached", "taco_kubeconfig", kubeconfig=lost)
    found = cluster.run("kubernetes_info", kubeconfig=lost)["kubernetes"]
    assert "127.0.0.1:9" in found["error"] and found["nodes"] is None
    cluster.fails("kubernetes_node", "127.0.0.1:9", name=cluster.node, state="drained", kubeconfig=lost)


def test_a_kubeconfig_or_a_context_that_is_not_there_is_named_with_its_variable(cluster, tmp_path):
    cluster.refused(f"{tmp_path}/none", "taco_kubeconfig", kubeconfig=str(tmp_path / "none"))
    cluster.refused("taco_kube_context", context="nowhere")


def test_a_kubeconfig_that_is_given_as_text_is_never_shown(cluster):
    text = "apiVersion: v1\nusers:\n- user: {token: SECRET}\n"
    message = cluster.fails("kubernetes_node", "taco_kubeconfig", name="n", state="ready", kubeconfig=text)
    assert "not a path" in message and "SECRET" not in message
    result = run("mpijob", {"definition": mpijob_manifest(OPTIONS), "kubeconfig": text})
    assert "not a path" in result["msg"] and "SECRET" not in result["msg"]


def test_a_token_that_has_expired_is_named_and_not_shown(cluster, tmp_path):
    expired = with_other(cluster.kubeconfig, tmp_path / "expired", token="secret-of-yesterday")
    for state in ("present", "absent"):
        message = cluster.refused("credentials", "expired", "taco_kubeconfig", kubeconfig=expired, state=state)
        assert "secret-of-yesterday" not in message
    found = cluster.run("kubernetes_info", kubeconfig=expired)["kubernetes"]
    assert "credentials" in found["error"] and "secret-of-yesterday" not in found["error"]


def test_a_namespace_that_is_not_there_is_named_with_its_variable(cluster):
    if cluster.double:
        cluster.double.grant("default", "nowhere")
    cluster.refused('namespaces "nowhere" not found', "taco_kube_namespace", namespace="nowhere")


def test_a_missing_permission_is_named_with_the_rule_that_gives_it(cluster):
    account = cluster.account(("create", "mpijobs"))
    cluster.refused(
        f"the namespace {cluster.namespace}",
        '{"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["create"]}',
        "Nothing was created",
        **account,
    )
    assert cluster.get("MPIJob") is None


def test_commands_in_pods_that_are_forbidden_are_named_with_their_verbs(cluster):
    cluster.job()
    account = cluster.account(("create", "pods/exec"))
    message = cluster.refused('"resources": ["pods/exec"]', "create", state="absent", **account)
    assert "interrupt" not in message and cluster.get("MPIJob")


def test_logs_that_are_forbidden_keep_the_job(cluster, tmp_path):
    cluster.job()
    account = cluster.account(("get", "pods/log"))
    cluster.refused(
        "nothing was deleted", '"resources": ["pods/log"]', state="absent", logs_dir=str(tmp_path), **account
    )
    assert cluster.get("MPIJob")


def test_an_account_that_may_not_read_nodes_or_the_definition_gets_a_job_and_a_warning(cluster):
    account = cluster.account(("get", "customresourcedefinitions"), ("list", "nodes"), ("list", "events"))
    result = cluster.job(**account)
    assert result["changed"] and result["api_version"] == cluster.version
    (warning,) = [text for text in result["warnings"] if '"resources": ["nodes"]' in text]
    assert "not checked" in warning and "ClusterRole" in warning


def test_the_facts_of_a_cluster_have_the_missing_permissions(cluster):
    found = cluster.run("kubernetes_info", namespace=cluster.namespace, **cluster.account())["kubernetes"]
    assert found["missing"] == [] and found["error"] is None
    assert cluster.node in [node["metadata"]["name"] for node in found["nodes"]]
    assert found["crd"]["metadata"]["name"] == "mpijobs.kubeflow.org"
    missing = [
        ("patch", "nodes"),
        ("create", "pods/eviction"),
        ("create", "mpijobs"),
        ("get", "customresourcedefinitions"),
    ]
    account = cluster.account(*missing, ("list", "nodes"))
    found = cluster.run("kubernetes_info", namespace=cluster.namespace, **account)["kubernetes"]
    for words in ("patch nodes", "create pods/eviction", "create mpijobs.kubeflow.org", "list nodes"):
        assert words in found["missing"]
    assert found["crd_forbidden"] and found["nodes"] is None and found["error"] is None


@pytest.mark.double_only(reason="a server that stumbles at a certain request")
@pytest.mark.parametrize(
    "fault",
    [
        {"path": "/version$", "body": "disconnect"},
        {"path": "/apis$", "status": 503},
        {"path": f"{JOBS}/{JOB}", "status": 502},
        {"path": f"{JOBS}/{JOB}", "status": 403},
    ],
    ids=str,
)
def test_a_server_that_stumbles_is_asked_again(double, fault):
    cluster = double(operator=False)

    def stumble():
        cluster.double.fail("GET", times=2, **fault)
        cluster.double.start_operator()

    if fault.get("status") == 403:
        # What was permitted before is so again: a server that has just started refuses everything for a moment.
        read = ("GET", cluster.path("MPIJob", JOB), 200)
        with cluster.meanwhile(lambda: read in cluster.double.requests, stumble):
            assert cluster.job()["changed"]
    else:
        stumble()
        assert cluster.job()["changed"]
    assert cluster.names("MPIJob") == [JOB]


@pytest.mark.double_only(reason="an answer that is lost or refused once")
@pytest.mark.parametrize(
    "fault",
    [{"status": 500}, {"status": 409}, {"status": 429}, {"body": "disconnect"}, {"body": "disconnect-after"}],
    ids=str,
)
def test_a_job_is_created_once_whatever_becomes_of_the_answer(double, fault):
    cluster = double()
    cluster.double.fail("POST", f"{JOBS}(\\?|$)", times=1, **fault)
    assert cluster.job()["changed"] and cluster.names("MPIJob") == [JOB]
    created = [request for request in cluster.double.requests if request[0] == "POST" and request[2] == 201]
    assert len([path for _method, path, _status in created if path.endswith(JOBS)]) <= 1


@pytest.mark.double_only(reason="a server that contradicts itself")
def test_a_conflict_that_does_not_end_is_no_success(double):
    cluster = double()
    cluster.double.fail("POST", JOBS, status=409, times=99)
    cluster.refused(f"can't create MPIJob {JOB}", "Possibly left")
    assert cluster.get("MPIJob") is None


@pytest.mark.double_only(reason="a server that never recovers")
def test_a_server_that_is_lost_while_waiting_leaves_a_job_that_is_named(double):
    cluster = double()
    cluster.double.script("worker", ["ContainerCreating"])
    lost = {"method": "GET", "path": "/pods", "body": "disconnect", "times": 9999}
    with cluster.meanwhile(lambda: cluster.double.objects("Pod"), lambda: cluster.double.fail(**lost)):
        cluster.refused("Pods in the namespace default", f"kubectl delete mpijob {JOB} --namespace default")


@pytest.mark.double_only(reason="a server that never recovers")
def test_a_server_that_does_not_recover_is_given_up_and_nothing_is_created(double):
    cluster = double()
    cluster.double.fail("GET", "customresourcedefinitions", status=503, times=999)
    cluster.refused("CustomResourceDefinition", "unable to handle the request")
    assert cluster.get("MPIJob") is None


def status(code, message):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}


@pytest.mark.double_only(reason="refusals of one request by the cluster's own programs")
@pytest.mark.parametrize(
    ("code", "answer", "words"),
    [
        (
            500,
            'Internal error occurred: failed calling webhook "guard.example.com": connect: connection refused',
            ["the webhook guard.example.com", "kubectl get validatingwebhookconfigurations", "Nothing was created"],
        ),
        (
            403,
            f'mpijobs.kubeflow.org "{JOB}" is forbidden: unable to create new content in namespace default because it is being '
            "terminated",
            ["the namespace default is being deleted", "taco_kube_namespace", "Nothing was created"],
        ),
    ],
    ids=["webhook", "namespace"],
)
def test_a_job_that_is_refused_is_said_to_be_with_the_fix(double, code, answer, words):
    cluster = double()
    cluster.double.fail("POST", JOBS, status=code, body=status(code, answer), times=99)
    assert "Possibly left" not in cluster.refused(*words)
    assert cluster.get("MPIJob") is None


@pytest.mark.double_only(reason="a server that asks for a deletion to be repeated")
def test_a_deletion_that_fails_is_made_again(double):
    cluster = double()
    cluster.job()
    cluster.double.fail("DELETE", JOBS, status=500, times=2)
    assert cluster.removed()["changed"] and cluster.get("MPIJob") is None


@pytest.mark.double_only(reason="a cluster without the MPI Operator, or with that of Arena")
@pytest.mark.parametrize(
    ("serve", "words"),
    [
        ((), ["no CRD mpijobs.kubeflow.org", "install the MPI Operator"]),
        (("v1alpha1",), ["serves MPIJob in v1alpha1", "Arena"]),
    ],
    ids=["none", "of Arena"],
)
def test_a_cluster_without_the_mpi_operator_says_what_to_install(double, serve, words):
    cluster = double(serve=serve)
    cluster.refused(*words)
    gone = cluster.removed()
    assert not gone["changed"] and ("v1alpha1" in str(gone.get("warnings"))) == bool(serve)


@pytest.mark.double_only(reason="a cluster that serves certain versions")
def test_the_version_is_the_stored_one_unless_another_is_asked_for(double):
    cluster = double(serve=("v1", "v2beta1"))
    crd = cluster.get("CustomResourceDefinition", "mpijobs.kubeflow.org")
    (stored,) = [version["name"] for version in crd["spec"]["versions"] if version["storage"]]
    assert cluster.job(check=True)["api_version"] == stored
    for version in ("v1", "v2beta1"):
        assert cluster.job(check=True, api_version=version)["api_version"] == version
    double(serve=("v2beta1",)).refused("serves MPIJob in v2beta1", "expected v1", api_version="v1")
