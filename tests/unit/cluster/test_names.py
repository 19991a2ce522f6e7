# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The version is one that the cluster serves, hosts are what mpirun can reach in it, and pods are found by its labels."""

from fractions import Fraction

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.names import (
    choose_version,
    job_selectors,
    role_of,
    served_versions,
    worker_hosts,
    worker_pods,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    MpijobError,
    amount,
    binary_quantity,
)
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import mpirun_command


def crd(*versions, name="mpijobs.kubeflow.org"):
    """Return a CRD with versions as "v1", "v1 stored" or "v1 off"."""
    return {
        "metadata": {"name": name},
        "spec": {
            "versions": [
                {"name": text.split()[0], "served": "off" not in text, "storage": "stored" in text} for text in versions
            ]
        },
    }


@pytest.mark.parametrize(
    ("versions", "wanted", "chosen"),
    [
        (["v1 stored"], None, "v1"),
        (["v2beta1 stored"], None, "v2beta1"),
        (["v1alpha2", "v1 stored"], None, "v1"),
        (["v1", "v2beta1 stored"], None, "v2beta1"),
        (["v1 stored", "v2beta1"], None, "v1"),
        (["v1 stored", "v2beta1"], "v2beta1", "v2beta1"),
        (["v1 off", "v2beta1 stored"], None, "v2beta1"),
        (["v1alpha1 stored", "v1"], "", "v1"),
    ],
)
def test_the_version_is_served_and_stored_ones_come_first(versions, wanted, chosen):
    assert choose_version(crd(*versions), wanted) == chosen


@pytest.mark.parametrize(
    ("found", "wanted", "words"),
    [
        (None, None, "no CRD mpijobs.kubeflow.org: install the MPI Operator. v1 is served by MPI Operator 0.2.3"),
        ({}, None, "no CRD mpijobs.kubeflow.org"),
        (crd("v1", name="pods.example.com"), None, "expected the CRD mpijobs.kubeflow.org, found pods.example.com"),
        (crd("v1"), "v3", "api_version is v3: expected one of v1, v2beta1"),
        (crd("v1alpha1"), None, "serves MPIJob in v1alpha1, expected v1 or v2beta1: v1alpha1 is Arena's"),
        (crd("v1alpha1"), None, "v2beta1 is served by MPI Operator 0.3 and newer"),
        (crd("v1", "v1alpha1"), "v2beta1", "in v1, v1alpha1, expected v2beta1: set api_version: v1, or leave it out"),
        (crd("v1alpha2"), None, "in v1alpha2, expected v1 or v2beta1: install an operator that serves it"),
        (crd("v1 off"), None, "in no version, expected v1 or v2beta1"),
        (crd(), None, "in no version"),
    ],
)
def test_what_is_not_served_is_said_with_who_serves_what(found, wanted, words):
    with pytest.raises(MpijobError) as error:
        choose_version(found, wanted)
    assert words in str(error.value)


def test_versions_that_are_off_are_not_served():
    assert served_versions(crd("v1 off", "v1alpha1", "v2beta1 stored")) == ("v2beta1", "v1alpha1")


def test_hosts_are_pods_in_v1_and_full_names_in_v2beta1():
    assert worker_hosts("v1", "taco-bench", 2, 8, "training") == [
        {"name": "taco-bench-worker-0", "slots": 8},
        {"name": "taco-bench-worker-1", "slots": 8},
    ]
    assert [host["name"] for host in worker_hosts("v2beta1", "taco-bench", 2, 8, "training")] == [
        "taco-bench-worker-0.taco-bench.training.svc",
        "taco-bench-worker-1.taco-bench.training.svc",
    ]
    assert worker_hosts("v2beta1", "b", 1, 4) == [{"name": "b-worker-0.b.default.svc", "slots": 4}]
    with pytest.raises(MpijobError, match="v1alpha1 jobs are Arena's to submit"):
        worker_hosts("v1alpha1", "b", 1, 4)


def test_mpirun_takes_the_hosts_as_the_vendors_example_writes_them():
    argv = mpirun_command({"hosts": worker_hosts("v1", "taco-bench", 4, 8), "command": ["true"]})
    assert argv[argv.index("-np") + 1] == "32"
    assert argv[argv.index("-H") + 1] == ",".join(f"taco-bench-worker-{index}:8" for index in range(4))


def test_v1_has_the_labels_of_two_operators():
    assert job_selectors("v1", "a") == ("mpi-job-name=a", "training.kubeflow.org/job-name=a")
    assert job_selectors("v2beta1", "a") == ("training.kubeflow.org/job-name=a",)


@pytest.mark.parametrize(
    ("labels", "role"),
    [
        ({"mpi-job-name": "a", "mpi-job-role": "worker", "group-name": "kubeflow.org"}, "worker"),
        ({"training.kubeflow.org/job-name": "a", "training.kubeflow.org/replica-type": "launcher"}, "launcher"),
        ({"training.kubeflow.org/job-name": "a", "training.kubeflow.org/job-role": "worker"}, "worker"),
        ({"mpi-job-name": "b", "mpi-job-role": "worker"}, None),
        ({"training.kubeflow.org/job-name": "a", "training.kubeflow.org/job-role": "master"}, None),
        ({"mpi-job-name": "a"}, None),
        (None, None),
    ],
)
def test_a_pod_of_another_job_has_no_role(labels, role):
    assert role_of({"metadata": {"labels": labels}}, "a") == role


def test_workers_are_numbered_from_0():
    assert worker_pods("a", 3) == ["a-worker-0", "a-worker-1", "a-worker-2"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("50Gi", 50 * 1024**3),
        ("1.5Gi", 3 * 2**29),
        ("100M", 10**8),
        ("500m", Fraction(1, 2)),
        ("3u", Fraction(3, 10**6)),
        ("3n", Fraction(3, 10**9)),
        ("8", 8),
        (8, 8),
        ("1e3", 1000),
        ("2E", 2 * 10**18),
        ("1E2", 100),
        (".5", Fraction(1, 2)),
        ("131866392Ki", 131866392 * 1024),
        (0, 0),
    ],
)
def test_quantities(text, number):
    assert amount(text, "memory") == number


@pytest.mark.parametrize("text", ["", "Gi", "1gi", "1 Gi", "-1", "1GiB", True, None, "1e", "nan"])
def test_what_is_no_quantity_is_refused_by_name(text):
    with pytest.raises(MpijobError, match="^memory is "):
        amount(text, "memory")


@pytest.mark.parametrize(("size", "text"), [(0, "0"), (1, "1"), (1024, "1Ki"), (1025, "1025"), (3 * 2**29, "1536Mi")])
def test_sizes_are_written_whole(size, text):
    assert binary_quantity(size) == text
    assert amount(text, "size") == size
