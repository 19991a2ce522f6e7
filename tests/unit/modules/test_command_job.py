# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands that end well, badly, late or never; on this Python, the oldest and the newest one of this machine."""

import glob
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.module_utils._process.shortened import read_shortened
from ansible_collections.taco.train.plugins.modules import command_job

ROOT = Path(__file__).parents[3]
# Leaves a child in its group that doesn't listen to SIGTERM, and waits for it.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(
    [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"]
)
print("child", child.pid, flush=True)
time.sleep(60)
"""
SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from ansible_collections.taco.train.plugins.module_utils._process.shortened import read_shortened
from ansible_collections.taco.train.plugins.module_utils._process.supervised import run
path = sys.argv[2]
for limit, argv in json.loads(sys.argv[3]):
    with open(path, "wb") as log:
        finished = run(argv, limit, 0.1, log, None, {"A": "b"})
    print(json.dumps(dict(finished._asdict(), stdout=read_shortened(path, 1000))))
"""


def pythons():
    """The Python of the tests, and the oldest and the newest one of this machine."""
    found = {}
    for python in glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")):
        found[Path(python).resolve().name] = python
    others = sorted(found, key=lambda name: int(name.rpartition(".")[2]))
    return {
        Path(sys.executable).resolve().name: sys.executable,
        **{name: found[name] for name in others[:1] + others[-1:]},
    }


