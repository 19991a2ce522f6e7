# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module on hosts with boot loader specification entries: EL8 with kernelopts, EL9 with options in each entry.

The module edits the entries itself. The stand-in for grubby is what an administrator uses beside it.
"""

import pytest
from bls_host import DEFAULTS, ENTRY, OPTIONS, lay_out
from boot_host import LINE, boot_files, contents, tree
from boot_roots import environment
from fake_grubby import FakeGrubby

NOTE = "# The module taco.train.hugepages added its arguments above. What was here before: /var/lib/taco-train/journal.json\n"


@pytest.fixture(params=["EL8", "EL9"])
def host(request, tmp_path):
    return lay_out(tmp_path / "root", request.param)


def options_of(host, name):
    """Return the arguments that an entry boots with."""
    text = (host / "boot/loader/entries" / name).read_text().split("options ")[1].splitlines()[0]
    for line in (host / "boot/grub2/grubenv").read_text().splitlines():
        if line.startswith("kernelopts="):
            text = text.replace("$kernelopts", line.split("=", 1)[1]).replace(" $tuned_params", "")
    return text


def test_every_entry_gets_the_pages_once_and_what_new_kernels_get_too(pages, host):
    before = tree(host)
    predicted = pages(check=True, count=4)
    assert tree(host) == before
    done = pages(count=4)
    assert done["layout"] == "bls" and done["changed"] and done["reboot_required"]
    assert {key: predicted[key] for key in ("files", "diff", "kernel_args")} == {
        key: done[key] for key in ("files", "diff", "kernel_args")
    }
    for name in ("1f2e-5.14.conf", "1f2e-5.15.conf"):
        assert options_of(host, name) == f"{OPTIONS} {LINE.format(4)}"
    text = DEFAULTS.replace("ifnames=0'", "ifnames=0 " + LINE.format(4) + "'")
    assert (host / "etc/default/grub").read_text() == text + NOTE
    if (host / "etc/kernel").exists():
        assert (host / "etc/kernel/cmdline").read_text() == f"{OPTIONS} {LINE.format(4)}\n"
    tree_before = tree(host)
    assert not pages(count=4)["changed"] and tree(host) == tree_before
    pages(count=6)
    assert options_of(host, "1f2e-5.15.conf") == f"{OPTIONS} {LINE.format(6)}"


def test_pages_of_another_size_stay(pages, host):
    two = "hugepagesz=2M hugepages=512"
    for path in ("etc/default/grub", "etc/kernel/cmdline", "boot/grub2/grubenv"):
        if (host / path).exists():
            (host / path).write_text((host / path).read_text().replace("net.ifnames=0", "net.ifnames=0 " + two))
    for path in (host / "boot/loader/entries").iterdir():
        path.write_text(path.read_text().replace("net.ifnames=0", "net.ifnames=0 " + two))
    done = pages(count=4)
    assert done["kept"] == [two]
    assert options_of(host, "1f2e-5.15.conf") == f"{OPTIONS} {two} {LINE.format(4)}"
    assert not pages(count=4)["changed"]
    assert pages(count=4, keep_other_sizes=False)["changed"]
    assert options_of(host, "1f2e-5.15.conf") == f"{OPTIONS} {LINE.format(4)}"
    assert not pages(count=4, keep_other_sizes=False)["changed"]


@pytest.mark.parametrize("then", [{}, {"count": 6}])
def test_restored_puts_every_byte_mode_and_time_back(pages, host, then):
    before = boot_files(host)
    pages(count=4)
    if then:
        pages(**then)
    assert pages(state="restored")["changed"]
    assert boot_files(host) == before
    assert not pages(state="restored")["changed"]


def test_absent_takes_our_arguments_away(pages, host):
    before = {name: options_of(host, name) for name in ("1f2e-5.14.conf", "1f2e-5.15.conf")}
    pages(count=4)
    assert pages(state="absent")["changed"]
    assert {name: options_of(host, name) for name in before} == before
    assert "hugepages" not in (host / "etc/default/grub").read_text()
    assert not pages(state="absent")["changed"]


def test_a_kernel_installed_since_loses_our_arguments_and_a_removed_one_stays_away(pages, host):
    entries = host / "boot/loader/entries"
    grubenv = host / "boot/grub2/grubenv"
    pages(count=4)
    (entries / "1f2e-5.16.conf").write_text((entries / "1f2e-5.15.conf").read_text().replace("5.15", "5.16"))
    (entries / "1f2e-5.14.conf").unlink()
    grubenv.write_text(grubenv.read_text().replace("saved_entry=1f2e-5.14", "saved_entry=1f2e-5.16"))
    pages(state="restored")
    assert options_of(host, "1f2e-5.16.conf") == OPTIONS
    assert (entries / "1f2e-5.15.conf").read_text() == ENTRY.format(
        "5.15", "$kernelopts $tuned_params" if "kernelopts" in grubenv.read_text() else OPTIONS
    )
    assert not (entries / "1f2e-5.14.conf").exists()
    assert "saved_entry=1f2e-5.16" in grubenv.read_text() and len(grubenv.read_bytes()) == 1024
    assert (host / "etc/default/grub").read_text() == DEFAULTS


@pytest.mark.parametrize("state", ["absent", "restored"])
def test_what_version_1_0_0_added_by_grubby_of_2018_goes_from_a_kernel_installed_since_too(pages, host, state):
    """That grubby found hugepagesz= within default_hugepagesz= and left it out; a new kernel copies the arguments."""
    entries, grubenv = host / "boot/loader/entries", host / "boot/grub2/grubenv"
    before = {name: options_of(host, name) for name in ("1f2e-5.14.conf", "1f2e-5.15.conf")}
    pages(count=4)
    short = LINE.format(4).replace(" hugepagesz=1G", "")
    for path in (*entries.iterdir(), grubenv):
        path.write_text(path.read_text().replace(LINE.format(4), short))
    (entries / "1f2e-5.16.conf").write_text((entries / "1f2e-5.15.conf").read_text().replace("5.15", "5.16"))
    assert not pages(count=4).get("failed")
    assert pages(state=state)["changed"]
    assert {name: options_of(host, name) for name in before} == before
    assert options_of(host, "1f2e-5.16.conf") == before["1f2e-5.15.conf"]


def test_pages_in_a_variable_of_grub_that_entries_use_are_refused_before_anything_is_written(pages, host):
    environment_file = host / "boot/grub2/grubenv"
    options = (
        "$kernelopts $tuned_params" if "kernelopts" in environment_file.read_text() else OPTIONS + " $tuned_params"
    )
    (host / "boot/loader/entries/1f2e-5.15.conf").write_text(ENTRY.format("5.15", options))
    variables = {"kernelopts": OPTIONS} if "kernelopts" in options else {}
    environment_file.write_text(environment(tuned_params="hugepagesz=1G hugepages=9", **variables))
    before = tree(host)
    refused = pages(count=4)
    assert refused["failed"] and "GRUB's variable tuned_params" in refused["msg"] and "hugepages=9" in refused["msg"]
    assert tree(host) == before


@pytest.mark.parametrize("year", ["2018", "current"])
def test_what_an_administrator_does_with_grubby_before_and_after_stays(pages, host, year):
    grubby = FakeGrubby(host, year)
    grubby.update_all(args="rd.driver.blacklist=nouveau hugepagesz=2M hugepages=512")
    before = boot_files(host)
    assert pages(count=4)["kept"] is not None
    names = ("1f2e-5.14.conf", "1f2e-5.15.conf")
    for name in names:
        assert LINE.format(4) in options_of(host, name) and "blacklist=nouveau" in options_of(host, name)
        assert "hugepagesz=2M hugepages=512" in options_of(host, name)
    assert not pages(count=4)["changed"]
    pages(state="restored")
    assert boot_files(host) == before
    pages(count=4)
    grubby.update_all(args="mitigations=off")
    assert not pages(count=4)["changed"]
    assert all("mitigations=off" in options_of(host, name) for name in names)
    if year == "2018":
        # It edits the entries alone, so only they differ from what was left, and they lose our arguments only.
        assert pages(state="restored")["changed"]
        assert not pages(state="restored")["changed"]
    else:
        refused = pages(state="restored")
        assert refused["failed"] and "mitigations=off" in refused["msg"]
        assert pages(state="absent")["changed"]
        assert not pages(state="absent")["changed"]
    for name in names:
        assert LINE.format(4) not in options_of(host, name) and "mitigations=off" in options_of(host, name)
        assert "hugepagesz=2M hugepages=512" in options_of(host, name)


@pytest.mark.parametrize("year", ["2018", "current"])
def test_the_documented_removal_by_hand_leaves_no_pages(pages, host, year):
    pages(count=4)
    FakeGrubby(host, year).update_all(remove_args=LINE.format(4))
    options = [options_of(host, name) for name in ("1f2e-5.14.conf", "1f2e-5.15.conf")]
    # grubby of 2018 leaves kernelopts alone.
    shared = year == "2018" and "kernelopts=" in (host / "boot/grub2/grubenv").read_text()
    assert all((LINE.format(4) in line) == shared for line in options)


@pytest.mark.parametrize("host", ["EL8"], indirect=True)
def test_options_that_only_grub_cfg_gives_are_extended_in_the_environment(pages, host):
    config, grubenv = host / "boot/grub2/grub.cfg", host / "boot/grub2/grubenv"
    config.write_text(f'if [ -z "${{kernelopts}}" ]; then\n  set kernelopts="{OPTIONS}"\nfi\n' + config.read_text())
    grubenv.write_text(environment(saved_entry="1f2e-5.14"))
    before = boot_files(host)
    assert pages(count=4)["changed"]
    assert f"kernelopts={OPTIONS} {LINE.format(4)}\n" in grubenv.read_text()
    assert not pages(count=4)["changed"]
    pages(state="restored")
    assert boot_files(host) == before


def test_a_trial_boots_the_running_kernel_once_and_then_becomes_permanent(pages, host):
    done = pages(count=4, trial=True)
    assert done["trial"] and done["reboot_required"]
    assert done["files"] == ["/boot/grub2/custom.cfg", "/boot/grub2/grubenv"]
    custom = (host / "boot/grub2/custom.cfg").read_text()
    assert f"linux /vmlinuz-5.15 {OPTIONS} {LINE.format(4)}\n" in custom.replace("  ", " ")
    assert "initrd /initramfs-5.15.img $tuned_initrd" in custom
    grubenv = host / "boot/grub2/grubenv"
    assert "next_entry=taco-hugepages-trial" in grubenv.read_text() and len(grubenv.read_bytes()) == 1024
    assert options_of(host, "1f2e-5.15.conf") == OPTIONS
    assert not pages(count=4, trial=True)["changed"]
    # GRUB clears the variable before it boots the entry.
    grubenv.write_text(grubenv.read_text().replace("next_entry=taco-hugepages-trial", "next_entry="))
    (host / "proc/cmdline").write_text(f"BOOT_IMAGE=/vmlinuz-5.15 {OPTIONS} {LINE.format(4)}\n")
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("4\n")
    done = pages(count=4, trial=True)
    assert done["changed"] and not done["trial"] and not done["reboot_required"]
    assert options_of(host, "1f2e-5.15.conf") == f"{OPTIONS} {LINE.format(4)}"
    assert not (host / "boot/grub2/custom.cfg").exists()
    assert not pages(count=4, trial=True)["changed"]


def test_a_trial_that_is_restored_leaves_nothing(pages, host):
    before = contents(host)
    assert pages(count=4, trial=True)["trial"]
    pages(state="restored")
    assert contents(host) == before


def test_a_missing_line_for_new_kernels_stays_missing(pages, host):
    made = host / "etc/kernel/cmdline"
    if made.exists():
        made.unlink()
    pages(count=4)
    assert not made.exists()
    pages(state="restored")
    assert not pages(state="restored")["changed"]


def test_a_new_kernel_without_the_pages_gets_them(pages, host):
    pages(count=4)
    entries = host / "boot/loader/entries"
    (entries / "1f2e-5.16.conf").write_text(ENTRY.format("5.16", OPTIONS))
    assert pages(count=4)["changed"]
    assert options_of(host, "1f2e-5.16.conf") == f"{OPTIONS} {LINE.format(4)}"
    assert not pages(count=4)["changed"]


def test_a_trial_that_nobody_booted_gives_way_to_the_permanent_pages(pages, host):
    pages(count=4, trial=True)
    assert pages(count=4)["changed"]
    assert options_of(host, "1f2e-5.15.conf") == f"{OPTIONS} {LINE.format(4)}"
    assert "next_entry=taco" not in (host / "boot/grub2/grubenv").read_text()
    assert not pages(count=4)["changed"]


def test_files_that_were_right_before_stay_as_they_are(pages, host):
    pages(count=4, regenerate=False)
    text = (host / "etc/default/grub").read_text()
    assert pages(count=4)["changed"]
    assert (host / "etc/default/grub").read_text() == text
    assert pages(state="restored")["changed"]
    assert (host / "etc/default/grub").read_text() == DEFAULTS


def test_a_restored_host_has_no_trial_left_whatever_else_its_environment_says(pages, host):
    pages(count=4, trial=True)
    grubenv = host / "boot/grub2/grubenv"
    text = grubenv.read_text()
    grubenv.write_text(text.replace("saved_entry=1f2e-5.14", "saved_entry=1f2e-5.15"))
    pages(state="restored")
    assert "next_entry" not in grubenv.read_text() and "saved_entry=1f2e-5.15" in grubenv.read_text()


@pytest.mark.parametrize("host", ["EL8"], indirect=True)
def test_a_trial_takes_the_options_that_grub_cfg_gives_where_the_environment_has_none(pages, host):
    config = host / "boot/grub2/grub.cfg"
    grubenv = host / "boot/grub2/grubenv"
    config.write_text(f'if [ -z "${{kernelopts}}" ]; then\n  set kernelopts="{OPTIONS}"\nfi\n' + config.read_text())
    grubenv.write_text(environment(saved_entry="1f2e-5.14"))
    pages(count=4, trial=True)
    assert f"linux /vmlinuz-5.15 {OPTIONS} {LINE.format(4)}\n" in (host / "boot/grub2/custom.cfg").read_text()


def test_a_trial_without_pages_of_other_sizes_tries_what_becomes_permanent(pages, host):
    for path in (host / "boot/loader/entries").iterdir():
        path.write_text(path.read_text().replace("ifnames=0", "ifnames=0 hugepagesz=2M hugepages=512"))
    pages(count=4, trial=True, keep_other_sizes=False)
    assert "2M" not in (host / "boot/grub2/custom.cfg").read_text()
    refused = pages(count=4, trial=True, runtime=True)
    assert refused["failed"] and "exclude each other" in refused["msg"]
