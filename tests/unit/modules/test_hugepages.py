# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module on a whole host below a folder: real files, a real update-grub of its own, kills at every step."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from boot_host import DROP_IN, LINE, tree

from ansible_collections.taco.train.plugins.module_utils._boot import change as _boot_change
from ansible_collections.taco.train.plugins.module_utils._boot import config as _boot_config
from ansible_collections.taco.train.plugins.module_utils._boot import reservation
from ansible_collections.taco.train.plugins.module_utils._boot.converged import converged
from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.options import OPTIONS
from ansible_collections.taco.train.plugins.module_utils._boot.running import reserve_now
from ansible_collections.taco.train.plugins.module_utils._files import atomic, history
from ansible_collections.taco.train.plugins.module_utils._observation.node import boot
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.modules import hugepages
from ansible_collections.taco.train.plugins.plugin_utils.convergence.hugepages import KNOWN


def entries(host):
    config = next(path for path in (host / "boot/grub2/grub.cfg", host / "boot/grub/grub.cfg") if path.exists())
    return [line.split(" ro ")[1] for line in config.read_text().splitlines() if line.startswith("\tlinux")]


def boot_files(host):
    return {path: what for path, what in tree(host).items() if "/etc/default" in path}


@pytest.mark.parametrize(
    "first, then",
    [({}, {"count": 4}), ({"count": 4}, {"count": 4}), ({"count": 4}, {"count": 6}), ({"count": 4}, {"state": "absent"}),
     ({"count": 4}, {"state": "restored"}), ({}, {"state": "absent"}), ({}, {"state": "restored"})],
)  # fmt: skip
def test_check_mode_predicts_and_writes_nothing(pages, host, first, then):
    if first:
        pages(**first)
    before = tree(host)
    predicted = pages(check=True, **then)
    assert tree(host) == before
    done = pages(**then)
    assert {key: done[key] for key in ("changed", "diff", "files", "kernel_args", "reboot_required")} == {
        key: predicted[key] for key in ("changed", "diff", "files", "kernel_args", "reboot_required")
    }
    tree_before = tree(host)
    assert not pages(**then)["changed"]
    assert tree(host) == tree_before


def test_pages_are_on_every_entry_once_and_the_answer_says_what_and_why(pages, host):
    done = pages(gpus=8)
    assert done["changed"] and done["reboot_required"] and done["count"] == 50
    assert done["layout"] == "grub-d" and done["files"] == ["/" + DROP_IN]
    assert done["kernel_args"]["before"] == ["net.ifnames=0", "console=ttyS0"]
    line = LINE.format(50)
    assert done["kernel_args"]["after"] == ["net.ifnames=0"] + line.split() + ["console=ttyS0"]
    assert entries(host) == [f"net.ifnames=0 {line} console=ttyS0", f"single net.ifnames=0 {line}"]
    assert line in done["diff"][0]["after"]


def test_a_host_that_runs_with_its_pages_needs_no_reboot(pages, host):
    pages(count=4)
    (host / "proc/cmdline").write_text("ro " + LINE.format(4))
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("4\n")
    assert not pages(count=4)["reboot_required"]
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("3\n")
    assert pages(count=4)["reboot_required"]


def test_restored_puts_back_bytes_mode_and_times_also_after_several_changes(pages, host):
    grub = host / "etc/default/grub"
    grub.write_text(grub.read_text().replace('"net', '"hugepagesz=1G hugepages=9 net'))
    os.utime(str(grub), (1600000000, 1600000000))
    subprocess.run([str(host / "usr/sbin/update-grub")], check=True)
    before, generated = boot_files(host), entries(host)
    pages(count=4)
    pages(count=6)
    assert boot_files(host) != before
    assert pages(state="restored")["changed"]
    assert boot_files(host) == before and entries(host) == generated
    assert not pages(state="restored")["changed"]


def test_restored_refuses_what_somebody_edited_since_and_force_does_not(pages, host):
    before = boot_files(host)
    pages(count=4)
    path = host / DROP_IN
    path.write_text(path.read_text() + "# mine\n")
    edited = tree(host)
    refused = pages(state="restored")
    assert (
        refused["failed"]
        and "/" + DROP_IN in refused["msg"]
        and "# mine" in refused["msg"]
        and "force" in refused["msg"]
    )
    assert tree(host) == edited
    assert pages(state="restored", force=True)["changed"]
    assert boot_files(host) == before


