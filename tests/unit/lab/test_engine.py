# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the lab's own engine is found again, ended and cleaned up after."""

import os
import signal
import subprocess
import sys

import engine
import pytest
from shell import LabError


@pytest.fixture
def sleeper():
    """Return a process that ends only when it is killed, and says when it is ready to be asked to."""
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.communicate()


def test_what_ignores_a_signal_is_reported_and_what_is_killed_is_gone(sleeper):
    assert engine.running(sleeper.pid)
    assert engine.end([sleeper.pid], signal.SIGTERM, 0.3) == [sleeper.pid]
    # Killed but not collected by its parent, it is still listed; that counts as gone.
    assert engine.end([sleeper.pid], signal.SIGKILL, 5) == []
    assert os.path.exists(f"/proc/{sleeper.pid}")
    assert not engine.running(sleeper.pid)


def test_the_id_of_a_dead_process_is_forgotten_and_that_of_a_living_one_kept(tmp_path, sleeper):
    pidfile = tmp_path / "pid"
    engine.forget_dead(pidfile)
    pidfile.write_text(f"{sleeper.pid}\n")
    engine.forget_dead(pidfile)
    assert pidfile.exists()
    sleeper.kill()
    engine.end([sleeper.pid], signal.SIGKILL, 5)
    engine.forget_dead(pidfile)
    assert not pidfile.exists()


@pytest.mark.parametrize("text", ["", "no number", "1"])
def test_only_a_process_that_was_started_as_the_engine_counts(monkeypatch, tmp_path, text):
    monkeypatch.setattr(engine, "PIDFILE", tmp_path / "pid")
    assert engine.process() is None
    engine.PIDFILE.write_text(text)
    assert engine.process() is None


def test_groups_and_links_to_them_are_removed_deepest_first(tmp_path):
    (tmp_path / "docker/a/b").mkdir(parents=True)
    (tmp_path / "cpu").symlink_to("docker")
    engine.remove_group(tmp_path / "cpu")
    engine.remove_group(tmp_path / "docker")
    assert list(tmp_path.iterdir()) == []


def test_a_group_that_is_in_use_is_named(tmp_path):
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker/file").write_text("")
    with pytest.raises(LabError, match="docker: this control group"):
        engine.remove_group(tmp_path / "docker")


def test_a_path_too_long_for_sockets_is_refused_before_anything_is_started(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "FOLDER", tmp_path / ("x" * 100))
    with pytest.raises(LabError, match="too long"):
        engine.start()
    assert list(tmp_path.iterdir()) == []


def test_nobody_but_root_gets_an_engine_of_the_labs_own(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "FOLDER", tmp_path / "absent")
    monkeypatch.setattr(engine.machine, "require", lambda programs: None)
    monkeypatch.setattr(engine, "succeeds", lambda command: False)
    monkeypatch.setattr(engine.os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="usermod -aG docker"):
        engine.get()
