# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each workload runs, and what it refuses to."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

COMMON = {"arm": ARMS["harp"], "interface": "eth0"}
ENV = {"NCCL_ALGO": "RING", "NCCL_DEBUG": "INFO", "LD_LIBRARY_PATH": None, "PATH": None}
TF_CNN = dict(COMMON, script="/b/tf_cnn_benchmarks.py", model="resnet50", batch_size=64)
COMMAND = dict(COMMON, command=["./train", "--steps", 5], pattern=r"speed (?P<value>\S+)")


def build(name, options, slots=(8, 8)):
    return WORKLOADS[name].build(options, list(slots))


def test_each_workload_has_a_unit():
    assert {name: kind.unit for name, kind in WORKLOADS.items()} == {
        "horovod_synthetic": "images/s",
        "tf_cnn_benchmarks": "images/s",
        "nccl_tests": "GB/s",
        "ttf_dynamic_embedding": "steps/s",
        "command": "units/s",
    }


@pytest.mark.parametrize("name", WORKLOADS)
def test_no_output_is_no_result_of_any_workload(name):
    found = WORKLOADS[name].parse("", expected_ranks=2, device="GPU", options={"pattern": "(?P<value>x)"})
    assert found["problems"] and found["value"] is None
    assert set(found) == {
        *("model", "batch_size", "ranks", "device", "unit", "higher_is_better", "iterations", "per_device", "total"),
        *("value", "series", "network", "details", "problems"),
    }


def test_tf_cnn_benchmarks_measures_as_many_batches_as_horovods_benchmark():
    workload = build("tf_cnn_benchmarks", TF_CNN)
    assert workload.command == [
        *("python3", "/b/tf_cnn_benchmarks.py", "--model=resnet50", "--batch_size=64"),
        *("--num_batches=100", "--num_warmup_batches=10", "--variable_update=horovod"),
    ]
    assert (workload.env, workload.mca, workload.mpi) == (ENV, {"btl_tcp_if_include": "eth0"}, True)
    assert "--num_batches=15" in build("tf_cnn_benchmarks", dict(TF_CNN, num_iters=3, num_batches_per_iter=5)).command
    assert "--num_batches=7" in build("tf_cnn_benchmarks", dict(TF_CNN, num_iters=3, num_batches=7)).command


def test_tf_cnn_benchmarks_without_a_gpu_needs_the_other_layout():
    options = dict(TF_CNN, device="CPU", extra_args=["--use_fp16"], xla=True, num_warmup_batches=0)
    workload = build("tf_cnn_benchmarks", options)
    assert workload.command[-4:] == ["--variable_update=horovod", "--device=cpu", "--data_format=NHWC", "--use_fp16"]
    assert "--num_warmup_batches=0" in workload.command
    assert workload.env["TF_XLA_FLAGS"] == "--tf_xla_auto_jit=1"


def test_nccl_tests_run_one_gpu_for_each_rank():
    workload = build("nccl_tests", COMMON)
    assert workload.command == "all_reduce_perf -b 8 -e 128M -f 2 -n 20 -w 5 -g 1".split()
    assert (workload.env, list(workload.cleanup)) == (ENV, [])
    options = dict(
        COMMON,
        binary="/opt/broadcast_perf",
        min_bytes=1048576,
        max_bytes="1G",
        step_factor=4,
        iters=50,
        warmup=0,
        json_path="/tmp/n.json",
        extra_args=["-c", "0"],
    )
    workload = build("nccl_tests", options)
    words = "/opt/broadcast_perf -b 1048576 -e 1G -f 4 -n 50 -w 0 -g 1 -J /tmp/n.json -c 0"
    assert (workload.command, list(workload.cleanup)) == (words.split(), ["/tmp/n.json"])
    assert build("nccl_tests", dict(COMMON, min_bytes=1, max_bytes="1")).command[1:5] == ["-b", "1", "-e", "1"]


def test_lightcc_has_no_part_in_nccl_tests():
    workload = build("nccl_tests", dict(COMMON, arm=ARMS["taco"], lightcc={"topk_fp16": True}), [8, 4])
    assert workload.env == ENV
    assert len(workload.notes) == 1 and "LightCC has no part in this number: arm taco" in workload.notes[0]
    assert build("nccl_tests", COMMON).notes == []


def test_the_ttf_demo_is_one_process_on_the_launcher():
    options = dict(COMMON, arm=ARMS["taco"], batch_size=16384, is_dynamic=False, dnn_layer_num=12, mixed_precision=True)
    workload = build("ttf_dynamic_embedding", dict(options, env={"A": 1, "PATH": None}), [8, 4])
    assert workload.command == ["python", "train.py", "--batch_size=16384", "--is_dynamic=False", "--dnn_layer_num=12"]
    assert workload.chdir == "/opt/dynamic-embedding-demo/benchmark"
    assert list(workload.cleanup) == [".index", ".data-00000-of-00001"]
    assert workload.env == {"TF_ENABLE_AUTO_MIXED_PRECISION": "1", "A": 1}
    assert (workload.mpi, workload.mca) == (False, {})
    assert len(workload.notes) == 1 and "of an arm" in workload.notes[0]


