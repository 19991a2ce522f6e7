# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What counts as running work in a worker: real processes, in namespaces of their own where workers share one of processes."""

import contextlib
import fcntl
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.module_utils._acceleration import processes

WAITS = "import sys, time; print(flush=True); time.sleep(600)"
RANK = dict(os.environ, OMPI_COMM_WORLD_RANK="3")


@contextlib.contextmanager
def running(*argv, env=None):
    """A process that prints a line when it is there."""
    worker = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE)
    try:
        worker.stdout.readline()
        yield worker.pid
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()


def pids(folder, seconds=0):
    return [one.pid for one in processes.worker_work([str(folder)], "container box", seconds)]


@pytest.mark.parametrize(
    ("command", "launcher"),
    [
        ("/usr/local/openmpi/bin/mpirun -np 16 python3 train.py", True),
        ("orted -mca ess env", True),
        ("/bin/sh /opt/mpirun -np 2", True),
        ("python3 -u /usr/local/bin/horovodrun -np 2", True),
        ("python3 train.py mpirun", False),
        ("vim mpirun", False),
        ("sshd: root@notty", False),
        ("bash", False),
        ("", False),
    ],
)
def test_launchers_are_known_by_their_program(command, launcher):
    assert processes.is_launcher(command.split()) is launcher


@given(st.text(), st.binary())
def test_any_command_line_and_environment_is_understood(command, environment):
    assert processes.is_launcher(command.split()) in (True, False)
    assert processes.is_rank(environment) in (True, False)


def test_a_variable_of_the_image_makes_no_rank():
    assert not processes.is_rank(b"HOROVOD_GPU_OPERATIONS=NCCL\0OMPI_MCA_btl=tcp\0X=OMPI_COMM_WORLD_RANK=1\0")
    assert processes.is_rank(b"A=b\0PMIX_RANK=0\0")


def test_a_rank_is_listed_with_its_owner_and_command_and_other_programs_are_not(tmp_path):
    with running(sys.executable, "-c", WAITS) as other, running(sys.executable, "-c", WAITS, env=RANK) as rank:
        found = {one.pid: one for one in processes.worker_work([str(tmp_path)], "container box", 0)}
    assert rank in found and other not in found
    assert found[rank].user and WAITS in found[rank].command and found[rank].place == "container box"


def test_what_calls_and_what_only_waits_is_no_work_with_the_variables_of_a_rank(tmp_path):
    code = (
        "from ansible_collections.taco.train.plugins.module_utils._acceleration.processes import worker_work\n"
        f"import os; print(os.getpid(), os.getppid(), [one.pid for one in worker_work([{str(tmp_path)!r}], 'x', 0)])"
    )
    environment = dict(RANK, PYTHONPATH=os.pathsep.join(sys.path))
    with running("sh", "-c", "echo; exec sleep 600", env=environment) as waiting:
        # A shell between, as of an Ansible session.
        done = subprocess.run(
            ["sh", "-c", f'{sys.executable} -c "$1"; true', "sh", code],
            env=environment,
            stdout=subprocess.PIPE,
        )
    own, parent, found = done.stdout.decode().split(maxsplit=2)
    assert not {int(own), int(parent), waiting} & set(eval(found)), done.stdout


def test_a_rank_of_another_worker_in_the_same_namespace_of_processes_is_no_work(tmp_path):
    folder = tmp_path / "lib"
    folder.mkdir()
    own = ["--map-root-user"] if os.geteuid() else []
    hidden = ["sh", "-c", 'mount -t tmpfs none "$1" && exec "$2" -c "$3"', "sh", str(folder), sys.executable, WAITS]
    with running("unshare", "--mount", *own, *hidden, env=RANK) as elsewhere:
        assert elsewhere not in pids(folder)
        # It sees this one.
        assert elsewhere in pids(tmp_path)


def test_a_benchmark_is_known_by_its_lock_and_its_process_id(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(processes, "PID_FILE", str(tmp_path / "pid"))
    monkeypatch.setattr(processes, "_processes", lambda folders, place: [])
    assert pids(tmp_path) == []
    with open(tmp_path / "lock", "w") as lock:
        # One that has ended leaves both files.
        (tmp_path / "pid").write_text("1\n")
        assert pids(tmp_path) == []
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert pids(tmp_path) == [1]
        (tmp_path / "pid").unlink()
        (only,) = processes.worker_work([str(tmp_path)], "container box", 0)
        assert str(only) == "a benchmark (container box)"


def test_a_rank_that_ends_within_the_time_is_no_work(tmp_path):
    with running(sys.executable, "-c", "import time; print(flush=True); time.sleep(1)", env=RANK) as rank:
        assert rank in pids(tmp_path)
        begun = time.monotonic()
        assert rank not in pids(tmp_path, 10)
        assert time.monotonic() - begun < 10
