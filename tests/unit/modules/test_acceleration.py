# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A worker that is prepared for arms. Its files, its file systems and its pip are real."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from fake_worker import DIGEST, IMAGE, tree_of, write_sdist

from ansible_collections.taco.train.plugins.modules import acceleration

NAME = "libnccl-net.so"


@pytest.fixture
def warned(monkeypatch):
    """The warnings of the module."""
    texts = []
    monkeypatch.setattr(acceleration.AnsibleModule, "warn", lambda module, text: texts.append(text))
    return texts


def test_the_empty_library_is_created_once_and_the_plugin_stays_untouched(worker, arm):
    worker.give_plugin()
    plugin = tree_of(worker.lib)
    old = os.umask(0o077)
    try:
        done = arm(plugin="off")
    finally:
        os.umask(old)
    folder = worker.state / "without-plugin"
    assert done["changed"] and done["prepended"] == {"LD_LIBRARY_PATH": str(folder)}, done
    assert done["diff"] == {"before": "", "after": f"empty library in place of NCCL's plugin: {folder}\n"}
    assert os.listdir(folder) == [NAME] and (folder / NAME).read_bytes() == b""
    # Ranks can be another user's.
    assert [path.stat().st_mode & 0o777 for path in (folder, folder / NAME)] == [0o755, 0o644]
    assert done["after"]["plugin"] == {"state": "present", "path": str(worker.plugin), "problem": None}
    before = tree_of(worker.state)
    again = arm(plugin="off")
    assert not again["changed"] and again["prepended"] == done["prepended"]
    assert arm()["prepended"] == {} and tree_of(worker.state) == before
    assert tree_of(worker.lib) == plugin and len(worker.commands()) == 3
    gone = arm(state="absent")
    assert gone["changed"] and os.listdir(worker.state) == [] and not arm(state="absent")["changed"]


def test_what_a_kill_left_of_the_folder_is_completed(worker, arm):
    (worker.state / "without-plugin").mkdir(parents=True)
    done = arm(plugin="off")
    assert done["changed"], done
    assert os.listdir(worker.state / "without-plugin") == [NAME]


def foreign(worker, kind):
    folder = worker.state / "without-plugin"
    worker.state.mkdir()
    if kind == "a link":
        (worker.folder / "elsewhere").mkdir()
        folder.symlink_to(worker.folder / "elsewhere")
        return
    if kind == "a file":
        folder.write_text("")
        return
    folder.mkdir()
    if kind == "a library with content":
        (folder / NAME).write_text("a plugin")
    if kind == "a linked library":
        (folder / NAME).symlink_to("/dev/null")
    if kind == "another file":
        (folder / "libc.so.6").write_text("")
    if kind == "a folder for all":
        folder.chmod(0o777)


@pytest.mark.parametrize(
    "kind",
    ["a link", "a file", "a library with content", "a linked library", "another file", "a folder for all"],
)
def test_a_folder_of_somebody_else_is_refused_and_left_alone(worker, arm, kind):
    foreign(worker, kind)
    before = tree_of(worker.folder)
    for options in ({"plugin": "off"}, {"state": "absent"}):
        found = arm(**options)
        assert found["failed"] and "this collection did not make it" in found["msg"], found
        assert found["prepended"] == {} and "container box: " in found["msg"]
        assert {path: facts for path, facts in tree_of(worker.folder).items() if "facts.json" not in path} == {
            path: facts for path, facts in before.items() if "facts.json" not in path
        }


@pytest.mark.parametrize("character", [":", ";", "$", " "])
def test_a_path_that_the_variables_can_not_hold_is_refused(worker, arm, character):
    found = arm(plugin="off", horovod="upstream", state_dir=f"{worker.state}{character}x")
    assert (
        found["failed"]
        and found["msg"].count(f"has the character {character!r}") == 2
        and "taco_state_dir" in found["msg"]
    )


def test_what_fails_keeps_nothing_else_from_being_prepared(worker, arm):
    found = arm(plugin="off", horovod="upstream", horovod_version="../x")
    assert found["failed"] and "expected a version such as 0.21.3" in found["msg"]
    assert list(found["prepended"]) == ["LD_LIBRARY_PATH"]


