# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records are whole lines, whatever was there before; `latest` is a link or an error."""

import json
import os

import pytest
import recorded

from ansible_collections.taco.train.plugins.plugin_utils.run import record_file, store
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError


def test_what_is_added_is_read_back_in_order(tmp_path):
    run_dir = str(tmp_path / "results/run")
    for number in range(3):
        record_file.append(run_dir, recorded.record("horovod_synthetic", suffix=f"{number}", label="a\nb é"))
    assert len((tmp_path / "results/run/records.jsonl").read_bytes().splitlines()) == 3
    found, problems = store.read(run_dir)
    assert [record["id"][-2:] for record in found] == ["-0", "-1", "-2"] and problems == []


def test_a_line_cut_by_a_crash_does_not_take_the_next_one_with_it(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"schema": 1, "number": 0}\n{"schema": 1, "num')
    record_file.append(str(tmp_path), recorded.record("horovod_synthetic"))
    found, problems = store.read(str(tmp_path))
    assert [record.get("number") for record in found] == [0, None]
    assert problems == ["Line 2 of records.jsonl is not a record of schema 1."]


@pytest.mark.parametrize("line", ["[]", "5", '{"schema": 2}', "{}", "\x00"])
def test_lines_that_are_no_records_are_named(tmp_path, line):
    (tmp_path / "records.jsonl").write_text(line + "\n")
    assert store.read(str(tmp_path)) == ([], ["Line 1 of records.jsonl is not a record of schema 1."])


def test_no_records_are_no_error(tmp_path):
    assert store.read(str(tmp_path)) == ([], [])


def test_latest_is_replaced_and_relative(tmp_path):
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        store.point_latest(str(tmp_path / run) + "/")
        assert os.readlink(tmp_path / "latest") == run
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "one", "two"]


def test_latest_is_made_after_a_process_with_the_same_number_was_killed(tmp_path, monkeypatch):
    def killed(*_arguments):
        raise KeyboardInterrupt

    (tmp_path / "run").mkdir()
    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(store.os, "replace", killed)
        store.point_latest(str(tmp_path / "run"))
    store.point_latest(str(tmp_path / "run"))
    assert os.readlink(tmp_path / "latest") == "run"


def test_a_folder_named_latest_is_left_alone(tmp_path):
    (tmp_path / "latest").mkdir()
    (tmp_path / "run").mkdir()
    with pytest.raises(RecordError, match="in the way"):
        store.point_latest(str(tmp_path / "run"))
    assert (tmp_path / "latest").is_dir()


def test_a_file_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "logs/a.log"
    store.write_text(str(path), "one\r\n", 0o600)
    store.write_text(str(path), "two\udcff\n", 0o600)
    assert path.read_bytes() == b"two?\n" and path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["a.log"]


def test_a_folder_that_cant_be_made_names_the_variable(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="taco_results_dir"):
        store.make_directory(str(tmp_path / "file/run"))


def test_an_id_sorts_by_time_and_is_a_file_name():
    assert record_file.record_id("2026-01-31T12:00:00.123456Z", "taco", "abc") == "20260131T120000Z-taco-abc"


@pytest.mark.parametrize("node", [None, {}, {"gpus": None, "hugepages": None, "container_engine": None}])
def test_facts_that_are_not_there_are_null(node):
    system = record_file.system_of(node)
    if node is None:
        assert system is None
    else:
        assert (system["gpus"], system["hugepages"], system["engine"]) == (None, [], None)
        json.dumps(system)


def test_a_record_is_replaced_and_everything_else_stays(tmp_path):
    path, run_dir = tmp_path / "records.jsonl", str(tmp_path)
    for number in range(2):
        record_file.append(run_dir, recorded.record("horovod_synthetic", suffix=f"{number}"))
    damaged = b'{"schema": 1, "id": "cut\xff\n\n[]\n'
    path.write_bytes(damaged + path.read_bytes())
    path.chmod(0o640)
    lines = path.read_bytes().splitlines(keepends=True)
    changed = dict(store.read(run_dir)[0][0], notes=["new"])
    record_file.replace(run_dir, [changed])
    after = path.read_bytes().splitlines(keepends=True)
    assert path.stat().st_mode & 0o777 == 0o640
    assert after[:3] == lines[:3] and after[4] == lines[4] and json.loads(after[3]) == changed


def test_records_that_are_added_while_others_are_replaced_are_kept(tmp_path):
    run_dir = str(tmp_path)
    first = recorded.record("horovod_synthetic", suffix="abcdef")
    record_file.append(run_dir, first)
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            for part in range(10):
                record_file.append(run_dir, recorded.record("horovod_synthetic", suffix=f"{number}{part}"))
                record_file.replace(run_dir, [dict(first, notes=[f"{number}"])])
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    found, problems = store.read(run_dir)
    assert len({record["id"] for record in found}) == len(found) == 41 and problems == []


def test_a_record_that_the_schema_refuses_replaces_nothing(tmp_path):
    record = recorded.record("horovod_synthetic")
    record_file.append(str(tmp_path), record)
    with pytest.raises(RecordError, match="refused.json"):
        record_file.replace(str(tmp_path), [dict(record, ranks=0)])
    assert [one["ranks"] for one in store.read(str(tmp_path))[0]] == [16]
