# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import (
    drop_in_path,
    plan,
)
from ansible_collections.taco.train.plugins.module_utils._boot.layout import DEFAULTS, DROP_INS, KERNEL_CMDLINE
from ansible_collections.taco.train.plugins.module_utils._boot.model import parse
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import (
    HugepagesError,
    pages_for,
    require_fit,
)

OURS = ["default_hugepagesz=1G", "hugepagesz=1G", "hugepages=50"]
TEXT = " ".join(OURS)
GIB = 1024**3


@pytest.mark.parametrize("gpus, pages", [(8, 50), (4, 30), (2, 20), (1, 15)])
def test_the_vendors_rule(gpus, pages):
    assert pages_for(gpus) == pages


@pytest.mark.parametrize("gpus", [0, -1])
def test_no_gpus_is_an_error_that_names_the_variables(gpus):
    with pytest.raises(HugepagesError, match="taco_gpus_per_node or hugepages_count"):
        pages_for(gpus)


@pytest.mark.parametrize(
    "count, memory, fraction, supported, words",
    [
        (50, 948 * GIB, 0.8, True, None),
        (0, 1 * GIB, 0.8, False, None),
        (8, 10 * GIB, 0.8, True, None),
        (9, 10 * GIB, 0.8, True, "9.0 GiB, more than 80% of the host's 10.0 GiB: lower hugepages_count"),
        (50, 948 * GIB, 0.8, False, "pdpe1gb"),
        (-1, 948 * GIB, 0.8, True, "must not be negative"),
        (5, None, 0.8, True, None),
    ],
)
def test_what_would_not_boot_is_refused(count, memory, fraction, supported, words):
    arguments = ("1G", count, memory, fraction, supported, "pdpe1gb")
    if words is None:
        require_fit(*arguments)
    else:
        with pytest.raises(HugepagesError, match=words):
            require_fit(*arguments)


@pytest.mark.parametrize(
    "others, name",
    [
        ([], "zz-taco-hugepages.cfg"),
        (["50-cloudimg-settings.cfg", "99-x.cfg"], "zz-taco-hugepages.cfg"),
        (["zzz.cfg"], "zzzz-taco-hugepages.cfg"),
        (["zz-taco-hugepages.cfg"], "zz-taco-hugepages.cfg"),
        (["zzzz.disabled"], "zz-taco-hugepages.cfg"),
    ],
)
def test_the_drop_in_is_sourced_after_every_other(others, name):
    assert drop_in_path(others) == f"{DROP_INS}/{name}"


def after(files, changes):
    result = dict(files)
    for path, text in changes.items():
        result.pop(path, None)
        if text is not None:
            result[path] = text
    return result


def test_comments_and_all_other_bytes_stay():
    text = '# hugepages=1\r\nGRUB_TIMEOUT=5\r\nGRUB_CMDLINE_LINUX="a hugepagesz=1G hugepages=9 b" # why\r\nX=`date`'
    planned = plan("grub-d", parse({DEFAULTS: text}), "1G", 50, [])
    assert planned.files[DEFAULTS] == '# hugepages=1\r\nGRUB_TIMEOUT=5\r\nGRUB_CMDLINE_LINUX="a b" # why\r\nX=`date`'


EL7 = {
    "missing key": ("GRUB_TIMEOUT=1\n", f'GRUB_TIMEOUT=1\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {TEXT}"\n'),
    "missing key, no newline": ("GRUB_TIMEOUT=1", f'GRUB_TIMEOUT=1\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {TEXT}"\n'),
    "missing key, CRLF": ("A=1\r\n", f'A=1\r\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {TEXT}"\r\n'),
    "several": (
        'GRUB_CMDLINE_LINUX="a"\nGRUB_CMDLINE_LINUX="b"\n',
        f'GRUB_CMDLINE_LINUX="a"\nGRUB_CMDLINE_LINUX="b {TEXT}"\n',
    ),
    "plus equals": (
        "GRUB_CMDLINE_LINUX=a\nGRUB_CMDLINE_LINUX+=' b'\n",
        f"GRUB_CMDLINE_LINUX=a\nGRUB_CMDLINE_LINUX+=' b {TEXT}'\n",
    ),
    "right already, in the middle": (f'GRUB_CMDLINE_LINUX="a {TEXT} b"\n', f'GRUB_CMDLINE_LINUX="a {TEXT} b"\n'),
}


