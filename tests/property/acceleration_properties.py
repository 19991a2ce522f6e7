# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holds for every worker, whatever it was before and whatever is asked of it."""

import os
import tempfile
from pathlib import Path
from unittest import mock

from fake_worker import Worker, tree_of, worker_options
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.module_utils._acceleration import nccl_plugin, observation
from ansible_collections.taco.train.plugins.module_utils._acceleration import worker as acceleration_worker

PLACES = (
    "lib/libnccl-net.so",
    "lib/bak.libnccl-net.so",
    "lib/libnccl-net.so_bak",
    "lib/libncc-net.so",
    "mnt/libnccl-net.so",
    "root/libnccl-net.so",
)
CONTENTS = (b"\x7fELF harp 1.3", b"\x7fELF harp 1.4")
CALLS = (
    {"plugin": "on"},
    {"plugin": "off"},
    {"plugin": "keep"},
    {"state": "restored"},
    {"plugin": "off", "container_id": "1" * 64, "check_mode": True},
    {"plugin": "on", "container_id": "1" * 64, "check_mode": True},
)


@st.composite
def placed(draw):
    """Return {place: content}; a content of None is a link to a file beside it."""
    places = draw(st.lists(st.sampled_from(PLACES), unique=True, max_size=3))
    return {place: draw(st.sampled_from(CONTENTS + (None,))) for place in places}


@settings(max_examples=25)
@given(placed(), st.lists(st.sampled_from(CALLS), max_size=6))
def test_after_restored_everything_is_as_it_was_first(files, calls):
    with tempfile.TemporaryDirectory() as name:
        worker = Worker(name)
        root = Path(name) / "root"
        root.mkdir()
        folders = (worker.lib, worker.mnt, root)
        for place, content in files.items():
            folder, _slash, base = place.partition("/")
            path = {"lib": worker.lib, "mnt": worker.mnt, "root": root}[folder] / base
            if content is None:
                path.symlink_to(worker.give_plugin(path.parent / "harp.so"))
            else:
                worker.give_plugin(path, content)
        first = tree_of(*folders)
        with mock.patch.object(nccl_plugin, "OTHER_FOLDERS", (str(worker.mnt), str(root))):
            # No other library folder of this machine has a part in it.
            with mock.patch.object(observation, "find_elsewhere", lambda path: []):
                for call in calls:
                    before = tree_of(*folders)
                    answer = acceleration_worker.main(worker_options(worker, **call))
                    after = tree_of(*folders)
                    # Renamed, never changed, and left alone by a refusal and by check mode.
                    assert sorted(map(str, after.values())) == sorted(map(str, before.values()))
                    if "error" in answer or call.get("check_mode") or not answer["changed"]:
                        assert after == before
                    elif call.get("plugin") in ("on", "off"):
                        assert answer["after"]["plugin"]["state"] == call["plugin"]
                restored = acceleration_worker.main(worker_options(worker, state="restored"))
                assert "error" not in restored, restored
                assert tree_of(*folders) == first
                assert os.listdir(worker.state) == []
                assert not acceleration_worker.main(worker_options(worker, state="restored"))["changed"]
        worker.close()


@given(st.text(min_size=0, max_size=200))
def test_no_record_is_half_read(text):
    try:
        record = nccl_plugin.parse_record(text, "/lib/libnccl-net.so", "worker", "/state/acceleration.json")
    except nccl_plugin.PluginError as error:
        assert "/state/acceleration.json" in str(error)
    else:
        assert record is None


@given(st.sampled_from(["/a/libnccl-net.so", "/mnt/libnccl-net.so", "/a/other.so"]), st.text(max_size=9), st.text())
def test_a_record_is_read_as_it_was_written(path, first, worker):
    record = nccl_plugin.Record(first, path)
    text = nccl_plugin.record_text(record, path, worker)
    assert nccl_plugin.parse_record(text, path, worker, "x") == record
    assert nccl_plugin.parse_record(text, path, worker + "2", "x") is None