def test_the_ttf_demo_runs_as_it_is_when_nothing_is_set():
    assert build("ttf_dynamic_embedding", COMMON).command == ["python", "train.py"]


@pytest.mark.parametrize("demo", ["ps", "estimator"])
def test_the_other_ttf_demos_are_scripts_without_arguments(demo):
    workload = build("ttf_dynamic_embedding", dict(COMMON, demo=demo, demo_dir="/d", batch_size=256))
    assert (workload.command, workload.chdir, list(workload.cleanup)) == (["bash", "start.sh"], f"/d/{demo}", [])
    assert "benchmark_options.batch_size was left out" in workload.notes[1]
    assert len(build("ttf_dynamic_embedding", dict(COMMON, demo=demo)).notes) == 1


def test_a_users_command_runs_under_mpirun_or_alone():
    workload = build("command", dict(COMMAND, arm=ARMS["taco"], extra_args=["-v"]), [4])
    assert workload.command == ["./train", "--steps", "5", "-v"]
    assert (workload.mpi, workload.env["LIGHT_INTRA_SIZE"], workload.env["PATH"]) == (True, "4", None)
    assert len(workload.notes) == 1
    workload = build("command", dict(COMMAND, mpi=False, interface=None, chdir="/d", cleanup=["cache"]))
    assert (workload.mpi, workload.mca, workload.chdir, workload.cleanup) == (False, {}, "/d", ("cache",))
    assert workload.env == {"NCCL_ALGO": "RING", "NCCL_DEBUG": "INFO"}


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("tf_cnn_benchmarks", dict(TF_CNN, script=None), "benchmark_options.script is None; it must be set"),
        ("tf_cnn_benchmarks", dict(TF_CNN, script="/mnt/tensorflow_synthetic_benchmark.py"), "horovod_synthetic"),
        ("tf_cnn_benchmarks", dict(TF_CNN, model="ResNet50"), "named in lower case: set it to resnet50"),
        ("tf_cnn_benchmarks", dict(TF_CNN, batch_size=None), "benchmark_options.batch_size is not set"),
        ("tf_cnn_benchmarks", dict(TF_CNN, num_batches=0), "benchmark_options.num_batches is 0"),
        ("nccl_tests", dict(COMMON, min_bytes="1T"), "benchmark_options.min_bytes is '1T'.*K, M or G"),
        ("nccl_tests", dict(COMMON, max_bytes=True), "benchmark_options.max_bytes is True"),
        ("nccl_tests", dict(COMMON, min_bytes="0"), "benchmark_options.min_bytes is '0'"),
        ("nccl_tests", dict(COMMON, min_bytes="1M", max_bytes="8K"), "more than benchmark_options.max_bytes"),
        ("nccl_tests", dict(COMMON, step_factor=1), "benchmark_options.step_factor is 1; it must be 2 or more"),
        ("nccl_tests", dict(COMMON, iters="many"), "benchmark_options.iters is many"),
        ("nccl_tests", dict(COMMON, device="CPU"), "on GPUs only"),
        ("nccl_tests", dict(COMMON, binary="-x"), "benchmark_options.binary"),
        ("nccl_tests", dict(COMMON, json_path="-"), "benchmark_options.json_path"),
        ("ttf_dynamic_embedding", dict(COMMON, demo="other"), "benchmark_options.demo is 'other'"),
        ("ttf_dynamic_embedding", dict(COMMON, batch_size=0), "benchmark_options.batch_size is 0"),
        ("ttf_dynamic_embedding", dict(COMMON, is_dynamic="maybe"), "benchmark_options.is_dynamic is 'maybe'"),
        ("ttf_dynamic_embedding", dict(COMMON, demo="ps", is_dynamic=True), "benchmark_options.is_dynamic is for"),
        ("ttf_dynamic_embedding", dict(COMMON, pattern="x"), "must name the group"),
        ("command", dict(COMMAND, command=[]), "benchmark_options.command is empty"),
        ("command", dict(COMMAND, command="ls"), "benchmark_options.command is 'ls'; it must be a list of words"),
        ("command", dict(COMMAND, cleanup="x"), "benchmark_options.cleanup is 'x'"),
        ("command", dict(COMMAND, pattern=None), "benchmark_options.pattern is not set"),
        ("command", dict(COMMAND, pattern="("), r"benchmark_options.pattern is '\('.*no regular expression"),
        ("command", dict(COMMAND, pattern=5), "benchmark_options.pattern is 5.*no regular expression"),
        (
            "command",
            dict(COMMAND, total_pattern="total"),
            "benchmark_options.total_pattern is 'total'; it must name the group",
        ),
        ("command", dict(COMMAND, interface=""), "benchmark_interface"),
    ],
)
def test_what_is_refused_names_the_variable(name, options, said):
    with pytest.raises(InvalidValueError, match=said):
        build(name, options)
