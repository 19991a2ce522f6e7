# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The environment and the command of each arm."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.lightcc import TOPK_NOTE
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.horovod import build

OPTIONS = {"arm": ARMS["taco"], "interface": "eth0", "script": "/mnt/s.py", "model": "ResNet50", "batch_size": 256}


def test_arm_harp_sets_nothing_of_lightcc_or_horovod():
    workload = build(dict(OPTIONS, arm=ARMS["harp"]), [8, 8])
    assert workload.env == {"NCCL_ALGO": "RING", "NCCL_DEBUG": "INFO", "LD_LIBRARY_PATH": None, "PATH": None}
    assert workload.notes == []


def test_arm_taco_says_that_topk_is_lossy_unless_it_is_off():
    assert build(OPTIONS, [8]).notes == [TOPK_NOTE]
    for off in ("0", 0, False):
        assert build(dict(OPTIONS, env={"LIGHT_TOPK_ALLREDUCE": off}), [8]).notes == []


@pytest.mark.parametrize(("slots", "size"), [([8, 8], None), ([2, 2], "2"), ([1], "1"), ([16], "16")])
def test_the_group_of_2d_allreduce_is_the_gpus_of_a_host(slots, size):
    assert build(OPTIONS, slots).env.get("LIGHT_INTRA_SIZE") == size


def test_hosts_with_different_slots_need_a_decision():
    with pytest.raises(InvalidValueError, match=r"\[8, 4\] slots.*LIGHT_INTRA_SIZE in benchmark_env"):
        build(OPTIONS, [8, 4])
    assert build(dict(OPTIONS, env={"LIGHT_INTRA_SIZE": 4}), [8, 4]).env["LIGHT_INTRA_SIZE"] == 4
    assert "LIGHT_INTRA_SIZE" not in build(dict(OPTIONS, arm=ARMS["harp"]), [8, 4]).env


def test_what_the_user_sets_replaces_and_comes_before_what_is_exported():
    env = build(dict(OPTIONS, env={"NCCL_DEBUG": "WARN", "MINE": 1, "PATH": "/bin"}), [8]).env
    assert list(env.items())[:2] == [("NCCL_ALGO", "RING"), ("NCCL_DEBUG", "WARN")]
    assert list(env.items())[-3:] == [("MINE", 1), ("PATH", "/bin"), ("LD_LIBRARY_PATH", None)]


def test_only_what_differs_from_the_script_is_said():
    options = dict(OPTIONS, num_iters=5, num_warmup_batches=0, num_batches_per_iter=10, extra_args=["--fp16-allreduce"])
    assert build(dict(options, device="CPU"), [8]).command == [
        *("python3", "/mnt/s.py", "--model=ResNet50", "--batch-size=256"),
        *("--num-warmup-batches=0", "--num-iters=5", "--no-cuda", "--fp16-allreduce"),
    ]


def test_mca_parameters_are_the_users_to_change():
    mca = build(dict(OPTIONS, mca={"oob_tcp_if_include": "eth0"}), [8]).mca
    assert mca == {"btl_tcp_if_include": "eth0", "oob_tcp_if_include": "eth0"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"batch_size": 0}, "benchmark_options.batch_size is 0"),
        ({"num_iters": 0}, "benchmark_options.num_iters is 0"),
        ({"num_warmup_batches": -1}, "benchmark_options.num_warmup_batches is -1"),
        ({"script": "--version"}, "benchmark_options.script"),
        ({"model": "--help"}, "benchmark_options.model"),
        ({"interface": ""}, "benchmark_interface"),
        ({"framework": "mxnet"}, "benchmark_options.framework is 'mxnet'"),
        ({"framework": "pytorch"}, "named in lower case: set it to resnet50"),
        ({"framework": "tensorflow2", "model": "vgg16"}, "benchmark_options.model is vgg16, and Keras"),
        ({"framework": "pytorch", "model": "vgg16", "xla": True}, "benchmark_options.xla is a switch of TensorFlow"),
        ({"lightcc": {"topk": 1}}, "benchmark_lightcc has no topk; the closest is topk_"),
        ({"env": {"LIGHT_TOPK_THRESHOLD": "2MB"}}, r"LIGHT_TOPK_THRESHOLD is '2MB'.*bytes.*\(2MB is 2097152\)"),
        ({"env": {"LIGHT_INTRA_SIZE": 3}}, "8 ranks, which don't make whole groups of 3"),
    ],
)
def test_what_is_refused_names_the_variable(changes, said):
    with pytest.raises(InvalidValueError, match=said):
        build(dict(OPTIONS, **changes), [8])


@pytest.mark.parametrize(
    ("framework", "model", "script"),
    [
        ("tensorflow", "ResNet50", "/mnt/tensorflow_synthetic_benchmark.py"),
        ("tensorflow2", "VGG16", "/mnt/tensorflow2_synthetic_benchmark.py"),
        ("pytorch", "vgg16", "/mnt/pytorch_synthetic_benchmark.py"),
    ],
)
def test_each_framework_has_its_script_in_the_image(framework, model, script):
    options = dict(OPTIONS, framework=framework, model=model, script=None)
    assert build(options, [8]).command == ["python3", script, f"--model={model}", "--batch-size=256"]


def test_a_script_by_its_own_name_says_its_framework():
    with pytest.raises(InvalidValueError, match="PyTorch's models"):
        build(dict(OPTIONS, script="/x/pytorch_synthetic_benchmark.py"), [8])


def test_what_comes_later_wins_in_the_environment():
    options = dict(
        OPTIONS,
        mixed_precision=True,
        xla=True,
        lightcc={"topk_ratio": 0.00001, "topk_fp16": True, "topk_threshold": 5},
        env={"LIGHT_TOPK_THRESHOLD": 6, "TF_XLA_FLAGS": "mine"},
    )
    env = build(options, [8]).env
    assert env["TF_ENABLE_AUTO_MIXED_PRECISION"] == "1"
    assert (env["TF_XLA_FLAGS"], env["LIGHT_TOPK_THRESHOLD"]) == ("mine", 6)
    assert (env["LIGHT_TOPK_RATIO"], env["LIGHT_TOPK_FP16"]) == ("0.00001", "1")
    assert "TF_XLA_FLAGS" not in build(OPTIONS, [8]).env


def test_options_of_lightcc_do_not_put_lightcc_into_an_arm_without_it():
    workload = build(dict(OPTIONS, arm=ARMS["harp"], lightcc={"topk_allreduce": True}), [8])
    assert not [name for name in workload.env if name.startswith("LIGHT_")]
    assert workload.notes == ["Arm harp does not use LightCC, so benchmark_lightcc was left out."]


def test_it_runs_under_mpirun_and_leaves_nothing_to_clean():
    workload = build(OPTIONS, [8])
    assert (workload.mpi, workload.chdir, list(workload.cleanup)) == (True, None, [])
