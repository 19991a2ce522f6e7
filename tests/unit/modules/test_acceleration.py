# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arms on a worker whose renames, whose other file system and whose pip are real."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from fake_worker import DIGEST, IMAGE, Worker, facts_of, tree_of, write_sdist, write_wheel

from ansible_collections.taco.train.plugins.modules import acceleration


@pytest.fixture
def worker(tmp_path):
    made = Worker(tmp_path)
    yield made
    made.close()


@pytest.fixture
def arm(worker, run):
    """Return a function that runs the module on the worker."""

    def call(check=False, **options):
        common = {
            "container": "box",
            "engine_command": [str(worker.engine)],
            "plugin_path": str(worker.plugin),
            "python": sys.executable,
            "state_dir": str(worker.state),
            "pip_args": ["--no-index", "--find-links", str(worker.index)],
        }
        common.update(options)
        return run(acceleration.main, check=check, **common)

    return call


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


def horovod_in(worker, environment):
    """Return version, file and build environment of the Horovod that a run in the container imports."""
    words = "import horovod, json; print(json.dumps([horovod.__version__, horovod.__file__, horovod.built_with]))"
    env = dict(os.environ, **dict(worker.environment, **environment))
    return json.loads(subprocess.run([sys.executable, "-c", words], env=env, stdout=subprocess.PIPE, check=True).stdout)


def test_upstreams_horovod_is_built_once_and_used_by_its_environment(worker, arm):
    worker.give_lightcc()
    write_sdist(worker.index)
    image = tree_of(worker.site)
    built = arm(horovod="upstream")
    assert built["changed"], built
    (prefix,) = built["after"]["builds"]
    assert built["before"]["builds"] == []
    assert built["environment"] == {"PYTHONPATH": f"{prefix}:{worker.site}"}
    version, file, built_with = horovod_in(worker, built["environment"])
    assert (version, file) == ("0.21.3", f"{prefix}/horovod/__init__.py")
    assert built_with == {
        "HOROVOD_WITH_MPI": "1",
        "HOROVOD_GPU_OPERATIONS": "NCCL",
        "HOROVOD_WITH_TENSORFLOW": "1",
        "HOROVOD_NCCL_LINK": "SHARED",
    }
    # Python's own byte code aside, nothing of the image is touched.
    assert {path: facts for path, facts in tree_of(worker.site).items() if "__pycache__" not in path} == image
    again = arm(horovod="upstream")
    assert not again["changed"] and again["environment"] == built["environment"]
    back = arm()
    assert (back["changed"], back["environment"]) == (False, {})
    assert not arm(state="restored")["changed"]
    gone = arm(state="absent")
    assert gone["changed"] and gone["after"]["builds"] == []
    assert list(worker.state.iterdir()) == []
    assert not arm(state="absent")["changed"]


def test_another_environment_is_another_build(worker, arm):
    write_sdist(worker.index)
    first = arm(horovod="upstream")
    torch = {"HOROVOD_WITH_PYTORCH": True, "HOROVOD_WITH_GLOO": False}
    second = arm(horovod="upstream", horovod_build_env=torch)
    assert second["changed"] and len(second["after"]["builds"]) == 2
    assert horovod_in(worker, first["environment"])[2]["HOROVOD_WITH_MPI"] == "1"
    assert horovod_in(worker, second["environment"])[2] == {"HOROVOD_WITH_PYTORCH": "1", "HOROVOD_WITH_GLOO": "0"}


def test_a_file_of_sources_is_known_by_what_it_holds(worker, arm):
    source = write_sdist(worker.folder)
    first = arm(horovod="upstream", horovod_source=str(source))
    assert first["changed"], first
    assert not arm(horovod="upstream", horovod_source=str(source))["changed"]
    write_sdist(worker.folder, imports="patched = True\\n")
    assert arm(horovod="upstream", horovod_source=str(source))["changed"]


def test_what_horovod_requires_and_the_image_lacks_is_added(worker, arm):
    write_sdist(
        worker.index,
        requires="Requires-Dist: tacofakedep>=1.0\\nRequires-Dist: PyYAML\\n",
        imports="import tacofakedep\\n",
    )
    write_wheel(worker.index, "tacofakedep", "1.2")
    built = arm(horovod="upstream")
    (prefix,) = built["after"]["builds"]
    names = os.listdir(prefix)
    assert "tacofakedep.py" in names
    # The image has this one.
    assert not [name for name in names if "yaml" in name.lower()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horovod_build_env": {"HOROVOD_BREAK": "1"}}, ["CMake Error: could not find MPI", ".log in the worker"]),
        ({"horovod_version": "0.22.0"}, ["pip could not install horovod==0.22.0"]),
        ({"horovod_version": "0.22.0", "horovod_source": "horovod==0.21.3"}, ["set it to what the source is"]),
        ({"horovod_version": "../x"}, ["expected a version such as 0.21.3"]),
        ({"horovod_source": "/nowhere/horovod.tar.gz"}, ["/nowhere/horovod.tar.gz", "mount its folder"]),
        ({"build_timeout": 0}, ["pip did not end within 0 s: set build_timeout to more"]),
    ],
)
def test_a_build_that_fails_leaves_its_log_and_nothing_else(worker, arm, options, words):
    write_sdist(worker.index)
    worker.give_plugin()
    before = tree_of(worker.lib)
    if options.get("build_timeout") == 0:
        # A pip that takes longer than the shortest limit of a second.
        (worker.site / "sitecustomize.py").write_text("import sys, time\n'-m' in sys.orig_argv and time.sleep(30)\n")
    result = arm(horovod="upstream", plugin="off", **options)
    assert result["failed"], result
    for word in words:
        assert word in result["msg"]
    left = os.listdir(worker.state / "horovod") if (worker.state / "horovod").exists() else []
    assert [name for name in left if not name.endswith(".log")] == []
    assert tree_of(worker.lib) == before


def test_a_build_that_was_killed_is_done_anew(worker, arm):
    write_sdist(worker.index)
    predicted = arm(check=True, horovod="upstream")["after"]["builds"][0]
    os.makedirs(predicted + ".new/horovod")
    os.makedirs(predicted)
    built = arm(horovod="upstream")
    assert built["changed"], built
    assert horovod_in(worker, built["environment"])[0] == "0.21.3"
    assert not os.path.exists(predicted + ".new")


def test_the_environment_of_a_build_is_in_no_answer_and_its_log_is_private(worker, arm):
    write_sdist(worker.index)
    result = arm(horovod="upstream", horovod_build_env={"HOROVOD_TOKEN": "hush"})
    assert "hush" not in json.dumps({key: value for key, value in result.items() if key != "invocation"})
    (log,) = (worker.state / "horovod").glob("*.log")
    assert log.stat().st_mode & 0o777 == 0o600


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


def test_no_pip_is_told_before_anything_is_changed(worker, arm):
    bare = worker.folder / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    worker.give_plugin()
    result = arm(plugin="off", horovod="upstream", python=str(bare / "bin/python"))
    assert result["failed"] and "has no pip" in result["msg"]
    assert worker.plugin.exists()


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
