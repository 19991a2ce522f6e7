# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file system of /boot is full, fills up while the entries are generated, or the run is killed there; or nobody may
change its files: a real, small tmpfs."""

import contextlib
import json
import os
import subprocess

import pytest
from boot_host import FakeModule
from killed_steps import Killed, killed_before

from ansible_collections.taco.train.plugins.module_utils._boot import guard as _boot_guard
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._files.history import History
from ansible_collections.taco.train.plugins.modules import hugepages

ONLY_THERE = "rd.lvm.lv=vg/root"
PADDING = "".join(f"# {number:06} of the entries\n" for number in range(800))  # five blocks
COPIES = "var/lib/taco-train/hugepages-change"

# Both write beside grub.cfg first. What follows is the moment at which others fill the file system, by the name of the file "fill".
GENERATE = """#!/bin/bash
root=$(cd "$(dirname "$0")/../.." && pwd); config=$root/boot/{folder}/grub.cfg
[ "$1" != -o ] || config=$root$2
boot=$(dirname "$config")
[ ! -e "$root/fill-before" ] || "$root/fill" $(cat "$root/fill-before")
for file in "$root"/etc/default/grub "$root"/etc/default/grub.d/*.cfg; do [ ! -e "$file" ] || . "$file"; done
entries() {{ cat "$root/padding"
  printf "menuentry 'One' {{\\n\\tlinux16 /vmlinuz-3.10 root=/dev/vda1 ro %s\\n}}\\n" "$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT"; }}
entries > $boot/grub.cfg.new || exit 1
{install} || failed=1
[ ! -e "$root/fill-after" ] || {{ rm -f $boot/grub.cfg.new; "$root/fill" $(cat "$root/fill-after"); }}
exit ${{failed:-0}}
"""
FILL = """#!/bin/bash
# Leave that many KiB free.
cd "$(dirname "$0")/boot/{folder}" && cat /dev/zero > filler 2> /dev/null
size=$(stat -c %s filler); truncate -s $((size > $1 * 1024 ? size - $1 * 1024 : 0)) filler
"""
LAYOUTS = {
    "grub-d": ("update-grub", "grub", "cat $boot/grub.cfg.new > $boot/grub.cfg && rm $boot/grub.cfg.new"),
    "grub-default": ("grub2-mkconfig", "grub2", "mv $boot/grub.cfg.new $boot/grub.cfg"),
}


class Host:
    """A host below a folder whose /boot is a file system of its own."""

    def __init__(self, root, layout):
        program, folder, install = LAYOUTS[layout]
        self.root, self.boot = root, root / "boot" / folder
        self.config, self.layout = self.boot / "grub.cfg", layout
        texts = {
            "etc/default/grub": 'GRUB_CMDLINE_LINUX="net.ifnames=0"\n',
            "proc/cmdline": "BOOT_IMAGE=/vmlinuz-3.10 ro net.ifnames=0\n",
            "proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\nHugepagesize: 2048 kB\n",
            "proc/cpuinfo": "processor: 0\nflags\t\t: fpu pse pdpe1gb\n",
            f"usr/sbin/{program}": GENERATE.format(folder=folder, install=install),
            "fill": FILL.format(folder=folder),
            "padding": PADDING,
        }
        for name, text in texts.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for path in (root / f"usr/sbin/{program}", root / "fill"):
            path.chmod(0o755)
        self.program = root / f"usr/sbin/{program}"
        self.boot.mkdir(parents=True)

    def generate(self, only_there=""):
        subprocess.run([str(self.program)], check=True)
        self.config.write_text(self.config.read_text().replace(" ro ", f" ro {only_there} ".replace("  ", " ")))

    def generate_too_short(self):
        """Make a generator that is right as long as it writes elsewhere."""
        short = f"entries() {{ [ $boot != $root/boot/{self.boot.name} ] || {{ echo too short; return; }}; "
        self.program.write_text(self.program.read_text().replace("entries() {", short, 1))

    def fill(self, kib):
        subprocess.run([str(self.root / "fill"), str(kib)], check=True)

    def make_room(self):
        for path in (self.boot / "filler", self.root / "fill-before", self.root / "fill-after"):
            if path.exists():
                path.unlink()

    def tree(self):
        """Return content, mode and time of every boot file."""
        found = {}
        for folder in (self.boot, self.root / "etc"):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.name != "filler":
                    found[str(path)] = (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        return found


@pytest.fixture(params=sorted(LAYOUTS))
def host(request, tmp_path):
    made = Host(tmp_path / "root", request.param)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(made.boot)], check=True)
    try:
        yield made
    finally:
        subprocess.run(["umount", "-l", str(made.boot)], check=True)


@pytest.fixture
def pages(run, host):
    return lambda check=False, **options: run(hugepages.main, check=check, sysroot=str(host.root), **options)


def test_whatever_room_there_is_the_entries_are_those_of_before_or_those_wanted(pages, host):
    host.generate()
    (host.root / "etc/default/grub").chmod(0o640)
    before = host.tree()
    outcomes = set()
    for kib in [*range(0, 64, 8), 96, 128]:
        host.fill(kib)
        done = pages(count=4)
        outcomes.add(done.get("failed", False))
        if done.get("failed"):
            assert host.tree() == before, kib
            assert "are needed" in done["msg"] and not (host.root / COPIES).exists()
        else:
            assert "hugepages=4" in host.config.read_text()
            host.make_room()
            assert pages(state="restored")["changed"]
        host.make_room()
    assert outcomes == {True, False}


@pytest.mark.parametrize("kib", [0, 12, 16])
def test_the_entries_survive_a_file_system_that_fills_up_while_they_are_generated(pages, host, kib):
    host.generate()
    before = host.tree()
    (host.root / "fill-before").write_text(str(kib))
    refused = pages(count=4)
    assert refused["failed"] and "as they were" in refused["msg"], refused
    assert host.tree() == before
    host.make_room()
    assert pages(count=4)["changed"] and "hugepages=4" in host.config.read_text()


def test_arguments_of_the_entries_alone_are_never_dropped(pages, host):
    host.generate(ONLY_THERE)
    before = host.tree()
    for check in (True, False):
        refused = pages(check=check, count=4)
        assert refused["failed"] and f"drops {ONLY_THERE} of /vmlinuz-3.10" in refused["msg"]
        assert "nothing was written" in refused["msg"] and host.tree() == before


@pytest.mark.parametrize("kib", [0, 12, 16, 24])
def test_what_cannot_be_undone_is_named_with_its_copy_and_the_next_run_begins_by_restoring_it(pages, host, kib):
    host.generate()
    before = host.tree()
    host.generate_too_short()
    if host.layout == "grub-default":
        host.program.write_text(
            host.program.read_text().replace("exit ${failed", "rm -f $root/boot/grub2/grub.cfg; exit ${failed")
        )
        host.program.write_text(
            host.program.read_text().replace("failed=1\n", "failed=1\nrm -f $root/boot/grub2/grub.cfg\n")
        )
    (host.root / "fill-after").write_text(str(kib))
    refused = pages(count=4)
    copy = next((path for path in (host.root / COPIES).glob("[0-9]*") if "menuentry" in path.read_text()), None)
    if copy is None:
        assert kib >= 16 and refused["failed"] and "as they were" in refused["msg"] and host.tree() == before
        return
    named = "/" + str(host.config.relative_to(host.root))
    assert refused["failed"] and f"{named} is damaged" in refused["msg"] and str(copy) in refused["msg"]
    assert "/etc/default" not in refused["msg"].split("could not be undone")[1].split("; its content")[0]
    others = {path: what for path, what in host.tree().items() if path != str(host.config)}
    assert others == {path: what for path, what in before.items() if path != str(host.config)}
    predicted = pages(check=True, count=4)
    assert predicted.get("changed") or predicted.get("failed")
    assert copy.exists()
    host.make_room()
    refused = pages(count=4)
    assert refused["failed"] and "as they were" in refused["msg"]
    assert host.tree() == before and not (host.root / COPIES).exists()


def test_a_restored_file_may_take_the_last_bytes_of_its_file_system(host):
    name, past = "/" + str(host.config.relative_to(host.root)), History(str(host.root / "state"), str(host.root))
    host.config.write_text(PADDING)
    past.note(name, b"changed", [])
    host.config.write_text("changed")
    host.fill(28)
    past.put_back(name)
    assert host.config.read_text() == PADDING


def test_a_copy_that_is_damaged_itself_is_not_used(pages, host):
    host.generate()
    with cut_off(host):
        pass
    marker = json.loads((host.root / COPIES / "marker.json").read_text())
    for path, entry in marker["files"].items():
        if path.endswith("grub.cfg"):
            (host.root / COPIES / entry["copy"]).write_text("short")
    refused = pages(count=4)
    assert refused["failed"] and "is damaged too" in refused["msg"] and "cut off" in refused["msg"]


@contextlib.contextmanager
def cut_off(host):
    """Kill a run while the generator has grub.cfg half written."""
    module = FakeModule(host.root, state="present", count=4)

    run_command = module.run_command

    def half(argv, handle_exceptions=True, pass_fds=None):
        if "unshare" in argv:
            return run_command(argv)
        host.config.write_bytes(host.config.read_bytes()[:7000])
        raise Killed()

    module.run_command = half
    with pytest.raises(Killed):
        hugepages.run(module)
    yield


@pytest.mark.parametrize("then", [{"count": 4}, {"state": "absent"}, {"state": "restored"}])
def test_a_run_that_was_killed_while_generating_is_recognised(pages, host, then):
    host.generate()
    before = host.tree()
    with cut_off(host):
        predicted = pages(check=True, **then)
        assert predicted.get("failed") or (predicted["changed"] and predicted["warnings"])
        assert pages(**then)["changed"]
        if "count" in then:
            assert "hugepages=4" in host.config.read_text() and pages(state="restored")["changed"]
        assert host.tree() == before


def test_the_copy_of_before_does_not_replace_entries_of_a_kernel_that_was_installed_since(pages, host):
    host.generate()
    with cut_off(host):
        host.config.write_text(
            host.config.read_text() + "menuentry 'New' {\n\tlinux /vmlinuz-4.0 ro net.ifnames=0\n}\n"
        )
    left = host.config.read_bytes()
    refused = pages(count=4)
    assert refused["failed"] and "starts /vmlinuz-4.0" in refused["msg"] and COPIES in refused["msg"]
    assert host.config.read_bytes() == left


def test_an_edit_since_a_killed_run_stays(pages, host):
    host.generate()
    with cut_off(host):
        grub = host.root / "etc/default/grub"
        grub.write_text('GRUB_CMDLINE_LINUX="net.ifnames=0 quiet"\n')
    refused = pages(count=4)
    assert refused["failed"] and "adds quiet of /vmlinuz-3.10" in refused["msg"] and "quiet" in grub.read_text()
    host.generate()
    assert pages(count=4)["changed"] and "quiet" in host.config.read_text()


def test_killed_at_any_step_of_an_undo_the_next_run_restores_the_rest(host, monkeypatch):
    host.generate()
    before = {path: what[:2] for path, what in host.tree().items()}
    host.generate_too_short()

    def refused():
        with pytest.raises(HugepagesError, match="came out wrong"):
            hugepages.run(FakeModule(host.root, state="present", count=4))

    number, reached = 0, True
    while reached:
        number += 1
        reached = killed_before(number, refused, monkeypatch)
        refused()
        assert {path: what[:2] for path, what in host.tree().items()} == before, number
        assert not (host.root / COPIES).exists()
    assert number > 20


def test_a_read_only_boot_is_left_as_it_is_and_the_next_run_goes_on(pages, host):
    host.generate()
    before = host.tree()
    for _run in range(2):
        subprocess.run(["mount", "-o", "remount,ro", str(host.boot)], check=True)
        try:
            refused = pages(count=4)
        finally:
            subprocess.run(["mount", "-o", "remount,rw", str(host.boot)], check=True)
        assert refused["failed"] and "Read-only file system" in refused["msg"], refused
        assert "as they were" in refused["msg"] and "damaged" not in refused["msg"]
        assert host.tree() == before and not (host.root / COPIES).exists()
    assert pages(count=4)["changed"] and "hugepages=4" in host.config.read_text()


@pytest.mark.parametrize("change", [False, True])
def test_undo_touches_no_file_that_did_not_change(tmp_path, monkeypatch, change):
    """As with chattr +i, which not every file system has: the times of an immutable file can't be set either."""
    path = tmp_path / "etc/grub"
    path.parent.mkdir()
    path.write_text("before")
    guard = _boot_guard.Guard(str(tmp_path / "copies"), str(tmp_path))
    guard.begin({"/etc/grub": b"after", "/etc/new": b"new"}, [], [])
    if change:
        path.write_text("after")
        os.utime(str(path), (1, 1))

    def refused(*_arguments, **_options):
        raise PermissionError(1, "Operation not permitted")

    for name in ("utime", "chmod"):
        monkeypatch.setattr(os, name, refused)
    for name in ("replace_file", "remove_file"):
        monkeypatch.setattr(_boot_guard, name, refused)
    assert [problem.split(" ")[0] for problem in guard.undo()] == (["/etc/grub"] if change else [])
