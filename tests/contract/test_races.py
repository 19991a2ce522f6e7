# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Another client acts between a request and the one that follows from it, and its object stays as it is."""

import copy

import pytest
from contract_cluster import JOB, LABEL

JOBS = rf"/mpijobs/{JOB}(\?|$)"
CREATION = r"/mpijobs(\?|$)"
MARK = "taco.train/cordoned"
pytestmark = pytest.mark.double_only(reason="another client that acts between two certain requests")


def foreign(job, **labels):
    """Return a job of another client that is the same but for its labels."""
    metadata = {"name": JOB, "namespace": "default", "labels": labels}
    return {**copy.deepcopy(job), "metadata": metadata, "status": {}}


def recreate(cluster):
    """Delete the job as another client, and create one at once."""
    job = cluster.double.get("MPIJob", JOB)
    resource = next(one for one in cluster.double.resources if one.kind == "MPIJob")
    cluster.double.storage.remove(resource, "default", JOB)
    cluster.double.put(foreign(job, **{LABEL: "argo"}))


def managers(cluster):
    return [job["metadata"].get("labels") for job in cluster.double.objects("MPIJob")]


@pytest.mark.parametrize("image", [None, "theirs:1"], ids=["same", "another image"])
def test_a_job_that_another_client_creates_first_is_not_changed(double, image):
    cluster = double()
    job = foreign(cluster.job(check=True)["manifest"], **{LABEL: "argo"})
    if image:
        job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["image"] = image
    cluster.double.before("POST", CREATION, lambda: cluster.double.put(job))
    cluster.refused("Another client has created it meanwhile", *([] if image else ["is argo"]))
    assert managers(cluster) == [{LABEL: "argo"}]


def test_a_job_of_this_module_that_another_run_creates_first_is_used(double):
    cluster = double()
    job = foreign(cluster.job(check=True)["manifest"], **{LABEL: "taco.train"})
    cluster.double.before("POST", CREATION, lambda: cluster.double.put(job))
    assert len(cluster.job()["pods"]) == 3 and managers(cluster) == [{LABEL: "taco.train"}]


@pytest.mark.parametrize(
    "options", [{"state": "absent"}, {"gpus_per_worker": 2, "replace": True}], ids=["absent", "replace"]
)
def test_a_job_that_is_created_again_right_before_its_deletion_stays(double, options):
    cluster = double()
    cluster.job()
    cluster.double.before("DELETE", JOBS, lambda: recreate(cluster))
    cluster.refused(f"another client created the MPIJob {JOB}", "is argo", **options)
    assert managers(cluster) == [{LABEL: "argo"}]


@pytest.mark.parametrize(
    "options", [{"state": "absent"}, {"gpus_per_worker": 2, "replace": True}], ids=["absent", "replace"]
)
def test_a_job_that_is_created_again_during_its_deletion_is_named_at_once(double, options):
    cluster = double()
    cluster.job()
    cluster.patch("MPIJob", metadata={"finalizers": ["example.com/slow"]})
    with cluster.meanwhile(lambda: "deletionTimestamp" in cluster.get("MPIJob")["metadata"], lambda: recreate(cluster)):
        cluster.refused(f"another client created the MPIJob {JOB}", "is argo", "Stop that client", **options)
    assert managers(cluster) == [{LABEL: "argo"}]


def test_a_job_that_another_client_deletes_first_is_removed(double):
    cluster = double()
    cluster.job()
    cluster.double.before("DELETE", JOBS, lambda: cluster.double.delete("MPIJob", JOB))
    assert cluster.removed()["changed"] and cluster.names("Pod") == []


def test_a_job_that_is_deleted_right_before_its_change_is_named(double):
    cluster = double()
    cluster.job()
    cluster.double.before("PATCH", JOBS, lambda: cluster.double.delete("MPIJob", JOB))
    result = cluster.refused("deleted", clean_pod_policy="None")
    assert JOB in result and cluster.get("MPIJob") is None


def test_a_job_that_is_replaced_while_it_is_waited_for_is_not_taken_for_ours(double):
    cluster = double()
    cluster.double.script("worker", ["ContainerCreating"])

    def is_waited_for():
        return any(method == "GET" and path.endswith("/pods") for method, path, _status in cluster.double.requests)

    with cluster.meanwhile(is_waited_for, lambda: recreate(cluster)):
        cluster.refused("was deleted and created again while its pods were waited for")
    assert managers(cluster) == [{LABEL: "argo"}]


