# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is not true is not written: schemas refuse it, in a library of the standard and in the collection's own check."""

import copy
import json
import os

import jsonschema
import measured
import pytest
import recorded

from ansible_collections.taco.train.plugins.plugin_utils.comparison import store
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read
from ansible_collections.taco.train.plugins.plugin_utils.run import json_schema, record_check
from ansible_collections.taco.train.plugins.plugin_utils.run import record_file as records

NAN, INFINITY = float("nan"), float("inf")


def changed(document, path, value):
    """Return the document with another value at a path such as result.series.0."""
    document = copy.deepcopy(document)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = document
    for key in parents:
        place = place[key]
    place[last] = value
    return document


def library(document, name):
    """Return whether the library of the standard accepts a document, formats not asserted."""
    return not list(jsonschema.Draft202012Validator(json_schema.load(name)).iter_errors(document))


@pytest.fixture(scope="module")
def comparison():
    spec = {"arms": ["harp", "tcp"], "baseline": "tcp", "repeats": 5, "workloads": [{"model": "ResNet50"}]}
    wanted = read(spec, measured.HOSTS, measured.DEFAULTS)
    found = assemble(wanted, measured.records(wanted, {"harp": 120.0, "tcp": 100.0}), "default")
    return json.loads(json.dumps(dict(found, spec=spec)))


@pytest.mark.parametrize("workload", recorded.RUNS)
def test_the_record_of_every_workload_is_valid(workload):
    for record in (recorded.record(workload), recorded.record(workload, text="", job={"rc": 1})):
        record = json.loads(json.dumps(record))
        assert record_check.record_problems(record) == [] and library(record, record_check.RECORD)


BAD_RECORDS = {
    "value is NaN": ("result.value", NAN),
    "value is infinite": ("result.value", INFINITY),
    "value is a truth": ("result.value", True),
    "series has NaN": ("result.series.0", NAN),
    "iterations have NaN": ("result.iterations.0", NAN),
    "total has NaN": ("result.total.ci", NAN),
    "spread has NaN": ("result.spread.p95", NAN),
    "duration is NaN": ("duration_s", NAN),
    "time is a word": ("time", "yesterday"),
    "time without a zone": ("time", "2026-01-31T12:00:00"),
    "no such workload": ("workload", "spell_check"),
    "no slots": ("hosts.0.slots", 0),
    "an unknown key": ("mood", "good"),
    "a good run with a problem": ("problems", ["It burnt."]),
    "a good run without a result": ("result", None),
    "an environment of numbers": ("environment", {"A": 1}),
}
RELATIONS = {
    "ranks unlike the slots": ("ranks", 5),
    "fewest above most": ("result.spread.low", 9e9),
    "no such day": ("time", "2026-02-31T12:00:00Z"),
}


@pytest.mark.parametrize(
    ("path", "value"), [*BAD_RECORDS.values(), *RELATIONS.values()], ids=[*BAD_RECORDS, *RELATIONS]
)
def test_a_record_that_cannot_be_true_is_refused_and_not_written(path, value, tmp_path):
    record = changed(recorded.record("horovod_synthetic"), path, value)
    problems = record_check.record_problems(record)
    assert library(record, record_check.RECORD) == ((path, value) in RELATIONS.values())
    assert problems and path.split(".")[0].split("[")[0] in " ".join(problems) + "outcome mood result problems"
    with pytest.raises(records.RecordError, match="not valid"):
        records.append(str(tmp_path), record)
    # The run is not lost: its record lies beside its log.
    assert os.listdir(tmp_path) == ["logs"] and os.listdir(tmp_path / "logs") == [f"{record['id']}.refused.json"]


def test_a_record_that_is_no_json_is_refused_with_the_place_where_it_is(tmp_path):
    record = changed(recorded.record("command"), "result.details", {"loss": NAN})
    with pytest.raises(
        records.RecordError, match=r"was written to \S+\.refused\.json instead, because .*not JSON compliant"
    ):
        records.append(str(tmp_path), record)
    assert json.loads((tmp_path / "logs" / f"{record['id']}.refused.json").read_text())["result"]["value"] == 810.0


