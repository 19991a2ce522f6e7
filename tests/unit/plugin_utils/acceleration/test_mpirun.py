# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""mpirun's argument list, against the vendor's documents."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.filter.benchmark import FilterModule
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import mpirun_command
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import horovod, platforms

# The commands of the documents, word for word, but for a second dash before two options, which Open MPI 4 and 5 read alike;
# splitting them drops their accidental double spaces.
DOCUMENT_CVM = (
    "/usr/local/openmpi/bin/mpirun -np 16 -H gpu1:8,gpu2:8 --allow-run-as-root --bind-to none --map-by slot "
    "-x NCCL_ALGO=RING -x NCCL_DEBUG=INFO -x HOROVOD_MPI_THREADS_DISABLE=1 -x HOROVOD_FUSION_THRESHOLD=0  "
    "-x HOROVOD_CYCLE_TIME=0 -x LIGHT_2D_ALLREDUCE=1 -x LIGHT_TOPK_ALLREDUCE=1 -x LIGHT_TOPK_THRESHOLD=2097152 "
    "-x LD_LIBRARY_PATH -x PATH -mca btl_tcp_if_include eth0 "
    "python3 tensorflow_synthetic_benchmark.py --model=ResNet50 --batch-size=256"
)
DOCUMENT_TKE = (
    "/usr/local/openmpi/bin/mpirun -np 32 -H taco-bench-worker-0:8,taco-bench-worker-1:8,taco-bench-worker-2:8,"
    "taco-bench-worker-3:8 --allow-run-as-root --bind-to none --map-by slot -x NCCL_ALGO=RING -x NCCL_DEBUG=INFO "
    "-x HOROVOD_MPI_THREADS_DISABLE=1 -x HOROVOD_FUSION_THRESHOLD=0  -x HOROVOD_CYCLE_TIME=0 -x LIGHT_2D_ALLREDUCE=1 "
    "-x LIGHT_TOPK_ALLREDUCE=1 -x LIGHT_TOPK_THRESHOLD=2097152 -x LIGHT_INTRA_SIZE=8 -x LD_LIBRARY_PATH -x PATH "
    "-mca btl_tcp_if_include eth0 python3 /mnt/tensorflow_synthetic_benchmark.py --model=VGG16 --batch-size=128"
)

OPTIONS = {
    "arm": ARMS["taco"],
    "interface": "eth0",
    "script": "tensorflow_synthetic_benchmark.py",
    "model": "ResNet50",
    "batch_size": 256,
}


def command(hosts, **options):
    workload = horovod.build(dict(OPTIONS, **options), [host["slots"] for host in hosts])
    spec = {"hosts": hosts, "env": workload.env, "mca": workload.mca, "command": workload.command}
    return FilterModule().filters()["mpirun_command"](spec)


def spec(**changes):
    return dict({"hosts": [{"name": "a", "slots": 1}], "command": ["true"]}, **changes)


def test_the_command_of_the_document_for_machines():
    hosts = [{"name": "gpu1", "slots": 8}, {"name": "gpu2", "slots": 8}]
    assert command(hosts) == shlex.split(DOCUMENT_CVM)


def test_the_command_of_the_document_for_kubernetes():
    hosts = [{"name": f"taco-bench-worker-{number}", "slots": 8} for number in range(4)]
    options = {"script": "/mnt/tensorflow_synthetic_benchmark.py", "model": "VGG16", "batch_size": 128}
    assert command(hosts, env={"LIGHT_INTRA_SIZE": 8}, **options) == shlex.split(DOCUMENT_TKE)


