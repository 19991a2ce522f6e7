# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sampling process: it outlives its module, leaves its last sample, and ends when it is told to, whatever was before."""

import errno
import json
import time

import pytest

from ansible_collections.taco.train.plugins.module_utils._process import sampler


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for name in ("FIRST_SECONDS", "SECONDS", "POLL_SECONDS"):
        monkeypatch.setattr(sampler, name, 0.02)


def counting():
    state = {"count": 0}

    def sample():
        state["count"] += 1
        return dict(state)

    return sample


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def content(folder):
    return json.loads((folder / sampler.FILE).read_text())


def test_samples_are_taken_until_the_end(tmp_path):
    sampler.start(str(tmp_path / "counters"), counting(), 60)
    until(lambda: content(tmp_path / "counters").get("count", 0) > 2)
    assert sampler.stop(str(tmp_path / "counters"))["count"] > 2
    time.sleep(0.2)
    assert list((tmp_path / "counters").iterdir()) == []
    assert sampler.stop(str(tmp_path / "counters")) == {}


def test_a_short_run_has_several_samples_and_a_long_one_few(monkeypatch):
    monkeypatch.undo()
    times, seconds = [], 0.0
    while seconds < 60:
        seconds += sampler.pause_after(seconds)
        times.append(seconds)
    assert sum(5 < time < 9 for time in times) >= 3 and len(times) <= 24
    assert times[0] == 1 and times[-1] - times[-2] == 5


def test_a_new_process_ends_the_one_before(tmp_path):
    sampler.start(str(tmp_path), lambda: {"name": "old"}, 60)
    sampler.start(str(tmp_path), lambda: {"name": "new"}, 60)
    until(lambda: content(tmp_path).get("name") == "new")
    time.sleep(0.2)
    assert sampler.stop(str(tmp_path)) == {"name": "new"}


def test_its_time_ends_it_and_the_last_sample_stays(tmp_path):
    sampler.start(str(tmp_path), counting(), 0.3)
    time.sleep(0.8)
    last = content(tmp_path)
    time.sleep(0.2)
    assert content(tmp_path) == last and sampler.stop(str(tmp_path))["count"] > 1


def test_the_end_of_the_run_ends_it_although_nobody_stops_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sampler, "IDLE_SECONDS", 0.1)
    active = tmp_path / "active"
    active.write_text("")
    run = sampler.Run(active.exists, 0.1)
    sampler.start(str(tmp_path), counting(), 60, run)
    until(lambda: content(tmp_path).get("count", 0) > 20)
    active.unlink()

    def has_ended():
        before = content(tmp_path)
        time.sleep(0.5)
        return content(tmp_path) == before

    until(has_ended)
    assert sampler.stop(str(tmp_path))["count"] > 20


def test_a_run_that_never_starts_ends_it(tmp_path):
    sampler.take(str(tmp_path / sampler.FILE), "x", counting(), time.monotonic() + 60, sampler.Run(lambda: False, 0.0))


def test_samples_of_an_earlier_run_are_gone_where_the_disk_is_full(tmp_path, monkeypatch):
    (tmp_path / sampler.FILE).write_text('{"token": "of a run that was killed", "count": 5}')

    def full(**_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sampler.tempfile, "mkstemp", full)
    with pytest.raises(OSError, match="No space left"):
        sampler.start(str(tmp_path), counting(), 60)
    assert sampler.stop(str(tmp_path)) == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '"a"', "null"])
def test_a_damaged_file_is_no_sample(tmp_path, text):
    (tmp_path / sampler.FILE).write_text(text)
    assert sampler.stop(str(tmp_path)) == {}
