# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The worker's part, killed before each of its steps that last, and run again."""

import fcntl
import os
import shutil
import signal

import pytest
from fake_worker import Worker, facts_of, tree_of, worker_options, write_sdist
from killed_steps import killed_before

from ansible_collections.taco.train.plugins.module_utils._acceleration import nccl_plugin, observation
from ansible_collections.taco.train.plugins.module_utils._acceleration import worker as acceleration_worker
from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_build import Builder
from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_prefix import BUILD_FILE
from ansible_collections.taco.train.plugins.module_utils._process.running_work import Work

# Every call that leaves something behind, beside those that killed_steps counts.
LASTING = [(os, name) for name in ("symlink", "utime", "fchown", "sync")]


@pytest.fixture
def worker(tmp_path, monkeypatch):
    made = Worker(tmp_path)
    monkeypatch.setattr(nccl_plugin, "OTHER_FOLDERS", (str(made.mnt), str(tmp_path / "root")))
    # What this machine has is asked once.
    packages = observation.find_packages()
    monkeypatch.setattr(observation, "find_packages", lambda: packages)
    monkeypatch.setattr(observation, "find_elsewhere", lambda path: [])
    yield made
    made.close()


def ends_before(number, options, monkeypatch):
    """Whether the worker's part reached its nth lasting call, before which it ended; one that did not has no error."""

    def work():
        result = acceleration_worker.main(options)
        assert "error" not in result, result

    return killed_before(number, work, monkeypatch, LASTING)


# The place of the plugin first, then what is called, the last of which is killed and called again.
WAYS = {
    "off": ("lib/libnccl-net.so", [{"plugin": "off"}]),
    "on again": ("lib/libnccl-net.so", [{"plugin": "off"}, {"plugin": "on"}]),
    "restored": ("lib/libnccl-net.so", [{"plugin": "off"}, {"state": "restored"}]),
    "on from another file system": ("mnt", [{"plugin": "on"}]),
    "off to another file system": ("mnt", [{"plugin": "on"}, {"plugin": "off"}]),
    "restored to another file system": ("mnt", [{"plugin": "on"}, {"state": "restored"}]),
}


@pytest.mark.parametrize(
    ("way", "link", "again"),
    # To call what restores again is to restore; a link is another thing than a file only where it is copied.
    [(way, False, again) for way in WAYS for again in (True, False) if not again or "restored" not in way]
    + [(way, True, "restored" not in way) for way in list(WAYS)[3:]],
)
def test_killed_at_any_step_it_goes_on_where_it_was_and_can_be_restored(worker, monkeypatch, way, link, again):
    place, calls = WAYS[way]
    path = worker.mnt / "libnccl-net.so" if place == "mnt" else worker.folder / place
    if link:
        path.symlink_to(worker.give_plugin(worker.folder / "harp.so"))
        os.utime(path, ns=(1_500_000_000_000_000_001, 1_500_000_000_000_000_003), follow_symlinks=False)
    else:
        worker.give_plugin(path)
    first = tree_of(worker.lib, worker.mnt)
    number = 0
    reached = True
    while reached:
        number += 1
        for options in calls[:-1]:
            assert "error" not in acceleration_worker.main(worker_options(worker, **options))
        last = worker_options(worker, **calls[-1])
        reached = ends_before(number, last, monkeypatch)
        # Whole at every moment, under one of its names.
        assert any(facts == first[str(path)] for facts in tree_of(worker.lib, worker.mnt).values())
        if again:
            result = acceleration_worker.main(last)
            assert "error" not in result, (number, result)
            settled = tree_of(worker.lib, worker.mnt)
            assert list(settled.values()) == [first[str(path)]], (number, settled)
            assert calls[-1].get("plugin") in (None, result["after"]["plugin"]["state"])
        back = acceleration_worker.main(worker_options(worker, state="restored"))
        assert "error" not in back, (number, back)
        assert tree_of(worker.lib, worker.mnt) == first, number
        assert os.listdir(worker.state) == []
    # A record, its name, the move and its name at least.
    assert number > 6


