# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make bench` in small: two hosts, once. Nothing but the count of executions is held to its target here.

Needs root. The first run on a machine builds the hosts' file system, which takes a minute or two.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from integration.paths import ROOT


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run the bench once and return the folder of its results and what it printed."""
    folder = tmp_path_factory.mktemp("bench")
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT / "labs/docker")])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "bench",
            "--hosts",
            "2",
            "--repeats",
            "1",
            "--targets",
            "executions",
            "--results",
            str(folder),
        ],
        cwd=str(ROOT),
        env=dict(os.environ, PYTHONPATH=path, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=600,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return folder, done.stdout


def test_every_way_was_measured_and_found_nothing_to_change(results):
    folder, printed = results
    record = json.loads((folder / "bench.json").read_text())
    assert [(one["hosts"], one["key"]) for one in record["figures"]] == [(2, key) for key in "abcde"]
    assert all(one["wall"] > 0 and one["cpu"] > 0 for one in record["figures"])
    # Raw ssh may be done before anybody has looked.
    assert all(one["memory"] > 0 for one in record["figures"] if one["key"] in "abc")
    assert record["setting"]["forks"] == 20
    assert (folder / "bench.md").read_text() in printed


def test_the_time_between_two_runs_of_a_comparison_was_measured(results):
    folder, _printed = results
    record = json.loads((folder / "bench.json").read_text())
    assert [one["hosts"] for one in record["between_runs"]] == [2]
    assert all(one["same"] > 0 and one["changing"] > 0 and one["executions"] == 0 for one in record["between_runs"])


def test_raw_ssh_made_as_many_round_trips(results):
    folder, _printed = results
    figures = json.loads((folder / "bench.json").read_text())["figures"]
    executions = {one["key"]: one["executions"] for one in figures}
    assert 0 < executions["a"] <= 6
    assert executions["d"] == executions["e"] == executions["a"]


def test_nothing_is_left(results):
    mounts = Path("/proc/mounts").read_text()
    assert "taco-bench-" not in mounts
    links = os.listdir("/sys/class/net")
    assert "bench0" not in links
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = Path("/proc", entry, "cmdline").read_bytes()
        except OSError:
            continue
        assert b"bench.engine" not in command
