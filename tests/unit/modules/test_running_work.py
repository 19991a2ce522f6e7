# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What counts as running work, by the formats that nvidia-smi and docker print. nvidia-smi is a double: there is no GPU here."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.module_utils._process import running_work as _running_work
from ansible_collections.taco.train.plugins.module_utils._process.running_work import (
    is_idle,
    parse_compute_apps,
    parse_top,
)
from ansible_collections.taco.train.plugins.modules import running_work

GPU = "GPU-0d3f1b7c-5e2a-4c6d-9b8a-7f6e5d4c3b2a"
TOP = """PID                 STAT                USER                COMMAND
900                 Ss                  root                /sbin/docker-init -- sleep infinity
901                 S                   root                sleep infinity
910                 Ss                  root                sshd: /usr/sbin/sshd -f /s/sshd_config [listener] 0 of 200-400 startups
911                 Ss                  root                sshd: root@notty
912                 Ss                  root                bash
913                 Ss                  root                -bash
914                 Z                   root                [python3] <defunct>
"""
RANKS = """920                 Sl                  root                orted -mca ess env
921                 Rl                  1000                python3 /mnt/tensorflow_synthetic_benchmark.py --batch-size 256
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A function that puts a double of a program in the path: it prints a text and ends with a status."""

    def write(name, text, status=0):
        (tmp_path / (name + ".out")).write_text(text)
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\ncat "{tmp_path / name}.out"\nexit {status}\n')
        program.chmod(0o755)
        return str(program)

    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return write


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("No running processes found\n", []),
        ("[Not Supported], [Not Supported], [Not Supported]\n", []),
        (f"4711, {GPU}, python3\n", [(4711, "python3", "GPU " + GPU)]),
        (f"4711, {GPU}, [Insufficient Permissions]\n", [(4711, "", "GPU " + GPU)]),
        (f"4711, {GPU}, [Not Found]\n4712, {GPU}, [N/A]\n", [(4711, "", "GPU " + GPU), (4712, "", "GPU " + GPU)]),
        ("4711, MIG-aa-bb, /usr/bin/a, b\n", [(4711, "/usr/bin/a, b", "GPU MIG-aa-bb")]),
        (f"WARNING: infoROM is corrupted at gpu 0000:3B:00.0\n4711, {GPU}, x\n", [(4711, "x", "GPU " + GPU)]),
    ],
)
def test_processes_in_what_nvidia_smi_prints(text, found):
    assert [(one.pid, one.command, one.place) for one in parse_compute_apps(text)] == found


@given(st.text())
def test_any_text_of_nvidia_smi_or_docker_is_understood(text):
    assert all(isinstance(one.pid, int) for one in parse_compute_apps(text) + parse_top(text, "box"))


def test_what_keeps_a_container_running_is_no_work():
    assert parse_top(TOP, "box") == []
    assert [one.pid for one in parse_top(TOP + RANKS, "box")] == [920, 921]


@pytest.mark.parametrize(
    ("command", "idle"),
    [
        ("sleep infinity", True),
        ("/bin/sh -ec sleep infinity", True),
        ("tail -f /dev/null", True),
        ("bash", True),
        ("-bash", True),
        ("", True),
        ("bash train.sh", False),
        ("sh -c python3 train.py", False),
        ("/usr/bin/python3 -m sleep", False),
        ("mpirun -np 16 sleep 1", False),
    ],
)
def test_programs_that_only_wait_are_idle(command, idle):
    assert is_idle(command.split()) is idle


def test_a_process_on_a_gpu_refuses_the_interruption_with_its_owner_and_command(run, programs):
    worker = subprocess.Popen(["sleep", "61.5"])
    try:
        programs("nvidia-smi", f"{worker.pid}, {GPU}, [Not Found]\n999999999, {GPU}, python3\n")
        result = run(running_work.main, interruption="The reboot")
    finally:
        worker.kill()
        worker.wait()
    assert result["failed"]
    for words in (
        "The reboot would end",
        f"sleep 61.5 (pid {worker.pid}, user ",
        "GPU " + GPU,
        "python3 (pid 999999999",
    ):
        assert words in result["msg"], result["msg"]
    assert "taco_interrupt_running_work: true" in result["msg"]
    assert [one["pid"] for one in result["work"]] == [worker.pid, 999999999]


def test_check_mode_and_permission_warn_and_end_well(run, programs):
    programs("nvidia-smi", f"4711, {GPU}, python3\n")
    for options in ({"check": True}, {"allowed": True}):
        result = run(running_work.main, interruption="The reboot", **options)
        assert not result.get("failed") and not result["changed"]
        assert "python3 (pid 4711" in result["msg"]


def test_an_idle_host_may_be_interrupted(run, programs):
    programs("nvidia-smi", "No running processes found\n")
    engine = programs("engine", TOP)
    result = run(running_work.main, interruption="The reboot", container="box", engine_command=[engine])
    assert (result.get("failed"), result["work"]) == (None, [])


def test_ranks_in_the_container_refuse_it(run, programs):
    engine = programs("engine", TOP + RANKS)
    result = run(running_work.main, interruption="X", gpus=False, container="box", engine_command=[engine])
    assert result["failed"]
    assert "tensorflow_synthetic_benchmark.py --batch-size 256 (pid 921, user 1000, container box)" in result["msg"]


@pytest.mark.parametrize(("live_restore", "refused"), [("false", True), ("true", False)])
def test_a_restart_of_the_engine_ends_every_container_unless_it_keeps_them(run, tmp_path, live_restore, refused):
    engine = tmp_path / "engine"
    engine.write_text(
        "#!/bin/sh\n"
        f"case $1 in info) echo {live_restore};; ps) printf 'box\\timg:1\\nregistry\\tregistry:2\\n';;\n"
        f"top) cat <<'EOF'\n{TOP}EOF\n;; esac\n"
    )
    engine.chmod(0o755)
    options = {"gpus": False, "container": "box", "containers": True, "engine_command": [str(engine)]}
    result = run(running_work.main, interruption="The restart", **options)
    assert bool(result.get("failed")) is refused
    # The training container is idle.
    assert [one["place"] for one in result["work"]] == (["container registry"] if refused else [])


def test_programs_with_cuda_open_count_where_nvidia_smi_fails(run, programs, tmp_path, monkeypatch):
    device = tmp_path / "nvidia-uvm"
    device.write_text("")
    monkeypatch.setattr(_running_work, "UVM", str(device))
    programs("nvidia-smi", "Failed to initialize NVML: Driver/library version mismatch\n", 18)
    assert run(running_work.main, interruption="The reboot")["work"] == []
    with open(device) as opened:
        worker = subprocess.Popen(["sleep", "62.5"], stdin=opened)
    try:
        result = run(running_work.main, interruption="The reboot")
    finally:
        worker.kill()
        worker.wait()
    assert result["failed"] and f"sleep 62.5 (pid {worker.pid}" in result["msg"]
