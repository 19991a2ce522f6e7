# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module on a whole host below a folder: real files, and a real update-grub of its own."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from boot_host import DROP_IN, LINE, FakeModule, contents, entries, tree

from ansible_collections.taco.train.plugins.module_utils._boot import change as _boot_change
from ansible_collections.taco.train.plugins.module_utils._boot import reservation
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.running import reserve_now
from ansible_collections.taco.train.plugins.modules import hugepages


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
    assert done["layout"] == "grub-d" and done["files"] == ["/boot/grub/grub.cfg", "/" + DROP_IN]
    assert done["kernel_args"]["before"] == ["net.ifnames=0", "console=ttyS0"]
    line = LINE.format(50)
    assert done["kernel_args"]["after"] == ["net.ifnames=0"] + line.split() + ["console=ttyS0"]
    assert entries(host) == [f"net.ifnames=0 {line} console=ttyS0", f"single net.ifnames=0 {line}"]
    assert line in done["diff"][0]["after"]


def test_a_host_that_runs_with_its_pages_needs_no_reboot(pages, host):
    pages(count=4)
    (host / "proc/cmdline").write_text("BOOT_IMAGE=/vmlinuz ro " + LINE.format(4))
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("4\n")
    assert not pages(count=4)["reboot_required"]
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("3\n")
    assert pages(count=4)["reboot_required"]


def test_restored_refuses_what_somebody_edited_since_and_force_does_not(pages, host):
    before = contents(host)
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
    assert contents(host) == before


@pytest.mark.parametrize(
    "options, change, words",
    [
        ({"count": 52}, None, "hugepages_max_memory_fraction"),
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
    [
        ("#!/bin/sh\necho no room >&2\nexit 3\n", "ended with 3: no room"),
        ("#!/bin/sh\nexit 0\n", "does not write to the file"),
        ("#!/no/such/interpreter\n", "No such file"),
    ],
)
def test_a_generator_that_fails_or_lies_has_everything_undone(pages, host, script, words):
    (host / "usr/sbin/update-grub").write_text(script)
    before = contents(host)
    refused = pages(count=4)
    assert refused["failed"] and words in refused["msg"] and "as they were" in refused["msg"]
    assert contents(host) == before


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


def test_the_history_is_for_root_alone_and_names_every_file(pages, host):
    pages(count=4)
    manifest = host / "var/lib/taco-train/hugepages/manifest.json"
    assert oct(manifest.stat().st_mode & 0o777) == "0o600" and oct(manifest.parent.stat().st_mode & 0o777) == "0o700"
    assert list(json.loads(manifest.read_text())["files"]) == ["/boot/grub/grub.cfg", "/" + DROP_IN]


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


def test_memory_tests_and_the_entries_of_other_systems_are_left_as_they_are(pages, host):
    script = host / "usr/sbin/update-grub"
    extra = (
        "### BEGIN /etc/grub.d/20_memtest86+ ###\nmenuentry 'Memory test' {\n\tlinux16 /boot/memtest86+.bin\n}\n"
        "### END /etc/grub.d/20_memtest86+ ###\n### BEGIN /etc/grub.d/30_os-prober ###\nmenuentry 'Fedora' {\n"
        "\tlinux /vmlinuz-6 ro\n}\n### END /etc/grub.d/30_os-prober ###\n"
    )
    script.write_text(script.read_text().replace("END\nmv", extra + "END\nmv"))
    subprocess.run([str(script)], check=True)
    assert pages(count=4)["changed"]


def test_a_reboot_is_needed_where_the_line_differs_and_only_there(pages, host):
    pool = host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
    pool.write_text("8\n")
    line = "hugepagesz=1G hugepages=8"
    grub = host / "etc/default/grub"
    grub.write_text(grub.read_text().replace('"net', f'"{line} net'))
    (host / "proc/cmdline").write_text(f"BOOT_IMAGE=/vmlinuz ro {line} net.ifnames=0 console=ttyS0\n")
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


@pytest.mark.parametrize("layout", ["debian", "el7"])
def test_a_number_for_each_numa_node_stays_where_it_adds_up_and_another_goes(request, pages, host, layout):
    host = request.getfixturevalue("el7") if layout == "el7" else host
    given = "default_hugepagesz=1G hugepagesz=1G hugepages=0:2,1:2"
    (host / "etc/default/grub").write_text(f'GRUB_CMDLINE_LINUX="net.ifnames=0 {given}"\n')
    first = pages(count=4)
    assert first["count"] == 4 and first["said"] == ["0:2,1:2"] and entries(host)[0].count("hugepages=") == 1
    assert "hugepages=0:2,1:2" in entries(host)[0]
    (host / "proc/cmdline").write_text("BOOT_IMAGE=/boot/vmlinuz-6.1 ro " + entries(host)[0] + "\n")
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("4\n")
    again = pages(count=4)
    assert not again["changed"] and not again["reboot_required"]
    assert pages(count=6)["said"] == ["6"] and "hugepages=6" in entries(host)[0] and "0:2" not in entries(host)[0]


@pytest.mark.parametrize(
    ("memory", "number", "warned"),
    [
        ((16, 48), "20", ["NUMA node 0 has 16.0 GiB of memory, room for 8 pages of 1G, and its share is 10"]),
        ((16, 48), "0:5,1:15", []),
        ((16, 48), "0:15,1:5", ["NUMA node 0 has 16.0 GiB of memory, room for 8 pages of 1G, and its share is 15"]),
        ((0, 64), "20", []),
        ((32, 32), "20", []),
        ((30,), "20", []),
    ],
)
def test_a_numa_node_too_small_for_its_share_is_named(pages, host, memory, number, warned):
    (host / "etc/default/grub").write_text(
        f'GRUB_CMDLINE_LINUX="default_hugepagesz=1G hugepagesz=1G hugepages={number}"\n'
    )
    for node, gib in enumerate(memory):
        folder = host / f"sys/devices/system/node/node{node}"
        folder.mkdir(parents=True)
        (folder / "meminfo").write_text(f"Node {node} MemTotal:  {gib * 1024**2} kB\n")
    found = pages(count=20, max_memory_fraction=0.5).get("warnings", [])
    assert len(found) == len(warned) and all(text in str(found) for text in warned), found