@pytest.mark.parametrize("what", EL7)
def test_el7_edits_the_one_key(what):
    before, expected = EL7[what]
    planned = plan("grub-default", parse({DEFAULTS: before}), "1G", 50, [])
    result = after({DEFAULTS: before}, planned.files)
    assert result == {DEFAULTS: expected}
    assert plan("grub-default", parse(result), "1G", 50, OURS).files == {}
    if before != expected:
        assert "hugepages" not in after(result, plan("grub-default", parse(result), "1G", None, OURS).files)[DEFAULTS]


def test_el7_without_the_file_gets_one():
    planned = plan("grub-default", parse({}), "1G", 50, [])
    assert planned.files == {DEFAULTS: f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {TEXT}"\n'}
    assert plan("grub-default", parse({}), "1G", None, []).files == {}


@pytest.mark.parametrize("layout", ["unknown", "zipl"])
def test_a_layout_without_rules_is_refused(layout):
    with pytest.raises(HugepagesError, match=layout):
        plan(layout, parse({}), "1G", 50, [])


@pytest.mark.parametrize(
    "text, count, expected",
    [
        ("root=/dev/vda1 ro\n", 50, f"root=/dev/vda1 ro {TEXT}\n"),
        ("root=/dev/vda1 ro", 50, f"root=/dev/vda1 ro {TEXT}"),
        (f"root=/dev/vda1  {TEXT}   ro\n", 50, f"root=/dev/vda1  {TEXT}   ro\n"),
        ("ro hugepagesz=1GB hugepages=9 quiet\n", 50, f"ro quiet {TEXT}\n"),
        (f"ro {TEXT} quiet\n", None, "ro quiet\n"),
        ("ro hugepagesz=1GB hugepages=9\n", None, "ro hugepagesz=1GB hugepages=9\n"),
    ],
)
def test_the_line_of_new_kernels_is_edited_by_words(text, count, expected):
    files = {DEFAULTS: "GRUB_ENABLE_BLSCFG=true\n", KERNEL_CMDLINE: text}
    planned = plan("bls", parse(files), "1G", count, OURS)
    assert planned.files.get(KERNEL_CMDLINE, text) == expected


@pytest.mark.parametrize("name", ["~local.cfg", "\u00fcberall.cfg"])
def test_a_drop_in_that_nothing_can_follow_is_refused(name):
    with pytest.raises(HugepagesError, match="rename it"):
        drop_in_path([name])


def test_pages_of_2_mib_are_as_much_memory():
    assert pages_for(8, "2M") == 50 * 512


@pytest.mark.parametrize("fraction", [0, -0.1, 1.5, 80, float("nan")])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(HugepagesError, match="more than 0 and at most 1"):
        require_fit("1G", 1, 64 * GIB, fraction, True, "pdpe1gb")


def test_pages_of_other_sizes_count_as_well():
    with pytest.raises(HugepagesError, match="others take 40.0 GiB"):
        require_fit("1G", 20, 64 * GIB, 0.8, True, "pdpe1gb", 40 * GIB)


@pytest.mark.parametrize("layout", ["grub-d", "grub-default"])
@pytest.mark.parametrize(
    "text",
    [
        'GRUB_CMDLINE_LINUX="default_hugepagesz=1G hugepagesz=1G"\nGRUB_CMDLINE_LINUX_DEFAULT="quiet hugepages=8"\n',
        'GRUB_CMDLINE_LINUX="hugepagesz=2M"\nGRUB_CMDLINE_LINUX+=" hugepages=512"\n',
    ],
)
def test_a_size_and_its_count_in_different_places_are_not_parted(layout, text):
    with pytest.raises(HugepagesError, match="side by side by hand"):
        plan(layout, parse({DEFAULTS: text}), "1G", 50, [])


@pytest.mark.parametrize(
    "text",
    [
        ". /etc/sysconfig/x\n",
        '[ -d /sys ] && GRUB_CMDLINE_LINUX="rd.luks.uuid=abc"\n',
        "declare -x GRUB_CMDLINE_LINUX=a\n",
    ],
)
def test_what_other_commands_give_the_variable_stays(text):
    planned = plan("grub-default", parse({DEFAULTS: text}), "1G", 50, [])
    assert planned.files[DEFAULTS] == text + f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {TEXT}"\n'
