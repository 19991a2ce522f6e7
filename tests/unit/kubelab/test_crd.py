# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The schema of MPIJobs on the API double: what is refused, dropped and filled in, compared with the real CRDs where they are."""

from pathlib import Path

import pytest
import yaml
from kubelab.client import ApiError, Client
from kubelab.crd_schema import MPIJOBS
from kubelab.testing import running_cluster

REAL = Path(__file__).resolve().parents[4] / "shared/crds"
JOBS = "/apis/kubeflow.org/{}/namespaces/default/mpijobs"
TEMPLATE = {"spec": {"containers": [{"name": "main", "image": "image:1", "color": "red"}], "flavor": "x"}}


def job(version, **spec):
    replicas = {"Launcher": {"template": TEMPLATE}, "Worker": {"replicas": 2, "template": TEMPLATE, "speed": 3}}
    metadata = {"name": "bench", "labels": {"any": "label"}}
    return {
        "apiVersion": f"kubeflow.org/{version}",
        "kind": "MPIJob",
        "metadata": metadata,
        "spec": {"mpiReplicaSpecs": replicas, "runPolicy": {}, **spec},
    }


@pytest.fixture
def client():
    with running_cluster(serve=("v2beta1", "v1"), operator=False) as cluster:
        yield Client(cluster.kubeconfig)


def test_defaults_are_filled_in_as_the_crd_has_them(client):
    spec = client("POST", JOBS.format("v2beta1"), job("v2beta1"))["spec"]
    del spec["mpiReplicaSpecs"]
    assert spec == {
        "launcherCreationPolicy": "AtStartup",
        "mpiImplementation": "OpenMPI",
        "runLauncherAsWorker": False,
        "runPolicy": {"suspend": False},
        "slotsPerWorker": 1,
        "sshAuthMountPath": "/root/.ssh",
    }


def test_v1_has_one_default_and_none_without_its_object(client):
    made = client("POST", JOBS.format("v1"), job("v1"))
    assert made["spec"]["runPolicy"] == {"suspend": False} and "slotsPerWorker" not in made["spec"]
    other = job("v1")
    other["metadata"]["name"] = "other"
    del other["spec"]["runPolicy"]
    assert "runPolicy" not in client("POST", JOBS.format("v1"), other)["spec"]


def test_unknown_fields_are_dropped(client):
    made = client("POST", JOBS.format("v1"), {**job("v1", colour="blue"), "extra": 1})
    worker = made["spec"]["mpiReplicaSpecs"]["Worker"]
    assert set(worker) == {"replicas", "template"} and "extra" not in made and "colour" not in made["spec"]
    assert worker["template"]["spec"] == {"containers": [{"name": "main", "image": "image:1"}]}
    assert made["metadata"]["labels"] == {"any": "label"}


def test_strict_validation_refuses_unknown_fields(client):
    with pytest.raises(ApiError) as caught:
        client("POST", JOBS.format("v1"), job("v1", colour="blue"), fieldValidation="Strict")
    assert caught.value.code == 400
    assert 'unknown field "spec.colour"' in str(caught.value)
    assert 'unknown field "spec.mpiReplicaSpecs.Worker.template.spec.containers[0].color"' in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"mpiImplementation": "LAM"}, 'Unsupported value: "LAM": supported values: "OpenMPI", "Intel", "MPICH"'),
        ({"slotsPerWorker": "8"}, "spec.slotsPerWorker in body must be of type integer"),
        ({"runPolicy": {"suspend": "no"}}, "spec.runPolicy.suspend in body must be of type boolean"),
    ],
)
def test_a_wrong_value_is_refused(client, spec, expected):
    with pytest.raises(ApiError) as caught:
        client("POST", JOBS.format("v2beta1"), job("v2beta1", **spec))
    assert caught.value.code == 422 and expected in str(caught.value)


def differences(ours, real, path=""):
    """Yield where a schema says something else than the real one."""
    if not ours:
        return
    for key in ("type", "enum", "default", "required"):
        if (ours.get(key) or None) != (real.get(key) or None) and not (key == "type" and "anyOf" in ours):
            yield f"{path}: {key} {ours.get(key)} for {real.get(key)}"
    inner, theirs = ours.get("properties") or {}, real.get("properties") or {}
    if ours.get("x-closed") and set(inner) != set(theirs):
        yield f"{path}: {sorted(set(inner) ^ set(theirs))}"
    for name in inner:
        if name not in theirs:
            yield f"{path}.{name} is unknown"
        elif path or name not in ("metadata", "status"):
            yield from differences(inner[name], theirs[name], f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(ours.get(key), dict) and ours[key] and "anyOf" not in ours[key]:
            yield from differences(ours[key], real.get(key) or {}, f"{path}[]")


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_the_schema_is_that_of_the_real_crd(version):
    path = REAL / f"mpijobs.kubeflow.org-{version}.yaml"
    if not path.exists():
        pytest.skip("the real CRDs are not on this machine")
    versions = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["spec"][
        "versions"
    ]
    real = next(one["schema"]["openAPIV3Schema"] for one in versions if one["name"] == version)
    assert list(differences(MPIJOBS[version], real)) == []
