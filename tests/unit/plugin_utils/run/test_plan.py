# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one command of a run, for each kind of workload."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.run.options import effective
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OPTIONS, PLACES, guarded, not_active, plan
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

HOSTS = [{"name": "gpu1", "slots": 8}, {"name": "gpu2", "slots": 8}]


def options(**given):
    defaults = {name: spec.get("default") for name, spec in {**OPTIONS, **PLACES}.items()}
    return effective(dict(defaults, **dict({"hosts": HOSTS, "run_dir": "results/x"}, **given)))


def test_the_default_run_is_the_command_of_the_documents():
    found = plan(options(exec_prefix=["docker", "exec", "taco-train"]))
    assert found.argv[:7] == ["docker", "exec", "taco-train", "timeout", "--foreground", "-k", "10"]
    assert " ".join(found.argv[8:]).startswith(
        "/usr/local/openmpi/bin/mpirun -np 16 -H gpu1:8,gpu2:8 --allow-run-as-root"
    )
    assert (
        found.argv[-4:]
        == [
            *("eth0", "python3", "/mnt/tensorflow_synthetic_benchmark.py", "--model=ResNet50"),
            "--batch-size=256",
        ][-4:]
    )
    assert (found.ranks, found.arm.name, found.mpi) == (16, "taco", True)


def test_a_container_with_a_network_of_its_own_runs_all_ranks_without_ssh_and_the_hosts_interface():
    found = plan(options(hosts=HOSTS[:1], local=True, interface="ens5", arm="tcp"))
    assert found.argv[1:5] == ["-np", "8", "-H", "localhost:8"]
    assert "btl_tcp_if_include" not in found.argv and found.ranks == 8
    with pytest.raises(
        InvalidValueError, match="2 hosts: give one in benchmark_hosts, or set training_container_profile"
    ):
        plan(options(local=True))


def test_a_demo_of_ttf_runs_alone_in_its_folder_and_without_the_files_of_an_earlier_run():
    found = plan(options(workload="ttf_dynamic_embedding", batch_size=16384, is_dynamic=False, xla=True))
    assert found.argv == [
        "sh",
        "-c",
        "cd /opt/dynamic-embedding-demo/benchmark && rm -f -- .index .data-00000-of-00001 && "
        "exec env TF_XLA_FLAGS=--tf_xla_auto_jit=1 python train.py --batch_size=16384 --is_dynamic=False",
    ]
    assert (found.ranks, found.mpi) == (1, False)


def test_nccl_tests_leave_no_old_json_to_be_taken_for_the_new():
    found = plan(options(workload="nccl_tests", arm="tcp", json_path="/tmp/my results.json"))
    assert found.argv[:2] == ["sh", "-c"]
    assert found.argv[2].startswith("rm -f -- '/tmp/my results.json' && exec /usr/local/openmpi/bin/mpirun -np 16")
    assert "-J '/tmp/my results.json'" in found.argv[2] and "LIGHT_" not in found.argv[2]


def test_a_command_of_the_users_own_goes_through_mpirun_or_not():
    mine = {"workload": "command", "command": ["./train", "a b"], "pattern": "(?P<value>[0-9]+)", "arm": "tcp"}
    assert plan(options(**mine)).argv[-2:] == ["./train", "a b"]
    found = plan(options(**mine, mpi=False, chdir="/work dir", env={"SEED": "1"}))
    assert found.argv[2].startswith("cd '/work dir' && exec env ") and found.argv[2].endswith("./train 'a b'")
    assert "SEED=1" in found.argv[2]


PREPARED = {"LD_LIBRARY_PATH": "/s/without-plugin", "PYTHONPATH": "/s/horovod/h"}


def test_ranks_of_an_arm_find_its_folders_first_and_those_of_other_arms_have_the_documents_line():
    workers = {"gpu1": {"prepended": PREPARED}, "gpu2": {"prepended": PREPARED}}
    assert plan(options(arm="taco", workers=workers)) == plan(options(arm="taco"))
    own, found = plan(options(arm="horovod")).argv, plan(options(arm="horovod", workers=workers)).argv
    assert [word for word in found if word not in own] == ["sh", "-c", found[found.index("-c") + 1], "taco.train"]
    script = found[found.index("-c") + 1]
    assert "export LD_LIBRARY_PATH=/s/without-plugin" in script and "export PYTHONPATH=/s/horovod/h" in script


def test_a_single_process_needs_no_network_and_so_no_empty_library():
    mine = {"workload": "command", "command": ["./train"], "pattern": "(?P<value>[0-9]+)", "mpi": False}
    assert plan(options(**mine, arm="tcp", workers={"gpu1": {"prepended": PREPARED}})) == plan(
        options(**mine, arm="tcp")
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lightcc": {"intra_size": 3}}, "don't make whole groups of 3"),
        ({"lightcc": {"topk_ratio": 0}}, "above 0 and at most 1"),
        ({"lightcc": {"topk_threshold": "1MB"}}, "1MB is 1048576"),
        ({"lightcc": {"ratio": 1}}, "benchmark_lightcc has no ratio"),
        ({"env": {"LIGHT_TOPK": "1"}}, "the closest is LIGHT_TOPK_"),
        ({"arm": {"name": "Mine"}}, "lower-case"),
        ({"timeout": 0}, "benchmark_timeout is 0"),
        ({"workload": "command"}, "benchmark_options.command is empty"),
        ({"workload": "tf_cnn_benchmarks"}, "benchmark_options.script"),
    ],
)
def test_what_cant_be_run_is_refused_before_anything_starts(given, words):
    with pytest.raises(InvalidValueError, match=words):
        plan(options(**given))


def test_a_demo_that_takes_too_long_is_ended_with_all_that_it_started():
    found = plan(options(workload="ttf_dynamic_embedding", exec_prefix=["docker", "exec", "taco-train"]))
    assert found.argv[3:6] == ["timeout", "-k", "10"]


def test_a_run_holds_its_container_and_can_be_ended_there():
    prefix = ["docker", "exec", "taco-train"]
    argv, end = guarded([*prefix, "timeout", "5", "mpirun"], prefix)
    assert argv[:4] == [*prefix, "flock"] and argv[-3:] == ["timeout", "5", "mpirun"]
    assert end[:3] == prefix and "kill $(cat /tmp/taco-train.pid)" in end[-1]
    assert guarded(["mpirun"], []) == (["mpirun"], [])


def test_workers_that_the_arm_is_not_active_on_are_named():
    workers = {"gpu1": {"changed": True}, "gpu2": {"failed": True, "msg": "no such container"}, "gpu3": {}}
    assert not_active(ARMS["taco"], workers, {}) == "the arm is not active on gpu2: no such container"
    reasons = {"gpu1": "not placed", "gpu2": ""}
    assert not_active(ARMS["taco"], {"gpu1": {}}, reasons) == "the arm is not active on gpu1: not placed"
    assert not_active(ARMS["taco"], {"gpu1": {}}, {}) is None
