# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arms on a worker whose renames, whose other file system and whose pip are real."""

import hashlib
import os
import subprocess
import sys

import pytest
from fake_worker import DIGEST, IMAGE, facts_of, tree_of, write_sdist

from ansible_collections.taco.train.plugins.modules import acceleration


def plugin_of(result, when="after"):
    plugin = result[when]["plugin"]
    return plugin["state"], plugin["path"]


def test_a_plugin_is_switched_off_and_on_and_stays_the_same_file(worker, arm):
    worker.give_plugin()
    before = facts_of(worker.plugin)
    off = arm(plugin="off")
    bak = worker.lib / "bak.libnccl-net.so"
    assert off["changed"], off
    assert plugin_of(off, "before") == ("on", str(worker.plugin))
    assert plugin_of(off) == ("off", str(bak))
    assert not worker.plugin.exists()
    assert facts_of(bak) == before
    assert off["diff"] == {
        "before": f"NCCL plugin: on ({worker.plugin})\n",
        "after": f"NCCL plugin: off ({bak})\n",
    }
    assert not arm(plugin="off")["changed"]
    on = arm(plugin="on")
    assert on["changed"] and plugin_of(on) == ("on", str(worker.plugin))
    assert facts_of(worker.plugin) == before
    assert not arm(plugin="on")["changed"]
    # Nothing is left to put back.
    assert list(worker.state.iterdir()) == []
    assert not arm(state="restored")["changed"]


def test_what_a_run_needs_is_looked_for_in_the_worker(worker, arm):
    (worker.mnt / "train.py").write_text("train")
    found = arm(requires=["/mnt/train.py", "/mnt/nosuch.py", "/mnt", "sh", "no-such-program"])["requires"]
    sha256 = hashlib.sha256(b"train").hexdigest()
    assert found.pop("sh")["path"].endswith("/sh")
    absent = {"path": None, "sha256": None}
    assert found == {
        "/mnt/train.py": {"path": "/mnt/train.py", "sha256": sha256},
        "/mnt/nosuch.py": absent,
        "/mnt": {"path": "/mnt", "sha256": None},
        "no-such-program": absent,
    }
    # It is the one execution in the worker that there is anyway.
    assert len(worker.commands()) == 1


@pytest.mark.parametrize("place", ["lib/bak.libnccl-net.so", "lib/libnccl-net.so_bak", "lib/libncc-net.so", "mnt"])
def test_each_way_of_the_documents_is_found_and_restored_exactly(worker, arm, place):
    path = worker.mnt / "libnccl-net.so" if place == "mnt" else worker.folder / place
    worker.give_plugin(path)
    before = tree_of(worker.lib, worker.mnt)
    seen_as = "/mnt/libnccl-net.so" if place == "mnt" else str(path)
    found = arm(plugin="off")
    assert not found["changed"], found
    assert plugin_of(found) == ("off", seen_as)
    on = arm(plugin="on")
    assert on["changed"] and plugin_of(on) == ("on", str(worker.plugin)), on
    assert list(tree_of(worker.lib, worker.mnt)) == [str(worker.plugin)]
    assert facts_of(worker.plugin) == before[str(path)]
    back = arm(state="restored")
    assert back["changed"] and plugin_of(back) == ("off", seen_as), back
    assert tree_of(worker.lib, worker.mnt) == before
    assert not arm(state="restored")["changed"]


def test_mnt_is_another_file_system(worker):
    assert os.stat(worker.mnt).st_dev != os.stat(worker.lib).st_dev


def test_off_after_on_goes_back_to_the_name_that_it_had(worker, arm):
    path = worker.give_plugin(worker.lib / "libnccl-net.so_bak")
    assert arm(plugin="on")["changed"]
    assert plugin_of(arm(plugin="off")) == ("off", str(path))


def test_a_link_is_renamed_and_not_what_it_leads_to(worker, arm):
    worker.give_plugin(worker.lib / "libnccl-net.so.0")
    worker.plugin.symlink_to("libnccl-net.so.0")
    before = tree_of(worker.lib)
    arm(plugin="off")
    assert sorted(os.listdir(worker.lib)) == ["bak.libnccl-net.so", "libnccl-net.so.0"]
    assert (worker.lib / "bak.libnccl-net.so").is_symlink()
    arm(state="restored")
    assert tree_of(worker.lib) == before


def test_no_plugin_is_off_and_can_not_be_on(worker, arm):
    off = arm(plugin="off")
    assert not off["changed"] and plugin_of(off) == ("missing", None)
    on = arm(plugin="on")
    assert on["failed"]
    for words in (str(worker.plugin), "/mnt/libnccl-net.so", "plugin_path"):
        assert words in on["msg"]


def test_two_plugins_are_told_and_left_alone(worker, arm):
    worker.give_plugin()
    worker.give_plugin(worker.lib / "bak.libnccl-net.so", b"another")
    before = tree_of(worker.lib)
    result = arm(plugin="off")
    assert result["failed"] and "they differ: remove the one that is not wanted" in result["msg"]
    worker.plugin.unlink()
    worker.give_plugin(worker.lib / "libnccl-net.so_bak", b"a third")
    result = arm(plugin="on")
    assert result["failed"] and "which one is the plugin?" in result["msg"]
    assert before[str(worker.lib / "bak.libnccl-net.so")] == facts_of(worker.lib / "bak.libnccl-net.so")
    assert not worker.plugin.exists()


