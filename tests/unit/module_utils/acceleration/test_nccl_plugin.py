# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the plugin has to be, decided from what is there."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._acceleration.nccl_plugin import (
    PluginError,
    Record,
    Step,
    parse_record,
    plan_plugin,
    record_text,
    renamed_paths,
    state_of,
)

ON = "/lib/libnccl-net.so"
BAK = "/lib/bak.libnccl-net.so"
SEED = "/lib/libnccl-net.so_bak"
MNT = "/mnt/libnccl-net.so"


def file(path, sha256="one", **facts):
    known = {"kind": "file", "target": None, "loads": True, "size": 9, "mode": 0o644, "uid": 0, "gid": 0, "mtime_ns": 1}
    return dict(known, path=path, sha256=sha256, **facts)


def dangling(path):
    link = file(path, sha256=None)
    return dict(link, kind="link", target="libnccl-net.so.0", loads=False)


def test_every_place_of_the_documents_is_looked_at():
    assert renamed_paths("/usr/lib/x86_64-linux-gnu/libnccl-net.so") == [
        "/usr/lib/x86_64-linux-gnu/bak.libnccl-net.so",
        "/usr/lib/x86_64-linux-gnu/libnccl-net.so_bak",
        "/usr/lib/x86_64-linux-gnu/libncc-net.so",
        "/mnt/libnccl-net.so",
        "/root/libnccl-net.so",
    ]
    # The misspelling is of that name only, and the plugin itself is no renamed one.
    assert renamed_paths("/mnt/libother.so") == ["/mnt/bak.libother.so", "/mnt/libother.so_bak", "/root/libother.so"]


@pytest.mark.parametrize(
    ("paths", "state"), [([ON], "on"), ([ON, BAK], "on"), ([BAK], "off"), ([MNT, SEED], "off"), ([], "missing")]
)
def test_the_state_is_that_of_the_name_which_nccl_loads(paths, state):
    assert state_of(ON, [file(path) for path in paths]) == state


def test_a_link_to_nothing_is_not_on():
    assert state_of(ON, [dangling(ON)]) == "missing"
    assert plan_plugin("off", ON, [dangling(ON)], None) is None
    with pytest.raises(PluginError, match="a link to libnccl-net.so.0, which is not there"):
        plan_plugin("on", ON, [dangling(ON), file(BAK)], None)


FIRST_ON = Record(ON, BAK)
FIRST_MNT = Record(MNT, ON)


@pytest.mark.parametrize(
    ("wanted", "paths", "record", "step"),
    [
        ("keep", [ON], None, None),
        ("on", [ON], None, None),
        ("on", [BAK], None, Step(BAK, ON, False, Record(BAK, ON), False)),
        ("on", [MNT], None, Step(MNT, ON, False, FIRST_MNT, False)),
        ("on", [BAK], FIRST_ON, Step(BAK, ON, False, FIRST_ON, True)),
        # Several with the same content are the same plugin.
        ("on", [BAK, MNT], None, Step(BAK, ON, False, Record(BAK, ON), False)),
        # The one that was moved by us is the one, whatever else is there.
        ("on", [SEED, BAK], FIRST_ON, Step(BAK, ON, False, FIRST_ON, True)),
        # The removal that was cut short is made up for.
        ("on", [ON, MNT], FIRST_MNT, Step(MNT, ON, True, FIRST_MNT, False)),
        ("on", [ON, MNT], None, None),
        ("off", [ON], None, Step(ON, BAK, False, FIRST_ON, False)),
        ("off", [ON, SEED], None, Step(ON, BAK, False, FIRST_ON, False)),
        ("off", [ON], FIRST_MNT, Step(ON, MNT, False, FIRST_MNT, True)),
        ("off", [ON, MNT], FIRST_MNT, Step(ON, MNT, True, FIRST_MNT, True)),
        ("off", [MNT], None, None),
        ("off", [], None, None),
        ("first", [ON], None, None),
        ("first", [BAK], None, None),
        ("first", [BAK], FIRST_ON, Step(BAK, ON, False, FIRST_ON, True)),
        ("first", [ON], FIRST_ON, None),
        ("first", [ON, BAK], FIRST_ON, Step(BAK, ON, True, FIRST_ON, True)),
        ("first", [ON, MNT], FIRST_MNT, Step(ON, MNT, True, FIRST_MNT, True)),
        ("first", [SEED], FIRST_ON, Step(SEED, ON, False, FIRST_ON, True)),
    ],
)
def test_one_step_is_enough(wanted, paths, record, step):
    assert plan_plugin(wanted, ON, [file(path) for path in paths], record) == step


@pytest.mark.parametrize(
    ("wanted", "files", "record", "words"),
    [
        ("on", [], None, "there is no /lib/libnccl-net.so, nor any of .*use an image with HARP, or set plugin_path"),
        ("on", [file(BAK), file(MNT, "two")], None, "which one is the plugin.* differ"),
        ("off", [file(ON), file(BAK)], None, "with the same content: remove the one that is not wanted"),
        ("off", [file(ON), file(BAK, "two")], FIRST_ON, "and they differ: remove"),
        # A copy that somebody made looks alike and has another time.
        ("off", [file(ON), file(MNT, mode=0o600)], FIRST_MNT, "with the same content: remove"),
        ("first", [], FIRST_ON, "the plugin was at /lib/libnccl-net.so first and is at none of"),
        ("off", [file(ON, kind="other")], None, "neither a file nor a link"),
    ],
)
def test_what_is_not_certain_is_refused(wanted, files, record, words):
    with pytest.raises(PluginError, match=words):
        plan_plugin(wanted, ON, files, record)


def test_a_record_is_of_one_worker_and_one_plugin():
    text = record_text(FIRST_MNT, ON, "one")
    assert parse_record(text, ON, "one", "x") == FIRST_MNT
    assert parse_record(text, ON, "two", "x") is None
    assert parse_record(None, ON, "one", "x") is None
    with pytest.raises(PluginError, match="plugin_path: /lib/libnccl-net.so first"):
        parse_record(text, "/opt/libnccl-net.so", "one", "x")
