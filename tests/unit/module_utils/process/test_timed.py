# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands may be missing, fail and hang."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.module_utils._harp.script import run_script
from ansible_collections.taco.train.plugins.module_utils._process import supervised, timed
from ansible_collections.taco.train.plugins.module_utils._process.supervised import end_elsewhere
from ansible_collections.taco.train.plugins.module_utils._process.timed import run_timed

# Starts a process in another session, which a kill of the command's group doesn't reach, holds its pipes and ignores signals.
HOLDER = """
import os, signal, subprocess, sys, time
ignoring = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", ignoring], start_new_session=True)
with open(sys.argv[1], "w") as file:
    file.write(str(child.pid))
print("begun", flush=True)
time.sleep(float(sys.argv[2]))
"""


def test_output_and_status_are_returned():
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run_timed([sys.executable, "-c", script], 30)
    assert (done.status, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_a_missing_command_is_no_error():
    done = run_timed(["no-such-command-here"], 30)
    assert (done.status, done.stdout, done.stderr) == (None, "", "no-such-command-here is not installed")
    assert done.missing


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    marker = tmp_path / "child"
    script = f"sleep 60 & echo $! > {marker}; wait"
    started = time.monotonic()
    done = run_timed(["sh", "-c", script], 1)
    assert done.status is None and not done.missing and "took longer than 1 s" in done.stderr
    assert time.monotonic() - started < 20
    status = Path(f"/proc/{int(marker.read_text())}/status")
    deadline = time.monotonic() + 10
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < deadline, "the child is still running"
        time.sleep(0.05)


def test_messages_are_not_translated_and_bytes_may_be_anything():
    assert run_timed(["sh", "-c", "echo $LC_ALL"], 30).stdout == "C\n"
    assert run_timed(["printf", "\\377"], 30).stdout == "\ufffd"


def test_a_command_is_given_its_input_and_its_folder(tmp_path):
    data = b"x" * 200_000
    assert run_timed(["sh", "-c", "pwd; wc -c"], 30, data, str(tmp_path)).stdout.split() == [str(tmp_path), "200000"]
    # Without input it finds the end of it at once.
    assert run_timed(["cat"], 30).stdout == ""


@pytest.fixture
def holder(tmp_path):
    """A command that runs HOLDER for some seconds. The process that it started is ended after the test."""
    marker = tmp_path / "holder"
    yield lambda seconds: [sys.executable, "-c", HOLDER, str(marker), str(seconds)]
    os.kill(int(marker.read_text()), signal.SIGKILL)


def test_a_process_in_another_session_that_holds_the_pipes_does_not_outlast_the_limit(holder):
    started = time.monotonic()
    done = run_timed(holder(60), 2)
    assert done.status is None and done.timed_out and "took longer than 2 s" in done.stderr
    assert time.monotonic() - started < 20


def test_a_command_that_ended_counts_although_its_pipes_stay_open(holder):
    started = time.monotonic()
    done = run_timed(holder(0), 30)
    assert (done.status, done.stdout, done.timed_out) == (0, "begun\n", False)
    assert time.monotonic() - started < 15


RUNS = {
    "a command": lambda argv, log: run_timed(argv, 1),
    "a script": lambda argv, log: run_script(argv, {}, 1, log, log + ".running"),
    "the end of a job elsewhere": lambda argv, log: end_elsewhere(argv),
}


@pytest.mark.parametrize("what", RUNS)
def test_a_command_that_a_kill_does_not_end_is_left_behind(monkeypatch, tmp_path, what):
    """As one that sleeps uninterruptibly in a driver: here nobody kills it."""
    left = []
    monkeypatch.setattr(os, "killpg", lambda group, number: left.append(group))
    monkeypatch.setattr("subprocess.Popen.send_signal", lambda process, number: left.append(process.pid))
    monkeypatch.setattr(timed.kill_group, "__defaults__", (0.5,))
    monkeypatch.setattr(supervised, "KILLED_SECONDS", 0.5)
    monkeypatch.setattr(supervised, "END_SECONDS", 1)
    started = time.monotonic()
    RUNS[what](["sleep", "25"], str(tmp_path / "log"))
    assert time.monotonic() - started < 15
    monkeypatch.undo()
    assert left
    os.killpg(left[0], signal.SIGKILL)


def test_more_output_than_a_pipe_holds_arrives_whole():
    script = "import sys; sys.stdout.write('x' * 1000000); sys.stderr.write('y' * 1000000)"
    done = run_timed([sys.executable, "-c", script], 60)
    assert (done.status, len(done.stdout), len(done.stderr)) == (0, 1000000, 1000000)


def test_a_command_that_does_not_read_its_input_is_no_error():
    assert run_timed(["true"], 30, b"x" * 1000000).status == 0
