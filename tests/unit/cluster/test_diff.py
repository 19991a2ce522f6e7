# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the cluster fills in is no difference; what a manifest says, or says no more, is one."""

import copy

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.diff import differences, patch, step
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest


def made(version="v1", **options):
    return manifest(job_of({"workers": 2, "gpus_per_worker": 8, "namespace": "default", **options}), version)


def filled(thing):
    """Return an object as an API server and an operator keep it."""
    kept = copy.deepcopy(thing)
    kept["metadata"].update(uid="u", resourceVersion="7", creationTimestamp="2026-01-01T00:00:00Z", generation=1)
    kept["status"] = {"conditions": [{"type": "Running", "status": "True"}]}
    kept["spec"]["runPolicy"].update(backoffLimit=6, suspend=False)
    kept["spec"].update(sshAuthMountPath="/root/.ssh", mpiImplementation="OpenMPI", launcherCreationPolicy="AtStartup")
    for replica in kept["spec"]["mpiReplicaSpecs"].values():
        replica["restartPolicy"] = "Never"
        replica["template"].setdefault("metadata", {})["creationTimestamp"] = None
        replica["template"]["spec"]["restartPolicy"] = "Never"
        container = replica["template"]["spec"]["containers"][0]
        container["imagePullPolicy"] = "IfNotPresent"
        container.setdefault("securityContext", {})["runAsUser"] = 0
    return kept


def worker(path):
    return f"mpiReplicaSpecs.Worker.template.spec.{path}"


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_what_the_cluster_fills_in_is_no_difference(version):
    wanted = made(version)
    assert differences(filled(wanted), wanted) == []
    assert step(filled(wanted), wanted) == (False, [], [])


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        ({"gpus_per_worker": 8}, {"gpus_per_worker": 4}, "slotsPerWorker"),
        ({"workers": 2}, {"workers": 3}, "mpiReplicaSpecs.Worker.replicas"),
        ({"image": "a:1"}, {"image": "a:2"}, worker("containers[0].image")),
        ({}, {"environment": {"A": 1}}, worker("containers[0].env")),
        ({"environment": {"A": 1}}, {}, worker("containers[0].env")),
        ({"environment": {"A": 1}}, {"environment": {"A": 2}}, worker("containers[0].env[0].value")),
        ({}, {"privileged": False}, worker("containers[0].securityContext.privileged")),
        ({"privileged": False}, {}, worker("containers[0].securityContext.privileged")),
        ({}, {"mounts_extra": ["/d:/d"]}, worker("containers[0].volumeMounts")),
        ({"mounts_extra": ["/d:/d"]}, {}, worker("volumes")),
        ({"mounts_extra": ["/d:/d:ro"]}, {"mounts_extra": ["/d:/d"]}, worker("containers[0].volumeMounts[3].readOnly")),
        ({"network_mode": "host"}, {}, worker("hostNetwork")),
        ({"hugepages": 50}, {"hugepages": 0}, worker("containers[0].resources.limits.hugepages-1Gi")),
        ({"memory": "100Gi"}, {"memory": "50Gi"}, worker("containers[0].resources.requests.memory")),
        ({}, {"gpu_topology": True}, "mpiReplicaSpecs.Worker.template.metadata.labels.gpu-topology"),
        ({"gpu_topology": True}, {}, "mpiReplicaSpecs.Worker.template.metadata.labels.gpu-topology"),
        (
            {"command": ["sleep", "9"]},
            {"command": ["sleep", "8"]},
            "mpiReplicaSpecs.Launcher.template.spec.containers[0].command",
        ),
    ],
)
def test_what_the_pods_were_made_from_can_not_be_changed(before, after, path):
    found, wanted = filled(made(**before)), made(**after)
    different = differences(found, wanted)
    assert path in [one.path for one in different]
    assert not any(one.loose for one in different)
    todo = step(found, wanted)
    assert todo.replace and todo.create and path in " ".join(todo.reasons)


def test_an_amount_is_the_same_however_it_is_spelled():
    wanted = made(memory="100Gi")
    found = filled(made(memory=100 * 1024**3))
    assert differences(found, wanted) == []


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_the_policy_can_be_changed(version):
    found, wanted = filled(made(version)), made(version, clean_pod_policy="All")
    todo = step(found, wanted)
    assert not todo.create and not todo.replace
    sent = patch(wanted, todo.loose)
    assert sent["spec"] == {
        key: wanted["spec"][key] for key in ("runPolicy", "cleanPodPolicy") if key in wanted["spec"]
    }
    assert [word for word, _why in todo.words()] == ["changed"]


def test_there_is_all_to_do_where_there_is_nothing():
    todo = step(None, made())
    assert todo.create and not todo.replace and todo.words() == [("created", "")]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_job_that_has_ended_is_to_be_made_anew(phase):
    found = filled(made())
    found["status"] = {"conditions": [{"type": phase, "status": "True", "message": "so it is"}]}
    assert step(found, made()).reasons == [f"it has ended ({phase}: so it is)"]