def test_a_launcher_that_is_gone_runs_no_work(double):
    cluster = double()
    cluster.job()

    def leave():
        cluster.double.delete("MPIJob", JOB)
        cluster.double.delete("Pod", cluster.double.objects("Pod", "default")[0]["metadata"]["name"])

    cluster.double.before("GET", "/exec", leave)
    assert cluster.removed()["changed"] and cluster.names("Pod") == []


def node_of(cluster, **spec):
    node = cluster.double.get("Node", cluster.node, None)
    node["spec"].update(spec)
    return node


def cordoned(cluster):
    node = cluster.double.get("Node", cluster.node, None)
    return bool(node["spec"].get("unschedulable")), MARK in (node["metadata"].get("annotations") or {})


def to(cluster, state, **options):
    given = {"name": cluster.node, "state": state, "timeout": 20, "poll": 0.05, "drain": False}
    return cluster.run("kubernetes_node", **given, **options)


def test_a_cordon_that_comes_right_before_ours_is_theirs(double):
    cluster = double()
    cluster.double.before("PATCH", "/nodes/", lambda: cluster.double.put(node_of(cluster, unschedulable=True)))
    done = to(cluster, "drained")
    assert (done["ours"], done["left"], cordoned(cluster)) == (False, None, (True, False))
    assert not to(cluster, "uncordoned")["changed"] and cordoned(cluster) == (True, False)


@pytest.mark.parametrize(("state", "after"), [("drained", (True, True)), ("uncordoned", (False, False))])
def test_the_report_of_a_kubelet_right_before_the_change_is_no_error(double, state, after):
    cluster = double()
    if state == "uncordoned":
        to(cluster, "drained")

    def report():
        node = node_of(cluster)
        node["status"]["allocatable"]["cpu"] = "95"
        cluster.double.put(node)

    cluster.double.before("PATCH", "/nodes/", report)
    done = to(cluster, state)
    assert (done["changed"], done["ours"], cordoned(cluster)) == (True, True, after)


def test_a_cordon_that_another_client_takes_over_stays_when_the_drain_fails(double):
    cluster = double()
    metadata = {"name": "web-1", "namespace": "default", "labels": {"app": "web"}}
    spec = {"nodeName": cluster.node, "containers": [{"name": "main", "image": "image:1"}]}
    cluster.double.put({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    cluster.double.fail("POST", "web-1/eviction", status=429, times=999)

    def take_over():
        node = node_of(cluster)
        del node["metadata"]["annotations"][MARK]
        cluster.double.put(node)

    options = {"name": cluster.node, "state": "drained", "timeout": 2, "poll": 0.05, "force": True}
    with cluster.meanwhile(lambda: cordoned(cluster)[1], lambda: cluster.double.before("PATCH", "/nodes/", take_over)):
        cluster.fails("kubernetes_node", "was meanwhile cordoned by another client, and stays cordoned", **options)
    assert cordoned(cluster) == (True, False)


def test_a_node_that_leaves_right_before_its_change_is_named(double):
    cluster = double()
    cluster.double.before("PATCH", "/nodes/", lambda: cluster.double.delete("Node", cluster.node, None))
    options = {"name": cluster.node, "state": "drained", "timeout": 20}
    cluster.fails("kubernetes_node", f"the cluster has no node {cluster.node}", "taco_node_name", **options)


@pytest.mark.parametrize("state", ["drained", "uncordoned"])
def test_a_mark_makes_no_cordon_ours_that_another_client_has_written(double, state):
    cluster = double()
    to(cluster, "drained")
    node = node_of(cluster)
    node["metadata"]["managedFields"] = [
        {"manager": "OpenAPI-Generator", "fieldsV1": {"f:metadata": {"f:annotations": {f"f:{MARK}": {}}}}},
        {"manager": "kubectl-cordon", "fieldsV1": {"f:spec": {"f:unschedulable": {}}}},
    ]
    cluster.double.put(node)
    done = to(cluster, state)
    assert (done["changed"], done["ours"], cordoned(cluster)) == (True, False, (True, False))
    assert not to(cluster, state)["changed"]
