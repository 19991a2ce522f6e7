# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API double refuses of pods for their namespace, and what the double of the MPI Operator makes of it."""

import pytest
from kubelab.client import ApiError, Client
from kubelab.testing import running_cluster

from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest

NODES = [{"name": "n1", "allocatable": {"nvidia.com/gpu": 16, "hugepages-1Gi": "200Gi", "memory": "900Gi"}}]


def spec(**more):
    return {"containers": [{"name": "main", "image": "image:1"}], **more}


def warnings(cluster):
    return [event for event in cluster.objects("Event") if event["type"] == "Warning"]


def start(cluster):
    options = {
        "name": "bench",
        "image": "image:1",
        "command": ["sleep", "infinity"],
        "workers": 2,
        "gpus_per_worker": 8,
    }
    cluster.put(manifest(job_of(options), "v2beta1"))


@pytest.fixture
def cluster():
    with running_cluster(NODES, serve=("v2beta1",)) as running:
        yield running


def create(cluster, namespace, **more):
    pod = {"metadata": {"name": "a"}, "spec": spec(**more)}
    return Client(cluster.admin_kubeconfig)("POST", f"/api/v1/namespaces/{namespace}/pods", pod)


def refusal(cluster, namespace, **more):
    with pytest.raises(ApiError) as caught:
        create(cluster, namespace, **more)
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    return str(caught.value)


def test_the_operator_reports_workers_that_the_admission_refuses(cluster):
    cluster.refuse_pods('violates PodSecurity "restricted:latest": privileged')
    start(cluster)
    assert cluster.wait(lambda: warnings(cluster))
    event = warnings(cluster)[0]
    assert (event["reason"], event["involvedObject"]["kind"]) == ("MPIJobFailed", "MPIJob")
    assert event["message"] == (
        'worker pod created failed: pods "bench-worker-0" is forbidden: violates PodSecurity "restricted:latest": privileged'
    )
    assert not cluster.objects("Pod") and not cluster.objects("Job") and "status" not in cluster.get("MPIJob", "bench")
    cluster.refuse_pods()
    assert cluster.wait(lambda: len(cluster.objects("Pod")) == 3)


def test_a_pod_needs_its_service_account(cluster):
    assert refusal(cluster, "default", serviceAccountName="missing") == (
        'pods "a" is forbidden: error looking up service account default/missing: serviceaccount "missing" not found'
    )
    cluster.delete("ServiceAccount", "default")
    start(cluster)
    assert cluster.wait(lambda: warnings(cluster))
    assert warnings(cluster)[0]["message"] == (
        'worker pod created failed: pods "bench-worker-0" is forbidden: error looking up service account default/default: '
        'serviceaccount "default" not found'
    )


def test_a_new_namespace_has_the_default_service_account(cluster):
    cluster.namespace("other")
    assert create(cluster, "other")["spec"]["serviceAccountName"] == "default"


def test_a_namespace_that_is_being_deleted_takes_nothing_new(cluster):
    cluster.namespace("other")
    held = {"name": "held", "namespace": "other", "finalizers": ["example.com/held"]}
    cluster.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": held})
    cluster.delete("Namespace", "other", None)
    assert refusal(cluster, "other") == (
        'pods "a" is forbidden: unable to create new content in namespace other because it is being terminated'
    )
