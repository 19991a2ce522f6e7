# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands may be missing, fail and hang."""

import sys
import time
from pathlib import Path

from ansible_collections.taco.train.plugins.module_utils._timed_command import run_timed


def test_output_and_status_are_returned():
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run_timed([sys.executable, "-c", script], 30)
    assert (done.status, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_a_missing_command_is_no_error():
    done = run_timed(["no-such-command-here"], 30)
    assert (done.status, done.stdout, done.stderr) == (None, "", "no-such-command-here is not installed")


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    marker = tmp_path / "child"
    script = f"sleep 60 & echo $! > {marker}; wait"
    started = time.monotonic()
    done = run_timed(["sh", "-c", script], 1)
    assert done.status is None and "took longer than 1 s" in done.stderr
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