def gone(pid):
    """Return whether a process is over. One that nobody has waited for is over all the same."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def job(run, tmp_path):
    def job(*argv, check=False, **options):
        options = dict({"timeout": 20, "log_path": str(tmp_path / "logs/job.log")}, **options)
        return run(command_job.main, check=check, argv=list(argv), **options)

    return job


def test_a_command_that_ends_well(job, tmp_path):
    result = job("sh", "-c", "echo out; echo err >&2; echo $NAME; pwd", chdir=str(tmp_path), environment={"NAME": 5})
    assert (result["rc"], result["timed_out"], result["changed"]) == (0, False, True)
    assert result["stdout"] == f"out\nerr\n5\n{tmp_path}\n"
    log = tmp_path / "logs/job.log"
    assert result["log_path"] == str(log) and log.read_text() == result["stdout"]
    assert log.stat().st_mode & 0o777 == 0o600 and log.parent.stat().st_mode & 0o777 == 0o700
    assert result["started"] < result["ended"] and result["duration"] < 20


@pytest.mark.parametrize(("script", "rc"), [("exit 3", 3), ("kill -9 $$", -9)])
def test_an_exit_status_is_a_result_and_not_a_failure(job, script, rc):
    result = job("sh", "-c", script)
    assert result["rc"] == rc and result["timed_out"] is False and not result.get("failed")


def test_words_are_passed_as_they_are(job):
    assert job("printf", "%s|", "a b", "$HOME", "*", ";")["stdout"] == "a b|$HOME|*|;|"


def test_a_process_left_behind_does_not_hold_the_job(job):
    result = job("sh", "-c", "sleep 30 & echo $!")
    os.kill(int(result["stdout"]), signal.SIGKILL)
    assert result["duration"] < 10


def test_at_the_limit_all_that_was_started_is_ended_and_the_log_kept(job):
    result = job(sys.executable, "-c", STUBBORN, timeout=1, grace=1)
    assert result["timed_out"] is True and result["rc"] == -signal.SIGKILL
    child = result["stdout"].split()[1]
    assert gone(child)
    assert 2 <= result["duration"] < 6


def test_a_rank_in_a_group_of_its_own_is_ended_too(job):
    # As mpirun starts its ranks: in its session, each in its own process group.
    script = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '60'], preexec_fn=lambda: os.setpgid(0, 0))\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    result = job(sys.executable, "-c", script, timeout=1, grace=0)
    assert result["timed_out"] is True and gone(result["stdout"].strip())


def test_mpirun_is_asked_once(job):
    script = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))\n"
        "print('begun', flush=True)\n"
        "end = time.monotonic() + 60\n"
        "while time.monotonic() < end:\n"
        "    time.sleep(0.1)\n"
    )
    assert job(sys.executable, "-c", script, timeout=1, grace=1)["stdout"] == "begun\nasked\n"


def test_one_that_ends_when_asked_is_not_kept_waiting(job):
    result = job("sleep", "30", timeout=1, grace=30)
    assert result["timed_out"] is True and result["rc"] == -signal.SIGTERM
    assert result["duration"] < 5


def test_of_long_output_the_middle_is_left_out(job, tmp_path):
    result = job("sh", "-c", "echo first; seq 1 20000; echo last", max_output_bytes=1000)
    head, left_out, tail = re.split(
        r"\n\[\.\.\. (\d+) bytes left out here, whole in .*/logs/job\.log \.\.\.\]\n", result["stdout"]
    )
    assert head.startswith("first\n1\n") and tail.endswith("20000\nlast\n") and len(head + tail) <= 1000
    assert int(left_out) == (tmp_path / "logs/job.log").stat().st_size - len(head + tail)


@pytest.mark.parametrize("size", [2, 5, 9, 10, 11])
def test_the_two_ends_never_overlap(tmp_path, size):
    path = tmp_path / "log"
    path.write_bytes(b"0123456789")
    head, _marker, tail = read_shortened(str(path), size).partition("\n[... ")
    tail = tail.partition(" ...]\n")[2]
    assert "0123456789".startswith(head) and "0123456789".endswith(tail) and len(head + tail) <= max(size, 10)
    assert (head == "0123456789") == (size >= 10)


def flood(text, count):
    """Return that many lines of many ranks."""
    return "".join(f"[1,{number % 256}]<stderr>:gpu{number % 32}:4:5 [0] {text} {number}\n" for number in range(count))


def test_the_error_in_the_middle_of_a_long_log_is_kept_with_the_lines_around_it(tmp_path):
    path = tmp_path / "log"
    error = "[1,137]<stderr>:Traceback (most recent call last):\n[1,137]<stderr>:  File x.py, line 7\n"
    error += "[1,137]<stderr>:RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n[1,137]<stderr>:and 3 GiB are in use\n"
    path.write_text(flood("step", 5000) + error + flood("Connection closed by peer [198.51.100.7]", 5000) + "last\n")
    text = read_shortened(str(path), 200_000)
    assert error in text and text.endswith("last\n") and text.startswith("[1,0]<stderr>:gpu0:4:5 [0] step 0\n")
    assert len(text) < 200_200 and text.count("bytes left out") == 1


def test_what_nccl_prints_of_its_channels_is_left_out_before_anything_else(tmp_path):
    path = tmp_path / "log"
    network = "gpu1:4:5 [0] NCCL INFO Using network HARP\n"
    steps = flood("step", 1000)
    path.write_text(network + flood("NCCL INFO Channel 00 : 1[0] -> 2[0] via NET/Socket/0", 5000) + steps)
    marker, text = read_shortened(str(path), 100_000).split(" ...]\n")
    assert text == network + steps and "whole in" in marker
    assert network in read_shortened(str(path), 1_000_000)


def test_bytes_that_are_no_text_are_replaced(job):
    assert job("printf", "a\\377b")["stdout"] == "a\ufffdb"


def test_check_mode_runs_and_writes_nothing(job, tmp_path):
    result = job("touch", str(tmp_path / "made"), check=True)
    assert result["changed"] is True and "rc" not in result
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "options", "said"),
    [
        (["/no/such/mpirun"], {}, "Can't run /no/such/mpirun: No such file or directory."),
        (["/etc"], {}, "Can't run /etc: Permission denied."),
        (["true"], {"chdir": "/no/such"}, "The folder /no/such to run true in does not exist."),
        (["true"], {"timeout": 0}, "timeout is 0; it must be 1 or more."),
        ([], {}, "argv is empty"),
        (["true"], {"log_path": "/proc/none/x.log"}, "/proc/none/x.log: "),
    ],
)
def test_what_cant_be_run_says_why(job, argv, options, said):
    result = job(*argv, **options)
    assert result["failed"] is True and said in result["msg"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_when_the_module_is_told_to_end_so_is_the_command(tmp_path, number):
    log = tmp_path / "job.log"
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from ansible_collections.taco.train.plugins.module_utils._process.supervised import Stopped, run\n"
        "try:\n"
        "    run([sys.executable, '-c', sys.argv[3]], 60, 0.5, open(sys.argv[2], 'wb'))\n"
        "except Stopped as error:\n"
        "    print('stopped by', error)\n"
    )
    command = [sys.executable, "-c", program, str(ROOT / "collections"), str(log), STUBBORN]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    end = time.monotonic() + 10
    while not (log.exists() and log.read_text().endswith("\n")):
        assert time.monotonic() < end
        time.sleep(0.05)
    child = log.read_text().split()[1]
    process.send_signal(number)
    assert process.communicate(timeout=20)[0].decode() == f"stopped by signal {int(number)}\n"
    assert gone(child)


@pytest.mark.parametrize("name", pythons())
def test_it_runs_on(name, tmp_path):
    runs = [
        (20, ["sh", "-c", "echo $A; exit 2"]),
        (0.5, ["sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.1; done"]),
    ]
    command = [pythons()[name], "-c", SCRIPT, str(ROOT / "collections"), str(tmp_path / "log"), json.dumps(runs)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    well, late = [json.loads(line) for line in done.stdout.splitlines()]
    assert (well["rc"], well["stdout"], well["timed_out"]) == (2, "b\n", False)
    assert late["timed_out"] is True and late["rc"] == -9 and gone(late["stdout"].strip())


MODULE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from ansible_collections.taco.train.plugins.module_utils._process.supervised import Stopped, run
print("begun", flush=True)
try:
    with open(sys.argv[2], "wb") as log:
        run(["sh", "-c", "echo $$; exec sleep 60"], 60, 1, log, None, {}, ["touch", sys.argv[3]])
except Stopped as stopped:
    with open(sys.argv[3], "a") as note:
        note.write(str(stopped))
"""


def test_when_the_reader_is_gone_the_command_is_ended_also_where_signals_dont_reach(tmp_path):
    log, note = tmp_path / "log", tmp_path / "note"
    process = subprocess.Popen(
        [sys.executable, "-c", MODULE, str(ROOT / "collections"), str(log), str(note)], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"begun\n"
    end = time.monotonic() + 10
    while not (log.exists() and log.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    process.stdout.close()
    process.wait(timeout=15)
    assert gone(int(log.read_text()))
    assert note.read_text() == "the end of its connection"


def test_a_command_that_runs_too_long_is_ended_elsewhere_first(run, tmp_path):
    note = tmp_path / "ended"
    result = run(
        command_job.main, argv=["sleep", "60"], timeout=1, log_path=str(tmp_path / "log"), end_argv=["touch", str(note)]
    )
    assert result["timed_out"] is True and note.exists()


def test_a_command_that_ends_by_itself_is_not_ended_elsewhere(run, tmp_path):
    note = tmp_path / "ended"
    run(command_job.main, argv=["true"], timeout=5, log_path=str(tmp_path / "log"), end_argv=["touch", str(note)])
    assert not note.exists()
