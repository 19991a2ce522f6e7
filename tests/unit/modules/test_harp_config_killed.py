# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""harp_config killed at any step, on a host that lacks every folder: run again, or not, and restored, it leaves nothing."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from killed_steps import Killed, killed_before, tree

from ansible_collections.taco.train.plugins.module_utils._files import atomic, journal
from ansible_collections.taco.train.plugins.module_utils._harp import configuration, files
from ansible_collections.taco.train.plugins.modules import harp_config, host_folders

SETUP = """mkdir -p "$FOLDER"
for n in 0 1; do echo "new $n" > "$FOLDER/ztcp$n.conf"; %s done
echo setup successfully
"""
NODE = {
    "hostname": "node-0",
    "nics": [],
    "gpus": {"devices": []},
    "cpu": {"count": 2},
    "hugepages": {"default_size_bytes": 2097152, "pools": []},
}
STEPS = [(atomic, "sync_folder"), (journal.Journal, "commit"), (journal.Journal, "put_back")]


class Host:
    def __init__(self, root, run, there):
        self.root, self.run = root / "host", run
        self.config, self.state = self.root / "usr/local/tfabric/tools/config", self.root / "var/lib/taco-train"
        self.root.mkdir()
        self.script = root / "setup.sh"
        self.write(SETUP % "")
        if there:
            self.config.mkdir(parents=True)
            (self.config / "ztcp0.conf").write_text("old 0\n")
            (self.config / "ztcp0.conf").chmod(0o640)
            (self.config / "ztcp9.conf").write_text("somebody's\n")
        self.before = tree(self.root)

    def write(self, text):
        self.script.write_text(text)

    def options(self, **options):
        common = {
            "config_dir": str(self.config),
            "state_dir": str(self.state),
            "node": NODE,
            "enis": ["eth1", "eth2"],
            "script": str(self.script),
            "sha256": hashlib.sha256(self.script.read_bytes()).hexdigest(),
            "environment": {"FOLDER": str(self.config)},
        }
        return dict(common, **options)

    def configure(self, **options):
        done = self.run(harp_config.main, **self.options(**options))
        assert not done.get("failed"), done

    def roll_back(self):
        for check in (True, False):
            done = self.run(harp_config.main, check=check, state="absent", state_dir=str(self.state))
            assert not done.get("failed"), done
            done = self.run(host_folders.main, check=check, state="absent", state_dir=str(self.state))
            assert not done.get("failed"), done


BARE, BY_HAND = False, True


@pytest.fixture(params=[BARE, BY_HAND], ids=["bare", "configured by hand"])
def host(request, tmp_path, run):
    return Host(tmp_path, run, request.param)


WAYS = {
    "script": lambda host: host.configure(),
    "template": lambda host: host.configure(
        source="template",
        force=True,
        rendered=[{"dest": f"ztcp{number}.conf", "content": f"{number}\n"} for number in range(2)],
    ),
}


# A half of what there could be: each of the three meets each other one. Each way has half of its steps in either case.
CASES = [
    (BARE, "script", True, 1),
    (BY_HAND, "script", False, 2),
    (BARE, "template", False, 1),
    (BY_HAND, "template", True, 2),
]


@pytest.mark.parametrize(("host", "way", "again", "first"), CASES, indirect=["host"])
def test_killed_at_any_step_nothing_of_it_stays(host, monkeypatch, way, again, first):
    number, reached = first - 2, True
    while reached:
        number += 2
        reached = killed_before(number, lambda: WAYS[way](host), monkeypatch, STEPS)
        if again:
            WAYS[way](host)
        host.roll_back()
        assert tree(host.root) == host.before, number
    assert number > 20


@pytest.mark.parametrize(("host", "first"), [(BARE, 1), (BY_HAND, 2)], indirect=["host"])
def test_killed_at_any_step_of_the_way_back(host, monkeypatch, first):
    number, reached = first - 2, True
    while reached:
        number += 2
        host.configure()
        reached = killed_before(number, host.roll_back, monkeypatch, STEPS)
        host.roll_back()
        assert tree(host.root) == host.before, number
    assert number > 10


@pytest.mark.parametrize("again", [True, False], ids=["run again", "rolled back at once"])
def test_killed_while_the_script_is_half_done(host, monkeypatch, again):
    real = configuration.run_script

    def half(*args):
        real(*args)
        (host.config / "ztcp1.conf").unlink()
        raise Killed()

    with monkeypatch.context() as patch:
        patch.setattr(configuration, "run_script", half)
        # The process is gone: what Python would still do on the way out does not happen either.
        patch.setattr(journal.Journal, "commit", killed_if_begun)
        with pytest.raises(Killed):
            host.configure()
    if again:
        host.configure()
    host.roll_back()
    assert tree(host.root) == host.before


def killed_if_begun(journal):
    if journal.unfinished():
        raise Killed()


def kill_while_the_script_runs(host):
    """Kill the module, in a process of its own, when its script has written the first file. The script goes on."""
    arguments = {"ANSIBLE_MODULE_ARGS": host.options()}
    process = subprocess.Popen(
        [sys.executable, "-m", harp_config.__name__, json.dumps(arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path)),
    )
    deadline = time.monotonic() + 30
    while not (host.config / "ztcp0.conf").exists() or b"new" not in (host.config / "ztcp0.conf").read_bytes():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_the_process_is_killed_and_its_script_goes_on(host):
    host.write(SETUP % "sleep 0.6;")
    kill_while_the_script_runs(host)
    host.configure()
    host.roll_back()
    time.sleep(0.7)
    assert tree(host.root) == host.before


@pytest.mark.parametrize("host", [BARE], indirect=True)
def test_a_rollback_waits_for_the_script_of_a_killed_process(host, monkeypatch):
    host.write(SETUP % "sleep 1; echo late > $FOLDER/ztcp7.conf;")
    kill_while_the_script_runs(host)
    with monkeypatch.context() as patch:
        patch.setattr(files, "LOCK_SECONDS", 0)
        refused = host.run(harp_config.main, state="absent", state_dir=str(host.state))
    assert refused["failed"] and "still runs (pid " in refused["msg"], refused
    host.roll_back()
    time.sleep(0.5)
    assert tree(host.root) == host.before


def test_an_owner_or_mode_alone_is_restored_too(host):
    if not host.before:
        (host.config).mkdir(parents=True)
    (host.config / "ztcp9.conf").write_text("somebody's\n")
    (host.config / "ztcp9.conf").chmod(0o600)
    host.write(SETUP % 'chmod 666 "$FOLDER/ztcp9.conf";')
    before = tree(host.root)
    host.configure()
    assert tree(host.root) != before
    host.roll_back()
    assert tree(host.root) == before