@pytest.mark.parametrize(
    "options, change, words",
    [
        ({"count": 52}, None, "hugepages_max_memory_fraction"),
        ({"gpus": 0}, None, "taco_gpus_per_node"),
        ({"count": -1}, None, "negative"),
        ({"count": 4}, ("proc/cpuinfo", "flags : pse\n"), "pdpe1gb"),
        ({"count": 4}, ("etc/default/grub", 'GRUB_CMDLINE_LINUX="a\n'), "not closed"),
        ({"count": 4}, ("etc/default/grub", 'GRUB_CMDLINE_LINUX="$(x) hugepagesz=1G hugepages=2"\n'), "by hand"),
        ({"count": 4}, ("var/lib/taco-train/hugepages/manifest.json", "{}"), "manifest.json"),
    ],
)
def test_what_would_not_boot_is_refused_before_anything_is_written(pages, host, options, change, words):
    if change:
        path = host / change[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change[1])
    before = tree(host)
    refused = pages(**options)
    assert refused["failed"] and words in refused["msg"]
    assert tree(host) == before


def test_an_unknown_layout_is_refused(pages, host):
    (host / "usr/sbin/update-grub").unlink()
    before = tree(host)
    refused = pages(count=4)
    assert refused["failed"] and "unknown" in refused["msg"] and "nothing was written" in refused["msg"]
    assert tree(host) == before


@pytest.mark.parametrize(
    "script, words",
    [("#!/bin/sh\necho no room >&2\nexit 3\n", "ended with 3: no room"), ("#!/bin/sh\nexit 0\n", "came out wrong")],
)
def test_a_generator_that_fails_or_lies_has_everything_undone(pages, host, script, words):
    before = boot_files(host)
    (host / "usr/sbin/update-grub").write_text(script)
    refused = pages(count=4)
    assert refused["failed"] and words in refused["msg"] and "as they were" in refused["msg"]
    assert {path: what[2] for path, what in boot_files(host).items() if isinstance(what, tuple)} == {
        path: what[2] for path, what in before.items() if isinstance(what, tuple)
    }


def test_entries_that_an_earlier_run_did_not_come_to_generate_are_generated(pages, host):
    pages(count=4, regenerate=False)
    assert not any("hugepages" in entry for entry in entries(host))
    assert pages(count=4)["changed"]
    assert all(LINE.format(4) in entry for entry in entries(host))


def test_a_second_run_at_the_same_time_is_refused(pages, host):
    with _boot_change.locked(str(host / "var/lib/taco-train")):
        refused = pages(count=4)
    assert refused["failed"] and "another run" in refused["msg"]


def test_pages_in_the_running_kernel_and_a_shortfall(pages, host):
    pool = host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
    pages(count=4, runtime=True)
    assert pool.read_text() == "4"
    pool.unlink()
    os.mkfifo(str(pool))  # a kernel that answers with less than it was asked for
    writer = subprocess.Popen(
        [sys.executable, "-c", f"open({str(pool)!r}).read(); open({str(pool)!r}, 'w').write('3')"]
    )
    with pytest.raises(HugepagesError, match="3 of 5 pages of 1G, 2 missing"):
        reserve_now(str(host), "1G", 5)
    writer.wait(10)


class Killed(BaseException):
    """Stands for a kill: nothing in the code may catch it and go on."""