def test_a_process_that_is_killed_does_not_keep_the_next_one_waiting(worker, monkeypatch):
    path = worker.give_plugin(worker.mnt / "libnccl-net.so")
    first = tree_of(worker.lib, worker.mnt)
    child = os.fork()
    if child == 0:
        unlink = os.unlink
        # Both names are there then.
        os.unlink = lambda name: os.kill(os.getpid(), signal.SIGKILL) if name == str(path) else unlink(name)
        acceleration_worker.main(worker_options(worker, plugin="on"))
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert path.exists() and worker.plugin.exists()
    monkeypatch.setattr(acceleration_worker, "LOCK_SECONDS", 0)
    assert "error" not in acceleration_worker.main(worker_options(worker, state="restored"))
    assert tree_of(worker.lib, worker.mnt) == first and os.listdir(worker.state) == []


def test_a_build_killed_at_any_step_is_whole_or_not_there(worker, monkeypatch):
    write_sdist(worker.index)
    options = worker_options(worker, horovod="upstream")
    [prefix] = acceleration_worker.main(options)["after"]["builds"]
    built, answers, ask = worker.folder / "built", {}, Builder.python
    shutil.copytree(prefix, built)
    (built / BUILD_FILE).unlink()
    acceleration_worker.main(worker_options(worker, state="absent"))

    def python(builder, *words):
        if words not in answers:
            answers[words] = ask(builder, *words)
        return answers[words]

    # What pip installs is the same each time, and so is what Python says of it.
    monkeypatch.setattr(Builder, "pip", lambda builder, *words, **more: shutil.copytree(built, builder.unfinished))
    monkeypatch.setattr(Builder, "python", python)
    number, reached = 0, True
    while reached:
        number += 1
        reached = ends_before(number, options, monkeypatch)
        seen = acceleration_worker.ensure(options, check_mode=True)
        for prefix in seen["before"]["builds"]:
            assert sorted(os.listdir(prefix)) == ["horovod", "horovod-0.21.3.dist-info", BUILD_FILE]
        # Its last step is the name; before that it has to be built again.
        assert seen["changed"] != bool(seen["before"]["builds"])
        if seen["before"]["builds"]:
            acceleration_worker.main(worker_options(worker, state="absent"))
    assert number > 5


def test_a_copy_cut_short_is_not_taken_for_the_plugin(worker):
    worker.give_plugin(worker.mnt / "libnccl-net.so")
    first = tree_of(worker.lib, worker.mnt)
    (worker.lib / ".libnccl-net.so.taco-train.tmp").write_bytes(b"\x7fEL")
    on = acceleration_worker.main(worker_options(worker, plugin="on"))
    assert on["changed"] and os.listdir(worker.lib) == ["libnccl-net.so"]
    acceleration_worker.main(worker_options(worker, state="restored"))
    assert tree_of(worker.lib, worker.mnt) == first