def test_another_plugin_on_the_library_path_is_no_arm_without_one(worker, arm):
    worker.give_plugin()
    other = worker.folder / "hpcx"
    other.mkdir()
    worker.give_plugin(other / "libnccl-net.so")
    worker.environment["LD_LIBRARY_PATH"] = f"/nowhere:{other}"
    worker.write_facts()
    result = arm(plugin="off")
    assert result["failed"] and f"NCCL would load another plugin, {other}/libnccl-net.so" in result["msg"]
    assert worker.plugin.exists()
    worker.plugin.unlink()
    result = arm(plugin="on")
    assert result["failed"] and f"it may be {other}/libnccl-net.so" in result["msg"]
    # A link to the plugin itself leads nowhere once the plugin is off.
    (other / "libnccl-net.so").unlink()
    (other / "libnccl-net.so").symlink_to(worker.plugin)
    worker.give_plugin()
    assert arm(plugin="off")["changed"]


def test_a_container_made_anew_is_not_restored_from_what_was_there_before_it(worker, arm):
    worker.give_plugin(worker.lib / "libnccl-net.so_bak")
    arm(plugin="on")
    # Another container: its image has the plugin in place, and the folder of states is a mount that stayed.
    worker.container["id"] = "2" * 64
    worker.write_facts()
    result = arm(state="restored")
    assert not result["changed"] and plugin_of(result) == ("on", str(worker.plugin))
    assert list(worker.state.iterdir()) == []


def test_a_record_that_can_not_be_read_is_told(worker, arm):
    worker.give_plugin()
    arm(plugin="off")
    record = worker.state / "acceleration.json"
    kept = record.read_text()
    for broken in ("", "{}", "[1]", kept.replace('"schema": 1', '"schema": 7')):
        record.write_text(broken)
        result = arm(state="restored")
        assert result["failed"] and f"{record} can't be read" in result["msg"], (broken, result)
        assert record.read_text() == broken
    record.write_text(kept)
    moved = arm(state="restored", plugin_path="/opt/libnccl-net.so")
    assert moved["failed"] and f"plugin_path: {worker.plugin}" in moved["msg"]
    assert arm(state="restored")["changed"]


def test_the_image_and_what_is_installed_are_told(worker, arm):
    worker.give_lightcc("tencent_lightcc", "3.1.1")
    told = arm()["before"]
    assert told["packages"]["tencent-lightcc"] == "3.1.1"
    assert "horovod" not in told["packages"]
    assert told["container"] == dict(IMAGE, id="1" * 64, repo_digests=[DIGEST])
    assert told["python"]["version"] == "%d.%d.%d" % sys.version_info[:3]


def test_one_execution_in_the_container_is_enough(worker, arm):
    worker.give_plugin()
    arm(plugin="off")
    assert len(worker.commands()) == 1


def test_check_mode_predicts_and_changes_nothing(worker, arm):
    worker.give_plugin()
    write_sdist(worker.index)
    calls = [
        {"plugin": "off", "horovod": "upstream"},
        {"plugin": "on"},
        {"plugin": "off"},
        {"state": "restored"},
        {"state": "absent"},
    ]
    for options in calls:
        before = tree_of(worker.lib, worker.state) if worker.state.exists() else tree_of(worker.lib)
        predicted = arm(check=True, **options)
        assert before == (tree_of(worker.lib, worker.state) if worker.state.exists() else tree_of(worker.lib))
        done = arm(**options)
        for key in ("changed", "before", "after", "environment", "diff"):
            assert predicted[key] == done[key], (options, key)
        assert done["changed"], options
        assert not arm(check=True, **options)["changed"]


def test_without_a_container_it_works_where_the_task_runs(worker, arm):
    worker.give_plugin()
    result = arm(container="", plugin="off", engine_command=["no-such-engine"])
    assert result["changed"], result
    assert result["after"]["container"] == {"id": None, "image": None, "image_id": None, "repo_digests": []}
    assert arm(container="", state="restored")["changed"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"container": "other"}, "run the role taco.train.training_container"),
        ({"engine_command": ["no-such-engine"]}, "run the role taco.train.container_engine"),
        ({"python": "no-such-python"}, "set python to"),
        ({"python": "/bin/false"}, "ended with status 1"),
        ({"python": "/bin/echo"}, "printed no answer"),
    ],
)
def test_what_cannot_work_says_what_to_do(worker, arm, options, words):
    result = arm(plugin="off", **options)
    assert result["failed"] and words in result["msg"], result


def test_a_container_that_is_stopped_is_told(worker, arm):
    worker.container["running"] = False
    worker.write_facts()
    result = arm(plugin="off")
    assert result["failed"] and "does not run (it is stopped)" in result["msg"]


def test_a_rank_in_the_container_is_listed_and_check_mode_only_warns(worker, arm, monkeypatch):
    warned = []
    monkeypatch.setattr(acceleration.AnsibleModule, "warn", lambda module, text: warned.append(text))
    worker.give_plugin()
    environment = dict(os.environ, PMIX_RANK="0")
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=environment) as rank:
        try:
            foretold = arm(check=True, plugin="off")
            assert foretold["changed"] and worker.plugin.exists()
            done = arm(plugin="off", interrupt_running_work=True)
            assert done["changed"] and not worker.plugin.exists()
        finally:
            rank.kill()
    assert len(warned) == 2
    assert all(f"(pid {rank.pid}, user " in text and "container box" in text for text in warned), warned
