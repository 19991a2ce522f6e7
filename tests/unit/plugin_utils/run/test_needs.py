# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files that a run requires in its workers, and the error for a worker that lacks one."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.run.needs import needs, problem, script_sha256

MNT = "/mnt/tensorflow_synthetic_benchmark.py"
HOROVOD = {"workload": "horovod_synthetic"}
NCCL = {"workload": "nccl_tests", "binary": "all_reduce_perf"}
ABSENT = {"path": None, "sha256": None}
THERE = {"path": MNT, "sha256": "1" * 64}
SHA256 = "f759d9242096a662dc0181cdb18f03705a6804d4216fcef339f7110cace66498"


def worker(path, seen):
    return {"requires": {path: seen}}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (HOROVOD, {"benchmark_options.script": MNT}),
        ({"workload": "tf_cnn_benchmarks", "script": "/b/tf.py"}, {"benchmark_options.script": "/b/tf.py"}),
        ({"workload": "nccl_tests"}, {"benchmark_options.binary": "all_reduce_perf"}),
        (
            {"workload": "ttf_dynamic_embedding", "demo": "ps"},
            {"benchmark_options.demo_dir": "/opt/dynamic-embedding-demo/ps"},
        ),
        ({"workload": "command", "command": ["python3"]}, {}),
    ],
)
def test_each_workload_names_what_it_needs_by_its_variable(options, expected):
    assert needs(options) == expected


def test_a_worker_without_the_script_is_named_with_container_path_and_variable():
    found = problem(HOROVOD, {"gpu1": worker(MNT, THERE), "gpu2": worker(MNT, ABSENT)}, {}, "taco-train")
    assert found.found == f"there is no {MNT} in the container taco-train on gpu2 (benchmark_options.script)"
    assert found.fix.startswith("set benchmark_options.script to a URL or to a file on the controller")


def test_a_delivered_script_that_the_container_does_not_see_is_a_missing_mount():
    path = "/state/horovod/scripts/123456789abc/train.py"
    found = problem(dict(HOROVOD, script=path), {"gpu1": worker(path, ABSENT)}, {}, "mine")
    assert path in found.found
    assert found.fix.startswith("mount /state/horovod of the host at /state/horovod in the container")


def test_a_script_that_differs_between_workers_or_from_its_checksum_is_refused():
    workers = {"gpu1": worker(MNT, THERE), "gpu2": worker(MNT, dict(THERE, sha256="2" * 64))}
    found = problem(HOROVOD, workers, {}, "")
    assert "not the same on all workers: gpu1: SHA-256 1" in found.found and "image" in found.fix
    found = problem(dict(HOROVOD, script_checksum=f"sha256:{SHA256}"), {"gpu1": worker(MNT, THERE)}, {}, "")
    assert f"expected SHA-256 {SHA256}, found 1" in found.found and "benchmark_options.script_checksum" in found.fix


@pytest.mark.parametrize(
    ("options", "seen", "environment"),
    [
        (HOROVOD, {"gpu1": worker(MNT, THERE)}, {}),
        (HOROVOD, {}, {}),
        (HOROVOD, {"gpu1": None, "gpu2": {"failed": True}}, {}),
        # Found in another way than by the worker's own PATH.
        (NCCL, {"gpu1": worker("all_reduce_perf", ABSENT)}, {"PATH": "/opt/nccl-tests/build"}),
        (dict(NCCL, binary="build/all_reduce_perf"), {"gpu1": worker("build/all_reduce_perf", ABSENT)}, {"PATH": None}),
    ],
)
def test_what_was_found_or_was_not_observed_is_left_to_the_run(options, seen, environment):
    assert problem(options, seen, environment, "") is None


def test_a_program_that_is_not_on_the_path_is_named():
    found = problem(NCCL, {"gpu1": worker("all_reduce_perf", ABSENT)}, {"PATH": None}, "")
    assert (
        found.found == "there is no all_reduce_perf on gpu1 (benchmark_options.binary)"
        and "benchmark_options.binary" in found.fix
    )


def test_the_content_of_the_images_script_is_known_from_the_workers():
    assert script_sha256(HOROVOD, {"gpu1": worker(MNT, THERE)}) == "1" * 64
    assert script_sha256(HOROVOD, {}) is None and script_sha256(NCCL, {}) is None