def test_two_calls_do_not_mix(worker, monkeypatch):
    worker.give_plugin()
    worker.state.mkdir()
    monkeypatch.setattr(acceleration_worker, "LOCK_SECONDS", 0.2)
    holder = os.open(worker.state, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    answer = acceleration_worker.main(worker_options(worker, plugin="off"))
    os.close(holder)
    assert "another run has been changing the acceleration" in answer["error"]
    assert worker.plugin.exists()
    assert acceleration_worker.main(worker_options(worker, plugin="off"))["changed"]


def test_a_full_or_read_only_file_system_is_told_with_its_path(worker, monkeypatch):
    worker.give_plugin()
    before = facts_of(worker.plugin)

    def refuse(source, target):
        raise OSError(30, "Read-only file system", source)

    monkeypatch.setattr(acceleration_worker, "move_file", refuse)
    answer = acceleration_worker.main(worker_options(worker, plugin="off"))
    assert answer == {"error": f"{worker.plugin}: Read-only file system"}
    assert facts_of(worker.plugin) == before


def test_a_copy_that_was_made_by_hand_does_not_hide_where_the_plugin_went(worker):
    worker.give_plugin(worker.mnt / "libnccl-net.so")
    acceleration_worker.main(worker_options(worker, plugin="on"))
    worker.give_plugin(worker.lib / "bak.libnccl-net.so", b"an older one")
    predicted = acceleration_worker.ensure(worker_options(worker, plugin="off"), check_mode=True)
    done = acceleration_worker.main(worker_options(worker, plugin="off"))
    assert done == predicted
    assert (worker.mnt / "libnccl-net.so").exists() and not worker.plugin.exists()


def test_a_link_that_leads_nowhere_from_its_own_place_is_told(worker):
    (worker.mnt / "libnccl-net.so").symlink_to("no-such-library")
    answer = acceleration_worker.main(worker_options(worker, plugin="on"))
    assert "a link to a file that is not there" in answer["error"]
    assert "error" not in acceleration_worker.main(worker_options(worker, state="restored"))
    assert list(tree_of(worker.lib, worker.mnt)) == [str(worker.mnt / "libnccl-net.so")]


SWITCHES = [{"plugin": "off"}, {"state": "restored"}, {"state": "absent"}, {"horovod": "upstream"}]


@pytest.mark.parametrize("options", SWITCHES, ids=str)
def test_a_change_under_running_work_is_refused_with_the_processes_and_nothing_changes(worker, monkeypatch, options):
    worker.give_plugin()
    write_sdist(worker.index)
    if "state" in options:
        acceleration_worker.main(worker_options(worker, plugin="off"))
    work = [Work(920, "root", "mpirun -np 16 python3 train.py", "container box")]
    monkeypatch.setattr(acceleration_worker, "worker_work", lambda folders, place, seconds: work)
    before = tree_of(worker.lib, worker.mnt)
    answer = acceleration_worker.main(worker_options(worker, **options))
    for words in (
        "mpirun -np 16 python3 train.py (pid 920, user root, container box)",
        "taco_interrupt_running_work: true",
    ):
        assert words in answer["error"]
    assert tree_of(worker.lib, worker.mnt) == before and not (worker.state / "horovod").exists()
    foretold = acceleration_worker.main(worker_options(worker, check_mode=True, **options))
    assert foretold["changed"] and "(pid 920" in foretold["warnings"][0]
    assert tree_of(worker.lib, worker.mnt) == before and not (worker.state / "horovod").exists()
    done = acceleration_worker.main(worker_options(worker, interrupt_running_work=True, **options))
    assert done["changed"] and "(pid 920" in done["warnings"][0]


def test_an_arm_that_is_in_force_asks_for_no_running_work(worker, monkeypatch):
    worker.give_plugin()
    acceleration_worker.main(worker_options(worker, plugin="off"))
    monkeypatch.setattr(acceleration_worker, "worker_work", lambda folders, place, seconds: pytest.fail("inspected"))
    again = acceleration_worker.main(worker_options(worker, plugin="off"))
    assert not again["changed"] and again["warnings"] == []


def test_builds_that_cannot_be_removed_are_named_and_the_others_are_removed(worker, monkeypatch):
    folder = worker.state / "horovod"
    names = [f"horovod-0.21.3-{letter * 12}" for letter in "abc"]
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "taco-train-build.json").write_text("{}")
    rmtree = shutil.rmtree

    def one_is_busy(path, *words, **options):
        if path.endswith(names[1]):
            raise OSError(16, "Device or resource busy", path)
        rmtree(path, *words, **options)

    monkeypatch.setattr(shutil, "rmtree", one_is_busy)
    answer = acceleration_worker.main(worker_options(worker, state="absent"))
    assert f"{folder / names[1]} (Device or resource busy)" in answer["error"]
    assert os.listdir(folder) == [names[1]]
    monkeypatch.undo()
    assert acceleration_worker.main(worker_options(worker, state="absent"))["changed"]
    assert not folder.exists()


def test_workers_that_share_the_builds_do_not_build_and_remove_at_the_same_time(worker, monkeypatch):
    worker.give_plugin()
    builds = worker.folder / "shared"
    (builds / "horovod-0.21.3-aaaaaaaaaaaa").mkdir(parents=True)
    monkeypatch.setattr(acceleration_worker, "LOCK_SECONDS", 0.2)
    holder = os.open(builds, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    for options in ({"state": "absent"}, {"horovod": "upstream"}):
        answer = acceleration_worker.main(worker_options(worker, prefix_dir=str(builds), **options))
        assert "another run has been building or removing Horovod" in answer["error"]
    # The plugin is its own.
    assert acceleration_worker.main(worker_options(worker, prefix_dir=str(builds), plugin="off"))["changed"]
    os.close(holder)
    assert acceleration_worker.main(worker_options(worker, prefix_dir=str(builds), state="absent"))["changed"]
