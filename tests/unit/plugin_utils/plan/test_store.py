# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file of a plan is read as it was written, and refused when it is edited, truncated or of another fleet."""

import json

import jsonschema
import pytest
from guides import COLLECTION
from hypothesis import given
from hypothesis import strategies as st
from planned import CHANGES, NO_REBOOT, plan

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import as_read, canonical
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import (
    PlanError,
    change_of_document,
    document,
    read,
    render,
    require_same_fleet,
    whole_change,
)

TEXTS = st.text(st.characters(exclude_categories=[])) | st.sampled_from(["\ud800", "\ud83d\ude00", "\U0001f600"])
KEYS = TEXTS | st.integers() | st.booleans() | st.none()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.dates() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


@given(VALUES, TEXTS)
def test_any_value_is_read_as_it_was_written(value, text):
    assert canonical(as_read(value)) == canonical(value)
    part = CHANGES[0].parts[0]._replace(after=text)
    change = CHANGES[0]._replace(parts=(part,))
    found = read(render(plan({"gpu1": (change,)})).encode().decode(), "plan.json").hosts["gpu1"][0]
    assert found.parts[0].after.encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


def test_a_plan_is_valid_by_its_schema_and_read_as_it_was_written():
    written = plan()
    schema = json.loads((COLLECTION / "docs/schemas/plan-2.json").read_text())
    jsonschema.validate(document(written), schema)
    found = read(render(written), "plan.json")
    assert found.hosts["gpu1"] == written.hosts["gpu1"] and found.reboots == NO_REBOOT
    assert found.identities == written.identities
    assert [change_of_document(json.loads(json.dumps(whole_change(change)))) for change in CHANGES] == list(CHANGES)


def edited(**values):
    return json.dumps({**json.loads(render(plan())), **values})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "plan.json is empty"),
        (render(plan())[:-200], "plan.json is truncated"),
        ("[]", "is not a plan of taco.train"),
        ("[" * 100_000, "its JSON is nested too deeply"),
        ('{"schema": 1, "digest": ' + '{"a": ' * 100_000 + "0" + "}" * 100_001, "its JSON is nested too deeply"),
        ('{"changed": true}', "is not a plan of taco.train"),
        (edited(schema=1), "has schema 1, expected 2"),
        (edited(changes=0), "was edited after it was written"),
        (render(plan()).replace("hugepages=50", "hugepages=60"), "was edited after it was written"),
    ],
)
def test_a_file_that_is_not_what_was_written_is_refused(text, words):
    with pytest.raises(PlanError) as refused:
        read(text, "plan.json")
    assert words in str(refused.value) and "taco.train.plan" in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rollback", "1.0.0", ["gpu1"], {"gpu1": "gpu1"}), "is a plan of the playbook site, expected rollback"),
        (("site", "1.1.0", ["gpu1"], {"gpu1": "gpu1"}), "was created by taco.train 1.0.0, this is taco.train 1.1.0"),
        (("site", "1.0.0", ["gpu2"], {"gpu2": "gpu2"}), "is of another inventory, which has gpu1"),
        (("site", "1.0.0", ["gpu1"], {"gpu1": "10.0.0.9"}), "gpu1 has the address 10.0.0.9, in the plan gpu1"),
    ],
)
def test_a_plan_of_another_fleet_is_refused(arguments, words):
    with pytest.raises(PlanError) as refused:
        require_same_fleet(plan(), "plan.json", *arguments)
    assert words in str(refused.value)


def test_other_hosts_of_the_inventory_do_not_matter():
    require_same_fleet(plan(), "plan.json", "site", "1.0.0", ["gpu1", "web1"], {"gpu1": "gpu1"})