# Every call by which the module changes anything on the host.
STEPS = [
    (os, "rename"), (os, "unlink"), (os, "mkdir"), (os, "makedirs"), (os, "fsync"), (os, "fchmod"), (os, "open"),
    (_boot_config.BootConfig, "generate"), (history.History, "note"), (atomic, "sync_folder"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["grub-d", "grub-default"])
@pytest.mark.parametrize("action", ["present", "change", "absent", "restored"])
def test_killed_at_any_step_the_host_boots_old_or_new_and_the_next_run_finishes(
    request, host, monkeypatch, action, kind
):
    if kind == "grub-default":
        request.getfixturevalue("el7")
    module = FakeModule(host, state="present", count=4)
    if action != "present":
        hugepages.run(module)
        module = FakeModule(host, state="present", count=6) if action == "change" else FakeModule(host, state=action)
    wanted = {"present": "hugepages=4", "change": "hugepages=6"}.get(action)
    old = entries(host)
    snapshot = Snapshot(host, "etc", "boot", "var")
    # Each layout has every other step: what the steps do is the same.
    for kill_at in range(1 if kind == "grub-d" else 2, 500, 2):
        snapshot.put_back()
        with monkeypatch.context() as patch:
            steps = count_steps(patch, kill_at)
            with contextlib.suppress(Killed):
                hugepages.run(module)
        if steps[0] < kill_at:
            break
        left = entries(host)
        hugepages.run(module)
        new = entries(host)
        assert left in (old, new), f"killed at step {kill_at}"
        assert all((wanted or "hugepages=") in entry if wanted else "hugepages=" not in entry for entry in new)
        assert not hugepages.run(module)["changed"]
    assert kill_at > 10


def count_steps(patch, kill_at):
    """Make the step number kill_at raise instead of happening; return a list with the number of steps so far."""
    done = [0]

    def counted(function):
        def step(*args, **kwargs):
            done[0] += 1
            if done[0] == kill_at:
                raise Killed()
            return function(*args, **kwargs)

        return step

    for owner, name in STEPS:
        patch.setattr(owner, name, counted(getattr(owner, name)))
    return done


class Snapshot:
    """The files of a host in some folders, to start each kill from the same ones."""

    def __init__(self, host, *folders):
        self.host, self.copies, self.folders = host, host.parent / "snapshot", folders
        for name in folders:
            if (host / name).exists():
                shutil.copytree(host / name, self.copies / name, symlinks=True)

    def put_back(self):
        for name in self.folders:
            shutil.rmtree(self.host / name, ignore_errors=True)
            if (self.copies / name).exists():
                shutil.copytree(self.copies / name, self.host / name, symlinks=True)


class FakeModule:
    """What run() needs of AnsibleModule, with commands that really run."""

    check_mode = False

    def __init__(self, host, **params):
        defaults = {
            "gpus": None, "count": None, "page_size": "1G", "max_memory_fraction": 0.8, "runtime": False, "regenerate": True,
            "force": False, "trial": False, "keep_other_sizes": True, "sysroot": str(host), "state_dir": "/var/lib/taco-train",
        }  # fmt: skip
        self.params = dict(defaults, **params)

    def run_command(self, argv, handle_exceptions=True, pass_fds=None):
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=pass_fds or ())
        return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_history_is_for_root_alone_and_names_every_file(pages, host):
    pages(count=4)
    manifest = host / "var/lib/taco-train/hugepages/manifest.json"
    assert oct(manifest.stat().st_mode & 0o777) == "0o600" and oct(manifest.parent.stat().st_mode & 0o777) == "0o700"
    assert list(json.loads(manifest.read_text())["files"]) == ["/" + DROP_IN]


def edit(host):
    path = host / "etc/default/grub"
    path.write_text(path.read_text().replace("net.", "rd.luks.uuid=abc net."))
    subprocess.run([str(host / "usr/sbin/grub2-mkconfig")], check=True)


def test_an_edit_between_two_changes_is_still_an_edit(el7, pages):
    pages(count=4)
    edit(el7)
    assert pages(state="restored")["failed"]
    pages(count=6)
    refused = pages(state="restored")
    assert refused["failed"] and "rd.luks.uuid=abc" in refused["msg"]
    assert "rd.luks.uuid=abc" in (el7 / "etc/default/grub").read_text()


def test_after_a_change_that_came_to_nothing_the_next_one_works(el7, pages):
    before = (el7 / "etc/default/grub").read_text()
    pages(count=4)
    (el7 / "broken").touch()
    for options in ({"state": "absent"}, {"count": 6}):
        refused = pages(**options)
        assert refused.get("failed"), refused
    assert "hugepages=4" in (el7 / "etc/default/grub").read_text()
    assert "hugepages=4" in (el7 / "boot/grub2/grub.cfg").read_text()
    (el7 / "broken").unlink()
    assert pages(state="absent")["changed"]
    assert (el7 / "etc/default/grub").read_text() == before
    pages(count=4)
    (el7 / "broken").touch()
    assert pages(count=6)["failed"]
    (el7 / "broken").unlink()
    assert pages(state="restored")["changed"]
    assert (el7 / "etc/default/grub").read_text() == before


def test_arguments_that_only_the_entries_hold_are_not_dropped(el7, pages):
    config = el7 / "boot/grub2/grub.cfg"
    config.write_text(config.read_text().replace(" ro ", " ro rd.driver.blacklist=nouveau "))
    before = tree(el7 / "boot"), (el7 / "etc/default/grub").read_text()
    refused = pages(count=4)
    assert refused["failed"] and "drops rd.driver.blacklist=nouveau" in refused["msg"]
    assert {path: what[2] for path, what in tree(el7 / "boot").items() if isinstance(what, tuple)} == {
        path: what[2] for path, what in before[0].items() if isinstance(what, tuple)
    }
    assert (el7 / "etc/default/grub").read_text() == before[1]