@pytest.mark.parametrize(
    "place", ["lib/bak.libnccl-net.so", "lib/libnccl-net.so_bak", "lib/libncc-net.so", "mnt/libnccl-net.so"]
)
def test_each_name_that_the_documents_give_the_plugin_is_found_with_the_command_that_undoes_it(worker, arm, place):
    path = worker.mnt / NAME if place.startswith("mnt") else worker.folder / place
    worker.give_plugin(path)
    before = tree_of(worker.lib, worker.mnt)
    shown = "/mnt/" + NAME if place.startswith("mnt") else str(path)
    found = arm(plugin="off")["after"]["plugin"]
    assert (found["state"], found["path"]) == ("renamed", shown)
    assert f"run `mv {shown} {worker.plugin}` in the worker" in found["problem"]
    assert tree_of(worker.lib, worker.mnt) == before


def test_a_plugin_that_is_nowhere_is_missing(worker, arm):
    found = arm()["after"]["plugin"]
    assert (found["state"], found["path"]) == ("missing", None) and "benchmark_plugin_path" in found["problem"]
    worker.plugin.symlink_to("nowhere")
    assert arm()["after"]["plugin"]["state"] == "missing"


@pytest.mark.parametrize("options", [{}, {"state": "absent"}])
def test_a_plugin_that_version_1_0_renamed_is_named_with_its_record_and_both_stay(worker, arm, warned, options):
    other = worker.give_plugin(worker.lib / ("bak." + NAME))
    worker.state.mkdir()
    record = worker.state / "acceleration.json"
    record.write_text(json.dumps({"schema": 1, "first": str(worker.plugin), "other": str(other)}))
    before = tree_of(worker.lib, worker.state)
    arm(**options)
    (text,) = warned
    assert f"run `mv {other} {worker.plugin} && rm {record}`" in text
    assert tree_of(worker.lib, worker.state) == before
    record.write_text("{")
    arm(**options)
    assert "can't be read" in warned[1]


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


def test_the_image_and_what_is_installed_are_told(worker, arm):
    worker.give_lightcc("tencent_lightcc", "3.1.1")
    told = arm()["before"]
    assert told["packages"]["tencent-lightcc"] == "3.1.1"
    assert "horovod" not in told["packages"]
    assert told["container"] == dict(IMAGE, id="1" * 64, repo_digests=[DIGEST])
    assert told["python"]["version"] == "%d.%d.%d" % sys.version_info[:3]


def test_check_mode_predicts_and_changes_nothing(worker, arm):
    worker.give_plugin()
    write_sdist(worker.index)
    for options in ({"plugin": "off", "horovod": "upstream"}, {"state": "absent"}):
        before = tree_of(worker.lib, worker.state)
        predicted = arm(check=True, **options)
        assert before == tree_of(worker.lib, worker.state)
        done = arm(**options)
        for key in ("changed", "before", "after", "prepended", "diff"):
            assert predicted[key] == done[key], (options, key)
        assert done["changed"], options
        assert not arm(check=True, **options)["changed"]


def test_without_a_container_it_works_where_the_task_runs(worker, arm):
    result = arm(container="", plugin="off", engine_command=["no-such-engine"])
    assert result["changed"], result
    assert result["after"]["container"] == {"id": None, "image": None, "image_id": None, "repo_digests": []}


def test_folders_that_running_processes_use_are_removed_only_with_permission(worker, arm):
    folder = arm(plugin="off")["prepended"]["LD_LIBRARY_PATH"]
    environment = dict(os.environ, LD_LIBRARY_PATH=folder)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=environment) as rank:
        try:
            found = arm(state="absent")
            assert found["failed"] and f"running processes ({rank.pid}) use {folder}" in found["msg"], found
            assert "taco_interrupt_running_work" in found["msg"] and os.path.isdir(folder)
            assert arm(state="absent", interrupt_running_work=True)["changed"] and not os.path.isdir(folder)
        finally:
            rank.kill()


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