def test_a_value_of_a_millionth_is_not_rounded_to_nothing():
    log = "".join(f"throughput 0.0000{number}\n" for number in (123456, 123457, 123458)) + recorded.NETWORK
    record = recorded.record("command", text=log, unit="s", higher_is_better=False)
    assert record["result"]["value"] == 0.0000123457 and record["result"]["series"][0] == 0.0000123456
    assert record_check.record_problems(record) == []
    tiny = recorded.record("command", text=log.replace("0.0000", "0.00000000"), unit="s", higher_is_better=False)
    assert record_check.record_problems(tiny) == []


def test_a_schema_that_is_not_installed_is_reported_before_a_run(monkeypatch, tmp_path):
    monkeypatch.setattr(json_schema, "SCHEMAS", str(tmp_path))
    json_schema.load.cache_clear()
    with pytest.raises(records.RecordError, match="record-1.json.*ansible-galaxy collection install"):
        records.require_schema()


def test_one_process_has_one_rank_whatever_the_slots():
    for record in (recorded.record("ttf_dynamic_embedding"), recorded.record("command", mpi=False)):
        assert record["ranks"] == 1 and record_check.record_problems(record) == []
        assert "ranks is 4, expected 1" in record_check.record_problems(dict(record, ranks=4))


BAD_COMPARISONS = {
    "better without a ratio": ("cases.0.comparisons.0.ratio", None),
    "better without an interval": ("cases.0.comparisons.0.low", None),
    "a ratio of NaN": ("cases.0.comparisons.0.ratio", NAN),
    "a median of NaN": ("cases.0.arms.0.median", NAN),
    "a run of NaN": ("cases.0.arms.0.runs.0.value", NAN),
    "a confidence of NaN": ("confidence", NAN),
    "no such verdict": ("cases.0.comparisons.0.verdict", "splendid"),
    "begun yesterday": ("started", "yesterday"),
}
UNORDERED = {
    "low above high": ("cases.0.comparisons.0.low", 1e6),
    "low above high of an arm": ("cases.0.arms.0.high", 0.001),
    "better and less than 1": ("cases.0.comparisons.0.ratio", 0.5),
    "ended before it began": ("ended", "2020-01-31T12:00:00Z"),
}


def test_a_comparison_is_valid(comparison, tmp_path):
    assert comparison["cases"][0]["comparisons"][0]["verdict"] == "better"
    assert record_check.comparison_problems(comparison) == [] and library(comparison, record_check.COMPARISON)
    assert os.path.exists(store.keep(str(tmp_path), comparison))


@pytest.mark.parametrize(
    ("path", "value"), [*BAD_COMPARISONS.values(), *UNORDERED.values()], ids=[*BAD_COMPARISONS, *UNORDERED]
)
def test_a_comparison_that_cannot_be_true_is_refused_and_not_written(comparison, path, value, tmp_path):
    wrong = changed(comparison, path, value)
    assert library(wrong, record_check.COMPARISON) == ((path, value) in UNORDERED.values())
    with pytest.raises(records.RecordError, match="not valid"):
        store.keep(str(tmp_path), wrong)
    assert os.listdir(tmp_path) == []


def test_the_own_check_knows_every_keyword_of_the_schemas():
    known = {*json_schema.SIMPLE, *json_schema.PARTS, *json_schema.WORDS, "type", "$ref", "then", "else"}

    def keywords(schema):
        for name, part in schema.items():
            yield name
            if name in ("properties", "$defs"):
                for one in part.values():
                    yield from keywords(one)
            elif name == "oneOf":
                for one in part:
                    yield from keywords(one)
            elif isinstance(part, dict):
                yield from keywords(part)

    for name in (record_check.RECORD, record_check.COMPARISON):
        assert set(keywords(json_schema.load(name))) <= known