def test_a_generator_that_cannot_be_started_has_everything_undone(pages, host):
    (host / "usr/sbin/update-grub").write_text("#!/no/such/interpreter\n")
    refused = pages(count=4)
    assert refused["failed"] and "as they were" in refused["msg"]
    assert not (host / DROP_IN).exists()


def test_memory_tests_and_the_entries_of_other_systems_are_left_as_they_are(pages, host):
    script = host / "usr/sbin/update-grub"
    extra = (
        "### BEGIN /etc/grub.d/20_memtest86+ ###\nmenuentry 'Memory test' {\n\tlinux16 /boot/memtest86+.bin\n}\n"
        "### END /etc/grub.d/20_memtest86+ ###\n### BEGIN /etc/grub.d/30_os-prober ###\nmenuentry 'Fedora' {\n"
        "\tlinux /vmlinuz-6 ro\n}\n### END /etc/grub.d/30_os-prober ###\n"
    )
    script.write_text(script.read_text().replace("END\nmv", extra + "END\nmv"))
    assert pages(count=4)["changed"]


def test_a_reboot_is_needed_where_the_line_differs_and_only_there(pages, host):
    pool = host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
    pool.write_text("8\n")
    line = "hugepagesz=1G hugepages=8"
    grub = host / "etc/default/grub"
    grub.write_text(grub.read_text().replace('"net', f'"{line} net'))
    (host / "proc/cmdline").write_text(f"ro {line} net.ifnames=0 console=ttyS0\n")
    subprocess.run([str(host / "usr/sbin/update-grub")], check=True)
    done = pages(state="absent")
    assert not done["changed"] and not done["reboot_required"] and done["count"] == 8
    # The same pages with another default size: /dev/hugepages changes at the next boot only.
    assert pages(count=8)["reboot_required"]


def test_pages_reserved_now_need_no_reboot(pages, host):
    done = pages(count=4, runtime=True)
    assert done["changed"] and not done["reboot_required"]


def test_restored_copes_with_a_folder_that_went_away(pages, host):
    pages(count=4)
    shutil.rmtree(str(host / "etc/default/grub.d"))
    subprocess.run([str(host / "usr/sbin/update-grub")], check=True)
    assert not pages(state="restored").get("failed")


def test_restored_without_generating_is_finished_by_the_next_one(pages, host):
    pages(count=4)
    assert pages(state="restored", regenerate=False)["changed"]
    assert pages(state="restored")["changed"]
    assert not any("hugepages" in entry for entry in entries(host))
    assert not pages(state="restored")["changed"]


def test_files_that_another_run_changed_meanwhile_are_not_written_over(host, monkeypatch):
    module = FakeModule(host, state="present", count=4)
    grub = host / "etc/default/grub"
    locked = _boot_change.locked

    def slow(folder):
        grub.write_text(grub.read_text() + "# another run\n")
        return locked(folder)

    monkeypatch.setattr(reservation, "locked", slow)
    with pytest.raises(HugepagesError, match="another run changed"):
        hugepages.run(module)
    assert not (host / DROP_IN).exists() and "# another run" in grub.read_text()


def test_pages_of_other_sizes_stay_or_go_as_told(pages, host):
    grub = host / "etc/default/grub"
    grub.write_text(grub.read_text().replace('"net', '"hugepagesz=2M hugepages=512 net'))
    subprocess.run([str(host / "usr/sbin/update-grub")], check=True)
    assert pages(count=4)["kept"] == ["hugepagesz=2M hugepages=512"]
    done = pages(count=4, keep_other_sizes=False)
    assert done["changed"] and done["kept"] == [] and "2M" not in " ".join(entries(host))
    assert not pages(count=4, keep_other_sizes=False)["changed"]
    pages(state="restored")
    assert "hugepagesz=2M hugepages=512" in " ".join(entries(host))


@pytest.mark.parametrize("layout", ["host", "el7"])
def test_another_page_size_is_refused_until_the_pages_of_an_earlier_run_are_taken_back(request, pages, layout):
    host = request.getfixturevalue(layout)
    pages(count=4)
    before = tree(host)
    said = pages(count=600, page_size="2M")
    assert said["failed"] and "4 pages of 1G" in said["msg"] and "hugepages_state: absent" in said["msg"]
    assert tree(host) == before
    pages(state="absent")
    assert pages(count=600, page_size="2M")["kept"] == []
    assert "1G" not in " ".join(entries(host))


