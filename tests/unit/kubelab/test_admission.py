# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API double refuses of pods for their namespace, and what the double of the MPI Operator makes of it."""

import json
import os
from pathlib import Path

import pytest
from kubelab import pod_security
from kubelab.client import ApiError, Client
from kubelab.testing import running_cluster

from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest

NODES = [{"name": "n1", "allocatable": {"nvidia.com/gpu": 16, "hugepages-1Gi": "200Gi", "memory": "900Gi"}}]
OPEN, BASELINE, RESTRICTED = {}, {pod_security.LABEL: "baseline"}, {pod_security.LABEL: "restricted"}
GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
DEFAULTS = (
    'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), '
    'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), '
    'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), '
    'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
)


def adding(*names):
    return {**GOOD, "capabilities": {"drop": ["ALL"], "add": list(names)}}


def mounting(*names):
    return [{"name": name, "hostPath": {"path": "/sys"}} for name in names]


def spec(context=None, **more):
    return {"containers": [{"name": "main", "image": "image:1", "securityContext": context or {}}], **more}


FIXTURES = Path(__file__).parents[2] / "fixtures/kubernetes"
KEPT = ("type", "reason", "message", "involvedObject", "source")


def is_recorded(name, event):
    """Return whether a fixture for the tests of messages holds this event. It is written again with TACO_RECORD=1."""
    path = FIXTURES / f"{name}.json"
    found = {key: event[key] for key in KEPT}
    found["involvedObject"] = {**found["involvedObject"], "uid": "1"}
    if os.environ.get("TACO_RECORD"):
        path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8")) == found


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


@pytest.mark.parametrize(
    ("labels", "given", "expected"),
    [
        (OPEN, spec({"privileged": True}, hostNetwork=True), None),
        (BASELINE, spec(), None),
        (
            BASELINE,
            spec({"privileged": True}),
            'privileged (container "main" must not set securityContext.privileged=true)',
        ),
        (BASELINE, spec(hostNetwork=True, hostIPC=True), "host namespaces (hostNetwork=true, hostIPC=true)"),
        (BASELINE, spec(volumes=mounting("a", "b")), 'hostPath volumes (volumes "a", "b")'),
        (
            BASELINE,
            spec(adding("IPC_LOCK", "CHOWN")),
            'non-default capabilities (container "main" must not include "IPC_LOCK" in securityContext.capabilities.add)',
        ),
        (RESTRICTED, spec(GOOD), None),
        (RESTRICTED, spec(), DEFAULTS),
        (
            RESTRICTED,
            spec(GOOD, volumes=[*mounting("a"), {"name": "b", "emptyDir": {}}]),
            'restricted volume types (volume "a" uses restricted volume type "hostPath")',
        ),
        (
            RESTRICTED,
            spec(adding("IPC_LOCK")),
            'unrestricted capabilities (container "main" must not include "IPC_LOCK" in securityContext.capabilities.add)',
        ),
    ],
)
def test_a_level_names_what_it_does_not_take(labels, given, expected):
    prefix = f'violates PodSecurity "{labels.get(pod_security.LABEL)}:latest": '
    assert pod_security.violation(labels, given) == (prefix + expected if expected else None)


def test_a_context_of_the_pod_counts_for_its_containers():
    whole = {name: GOOD[name] for name in ("runAsNonRoot", "seccompProfile")}
    own = {name: GOOD[name] for name in ("allowPrivilegeEscalation", "capabilities")}
    assert pod_security.violation(RESTRICTED, spec(own, securityContext=whole)) is None


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


def test_the_operator_reports_workers_that_pod_security_refuses(cluster):
    cluster.pod_security("restricted")
    start(cluster)
    assert cluster.wait(lambda: warnings(cluster))
    event = warnings(cluster)[0]
    assert (event["reason"], event["involvedObject"]["kind"]) == ("MPIJobFailed", "MPIJob")
    assert event["message"].startswith(
        'worker pod created failed: pods "bench-worker-0" is forbidden: violates PodSecurity "restricted:latest": '
    )
    assert is_recorded("event-pod-security", event)
    assert not cluster.objects("Pod") and not cluster.objects("Job") and "status" not in cluster.get("MPIJob", "bench")
    cluster.pod_security("privileged")
    assert cluster.wait(lambda: len(cluster.objects("Pod")) == 3)


def test_a_pod_needs_its_service_account(cluster):
    assert refusal(cluster, "default", serviceAccountName="missing") == (
        'pods "a" is forbidden: error looking up service account default/missing: serviceaccount "missing" not found'
    )
    cluster.delete("ServiceAccount", "default")
    start(cluster)
    assert cluster.wait(lambda: warnings(cluster))
    assert is_recorded("event-service-account", warnings(cluster)[0])
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
