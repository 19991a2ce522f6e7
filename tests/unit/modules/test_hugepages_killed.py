# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""hugepages killed at any step: run again, or not, and restored, the host has every file and folder that it had, and no other."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from boot_host import UPDATE_GRUB, FakeModule, entries
from killed_steps import killed_before, tree

from ansible_collections.taco.train.plugins.module_utils._boot import config as _boot_config
from ansible_collections.taco.train.plugins.module_utils._files import atomic, journal
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import remove
from ansible_collections.taco.train.plugins.modules import hugepages

STEPS = [
    (atomic, "sync_folder"),
    (_boot_config.BootConfig, "generate"),
    (journal.Journal, "begin"),
    (journal.Journal, "commit"),
    (journal.Journal, "put_back"),
]


@pytest.fixture
def any_host(request, host):
    if request.param == "EL7":
        return request.getfixturevalue("el7")
    if request.param != "drop-ins":
        shutil.rmtree(str(host / "etc/default/grub.d"))
        subprocess.run([str(host / "usr/sbin/update-grub")], check=True)
    return host


def act(host, count=None, state="present"):
    return hugepages.run(FakeModule(host, state=state, count=count))


def roll_back(host):
    done = act(host, state="restored")
    remove(CreatedFolders("/var/lib/taco-train", str(host)))
    return done


ACTIONS = {
    "present": lambda host: act(host, 4),
    "change": lambda host: act(host, 6),
    "absent": lambda host: act(host, state="absent"),
    "restored": roll_back,
}


# The folder for drop-ins is made once and removed in the end.
CASES = [
    ("drop-ins", "change"),
    ("no folder for drop-ins", "present"),
    ("no folder for drop-ins", "absent"),
    ("no folder for drop-ins", "restored"),
    ("EL7", "absent"),
]


@pytest.mark.parametrize(("any_host", "action"), CASES, indirect=["any_host"])
def test_killed_at_any_step_the_host_boots_old_or_new_and_nothing_of_it_stays(any_host, monkeypatch, action):
    host, before = any_host, tree(any_host)
    number, reached, lines = -1, True, []
    while reached:
        number += 2
        if action != "present":
            act(host, 4)
        old = entries(host)
        reached = killed_before(number, lambda: ACTIONS[action](host), monkeypatch, STEPS)
        lines.append(entries(host))
        # Every other time the module is run again; else the host is restored at once.
        if number % 4 == 1 or not reached:
            ACTIONS[action](host)
            new = entries(host)
            assert not ACTIONS[action](host)["changed"]
        roll_back(host)
        assert tree(host) == before, number
    assert number > 10 and new != old and all(line in (old, new) for line in lines)


def test_a_generator_that_goes_on_after_its_module_was_killed_writes_over_nothing(host):
    before = tree(host)
    program, config = host / "usr/sbin/update-grub", host / "boot/grub/grub.cfg"
    install = 'mv "$root$config.new" "$root$config"'
    slow = host.parent / "slow"
    slow.write_text(UPDATE_GRUB.replace(install, "sleep 1; " + install.replace("mv", "cp") + '; rm "$root$config.new"'))
    slow.chmod(0o755)
    fast = host.parent / "fast"
    program.rename(fast)
    slow.rename(program)
    arguments = {"ANSIBLE_MODULE_ARGS": {"sysroot": str(host), "count": 4}}
    process = subprocess.Popen(
        [sys.executable, "-m", hugepages.__name__, json.dumps(arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path)),
    )
    deadline = time.monotonic() + 30
    while not (config.parent / "grub.cfg.new").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    fast.rename(program)
    roll_back(host)
    time.sleep(1.2)
    assert tree(host) == before and "menuentry" in config.read_text()