def known(host, memory=64 * 1024**3, **options):
    """Return what the controller knows of a host from one observation, when it is asked for these pages."""
    node = {
        "observed_at": "2026-01-05T10:00:00Z",
        "boot": {"hugepages": converged(str(host), OPTIONS["argument_spec"]["state_dir"]["default"])},
        "cpu": {"page_1g": True, "page_2m": True},
        "memory": {"total_bytes": memory},
    }
    return KNOWN.answer(options, node)


@pytest.mark.parametrize("layout", ["host", "el7"])
def test_what_is_known_of_a_converged_host_is_what_the_module_answers(request, pages, layout):
    host = request.getfixturevalue(layout)
    assert known(host, count=4) is None
    pools = host / "sys/kernel/mm/hugepages"
    (pools / "hugepages-2048kB").mkdir()
    for options in ({"count": 600, "page_size": "2M"}, {"state": "restored"}, {"count": 4}, {"gpus": 2}):
        pages(**options)
        if options.get("state"):
            continue
        assert known(host, **options) is None and pages(**options)["reboot_required"]
        line = " ".join(pages(**options)["kernel_args"]["after"])
        (host / "proc/cmdline").write_text(line)
        for size in ("2048", "1048576"):
            (pools / f"hugepages-{size}kB/nr_hugepages").write_text(line.rsplit("hugepages=", 1)[1].split()[0])
        before = tree(host)
        found, answer = known(host, **options), pages(**options)
        assert tree(host) == before and not answer["changed"]
        assert found == {name: value for name, value in answer.items() if name != "invocation"}


def booted(pages, host):
    """Make the host one that runs with four pages."""
    pages(count=4)
    (host / "proc/cmdline").write_text("ro " + LINE.format(4))
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("4\n")


def test_only_of_the_running_system_is_it_observed(pages, host):
    booted(pages, host)
    root = Root(str(host))
    assert boot(root, "/var/lib/taco-train")["hugepages"] is None
    root.is_running_system = True
    assert boot(root, "/var/lib/taco-train")["hugepages"]["count"] == 4
    assert boot(root, "/opt/state")["hugepages"] is None


def spoil(path, text=None):
    return lambda host: (host / path).unlink() if text is None else (host / path).write_text(text)


@pytest.mark.parametrize(
    "change",
    [
        spoil(DROP_IN),
        spoil(DROP_IN, 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX hugepagesz=1G hugepages=5"\n'),
        spoil("etc/default/grub.d/zzz.cfg", 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX hugepagesz=1G hugepages=5"\n'),
        spoil("etc/default/grub", 'GRUB_CMDLINE_LINUX="hugepagesz=2M hugepages=512"\n'),
        spoil("etc/default/grub", 'GRUB_CMDLINE_LINUX="unfinished\n'),
        spoil(
            "boot/grub/grub.cfg",
            "menuentry 'Debian' {\n\tlinux\t/boot/vmlinuz-6.1 root=/dev/vda1 ro net.ifnames=0\n}\n",
        ),
        spoil("boot/grub/grub.cfg"),
        spoil("usr/sbin/update-grub"),
        spoil("var/lib/taco-train/hugepages/manifest.json"),
        spoil("var/lib/taco-train/hugepages/manifest.json", "{"),
        spoil("proc/meminfo", "MemTotal: 1048576 kB\n"),
    ],
)
def test_a_host_where_anything_is_otherwise_has_to_be_asked(pages, host, change):
    booted(pages, host)
    assert known(host, count=4)
    change(host)
    before = tree(host)
    assert known(host, count=4) is None
    assert tree(host) == before


@pytest.mark.parametrize(
    "options",
    [
        {"count": 5},
        {"count": 4, "page_size": "2M"},
        {"gpus": 4},
        {"gpus": 0},
        {"count": 4, "state": "absent"},
        {"count": 4, "state": "restored"},
        {"count": 4, "trial": True},
        {"count": 4, "runtime": True},
        {"count": 4, "keep_other_sizes": False},
        {"count": 4, "regenerate": False},
        {"count": 4, "max_memory_fraction": 0.05},
        {"count": 4, "max_memory_fraction": 1.5},
        {"count": 4, "memory": 4 * 1024**3},
        {"count": 4, "memory": None},
        {"count": 4, "sysroot": "/mnt"},
        {"count": 4, "state_dir": "/opt/state"},
    ],
)
def test_whatever_else_is_asked_for_goes_to_the_host(pages, host, options):
    booted(pages, host)
    assert known(host, **options) is None
