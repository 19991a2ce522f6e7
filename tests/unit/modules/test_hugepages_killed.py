# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""hugepages killed at any step: run again, or not, and restored, the host has every file and folder that it had, and no other."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from killed_steps import killed_before, tree

from ansible_collections.taco.train.plugins.module_utils._boot import config as _boot_config
from ansible_collections.taco.train.plugins.module_utils._files import atomic, history
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.modules import hugepages

STATE = "var/lib/taco-train"
STEPS = [
    (atomic, "sync_folder"),
    (_boot_config.BootConfig, "generate"),
    (history.History, "note"),
    (history.History, "put_back"),
]
UPDATE_GRUB = """#!/bin/sh
root=${0%/usr/sbin/*}
GRUB_CMDLINE_LINUX=
. "$root/etc/default/grub"
for file in "$root"/etc/default/grub.d/*.cfg; do [ ! -e "$file" ] || . "$file"; done
printf 'menuentry a {\\n\\tlinux /boot/vmlinuz root=/dev/vda1 ro %s\\n}\\n' "$GRUB_CMDLINE_LINUX" > "$root/boot/grub/grub.cfg.new"
mv "$root/boot/grub/grub.cfg.new" "$root/boot/grub/grub.cfg"
"""


@pytest.fixture(params=[True, False], ids=["drop-ins", "no folder for drop-ins"])
def host(request, tmp_path):
    root = tmp_path / "root"
    texts = {
        "etc/default/grub": 'GRUB_CMDLINE_LINUX="net.ifnames=0"\n',
        "proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz root=/dev/vda1 ro net.ifnames=0\n",
        "proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\nHugepagesize: 2048 kB\n",
        "proc/cpuinfo": "processor: 0\nflags\t\t: fpu pse pdpe1gb\n",
        "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
        "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages": "0\n",
        "usr/sbin/update-grub": UPDATE_GRUB,
        "boot/grub/grub.cfg": "menuentry a {\n\tlinux /boot/vmlinuz root=/dev/vda1 ro net.ifnames=0\n}\n",
    }
    if request.param:
        texts["etc/default/grub.d/50-cloud.cfg"] = "# nothing\n"
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "usr/sbin/update-grub").chmod(0o755)
    (root / "etc/default/grub").chmod(0o640)
    return root


@pytest.fixture
def act(run, host):
    def act(state, **options):
        done = run(hugepages.main, sysroot=str(host), state=state, **options)
        assert not done.get("failed"), done

    return act


def roll_back(host, act):
    act("restored")
    CreatedFolders("/" + STATE, str(host)).remove()


@pytest.mark.parametrize("again", [True, False], ids=["run again", "restored at once"])
def test_killed_at_any_step_nothing_of_it_stays(host, act, monkeypatch, again):
    before = tree(host)
    number, reached = -1, True
    while reached:
        number += 2
        reached = killed_before(number, lambda: act("present", count=4), monkeypatch, STEPS)
        if again:
            act("present", count=4)
        roll_back(host, act)
        assert tree(host) == before, number
    assert number > 20


def test_killed_at_any_step_of_the_way_back(host, act, monkeypatch):
    before = tree(host)
    number, reached = -1, True
    while reached:
        number += 2
        act("present", count=4)
        reached = killed_before(number, lambda: roll_back(host, act), monkeypatch, STEPS)
        roll_back(host, act)
        assert tree(host) == before, number
    assert number > 10


def test_a_generator_that_goes_on_after_its_module_was_killed_writes_over_nothing(host, act):
    before = tree(host)
    program, config = host / "usr/sbin/update-grub", host / "boot/grub/grub.cfg"
    install = 'mv "$root/boot/grub/grub.cfg.new" "$root/boot/grub/grub.cfg"'
    slow = host.parent / "slow"
    slow.write_text(UPDATE_GRUB.replace(install, f"sleep 2; cat {config}.new > {config}; rm {config}.new"))
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
    roll_back(host, act)
    time.sleep(2.5)
    assert tree(host) == before and "menuentry" in config.read_text()