def test_every_key_has_its_place():
    argv = mpirun_command(
        spec(
            hosts=[{"name": "a", "slots": "2"}, {"name": "b.example", "slots": 3}],
            mpirun="/opt/mpirun",
            allow_run_as_root=False,
            bind_to="core",
            map_by="",
            env=["PATH", "A=b=c", {"name": "EMPTY", "value": ""}],
            mca={"btl": "^openib"},
            ssh_port=2222,
            extra=["--tag-output"],
            command=["python3", "a b.py"],
        )
    )
    assert argv == [
        *("/opt/mpirun", "-np", "5", "-H", "a:2,b.example:3", "--bind-to", "core"),
        *("-x", "PATH", "-x", "A=b=c", "-x", "EMPTY="),
        *("-mca", "btl", "^openib", "-mca", "plm_rsh_args", "-p 2222", "--tag-output", "python3", "a b.py"),
    ]


def test_a_boolean_of_yaml_reaches_programs_as_a_number():
    argv = mpirun_command(spec(env={"A": True, "B": False}, mca={"c": True}))
    assert argv[argv.index("-x") :] == ["-x", "A=1", "-x", "B=0", "-mca", "c", "1", "true"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hosts": []}, "at least one host"),
        ({"hosts": None}, "at least one host"),
        ({"hosts": ["a"]}, "{name, slots}"),
        ({"hosts": [{"name": "a"}]}, "{name, slots}"),
        ({"hosts": [{"name": "a", "slots": 0}]}, "host a needs"),
        ({"hosts": [{"name": "a", "slots": -1}]}, "host a needs"),
        ({"hosts": [{"name": "a", "slots": True}]}, "host a needs"),
        ({"hosts": [{"name": "a", "slots": None}]}, "host a needs"),
        ({"hosts": [{"name": "a", "slots": 1.5}]}, "host a needs"),
        ({"hosts": [{"name": "a", "slots": 1}, {"name": "a", "slots": 1}]}, "twice"),
        ({"hosts": [{"name": "a,b", "slots": 1}]}, "'a,b' can't be the name"),
        ({"hosts": [{"name": "a:8", "slots": 1}]}, "'a:8' can't be the name"),
        ({"hosts": [{"name": "-x", "slots": 1}]}, "'-x' can't be the name"),
        ({"hosts": [{"name": "a\n", "slots": 1}]}, "can't be the name"),
        ({"env": {"A-B": 1}}, "'A-B' can't be the name"),
        ({"env": ["=1"]}, "'' can't be the name"),
        ({"env": ["A", "A=1"]}, "A is given twice"),
        ({"env": "A=1"}, "mapping or a list"),
        ({"mca": {"btl": None}}, "btl has no value"),
        ({"mca": {"-x": "1"}}, "'-x' can't be the name"),
        ({"mca": ["btl"]}, "'mca' is a mapping"),
        ({"ssh_port": 0}, "1 to 65535"),
        ({"ssh_port": 22, "mca": {"plm_rsh_args": "-p 1"}}, "not both"),
        ({"command": []}, "needs a command"),
        ({"command": "python3 x.py"}, "list of words"),
        ({"host": []}, "no key host"),
    ],
)
def test_what_is_refused_and_why(changes, said):
    with pytest.raises(InvalidValueError) as error:
        mpirun_command(spec(**changes))
    assert said in str(error.value)


def test_the_filter_fails_as_filters_do():
    with pytest.raises(AnsibleFilterError, match="at least one host"):
        FilterModule().filters()["mpirun_command"]({"hosts": []})


def test_open_mpi_5_takes_every_option(tmp_path):
    # The package `openmpi` of the package index, which stands beside Python.
    mpirun = Path(sys.executable).parent / "mpirun"
    argv = mpirun_command(
        spec(
            hosts=[{"name": "localhost", "slots": 2}],
            mpirun=mpirun,
            env={"GREETING": "hello"},
            mca={**platforms.default_mca({"platform": "ack", "interface": "lo"}), "btl": "^openib"},
            command=["sh", "-c", "echo $GREETING $OMPI_COMM_WORLD_RANK"],
        )
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
    assert (done.returncode, sorted(done.stdout.split("\n"))) == (0, ["", "hello 0", "hello 1"]), done.stderr
