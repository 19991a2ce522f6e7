# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The difference of two snapshots: only what both have, only what grew, and no wrong type ends in an error."""

import copy

import pytest
from counted import GPU, results, snapshot
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.plugin_utils.witnesses.difference import (
    difference,
    differences,
    same_network,
)

ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def test_a_host_has_the_growth_of_each_counter():
    after = snapshot(
        5000, 160.0, cpu={"total": 3000, "idle": 1500, "steal": 20}, tcp={"OutSegs": 1500, "RetransSegs": 5}
    )
    peer = {
        "peer": "10.0.0.2",
        "connections": 1,
        "sent": 9,
        "received": 8,
        "retransmits": 0,
        "seconds": 5.0,
        "busy": 1.5,
    }
    found = difference(snapshot(1000), after, {"peers": [peer]})
    assert found == {
        "seconds": 60.0,
        "nics": {"eth0": {"sent": 4000, "received": 4000, "drops": 0, "errors": 0}},
        "segments": 500,
        "retransmits": 5,
        "steal": 0.01,
        "idle": 0.5,
        "throttled_seconds": 0.0,
        "peers": [peer],
        "gpus": None,
        "xids": None,
    }


def test_a_counter_that_was_reset_is_not_known():
    found = difference(snapshot(1000), snapshot(10, 160.0))
    assert found["nics"] == {"eth0": {"sent": None, "received": None, "drops": 0, "errors": 0}}


def test_an_interface_that_is_there_only_once_is_not_known():
    for pair in ((("eth0",), ("eth0", "eth1")), (("eth0", "eth1"), ("eth0",))):
        found = difference(snapshot(0, interfaces=pair[0]), snapshot(9, 160.0, interfaces=pair[1]))
        assert found["nics"]["eth1"]["sent"] is None and found["nics"]["eth0"]["sent"] == 9


@pytest.mark.parametrize(
    "changes",
    [{"boot_id": "other"}, {"namespace": "net:[9]"}, {"boot_id": ""}, {"namespace": None}, {"init_started": 5513}],
)
def test_snapshots_of_another_boot_namespace_or_pod_have_no_difference(changes):
    assert difference(snapshot(), snapshot(9, 160.0, **changes)) is None


def test_memory_errors_are_new_only_where_they_were_counted_before():
    gpus = {GPU: {"uncorrected": 4, "corrected": 1, "reasons": []}}
    load = {"gpus": {GPU: {"clock": 1400, "clock_max": 1980, "temperature": 60, "reasons": ["power cap"]}}}
    first = difference(snapshot(gpus=None), snapshot(gpus=gpus), load)
    assert first["gpus"] == {GPU: {"clock": 1400, "clock_max": 1980, "temperature": 60, "reasons": ["power cap"]}}
    before = {GPU: {"uncorrected": 3, "corrected": 1, "reasons": []}}
    assert difference(snapshot(gpus=before), snapshot(gpus=gpus))["gpus"][GPU]["uncorrected"] == 1


def test_only_errors_after_the_first_snapshot_are_new():
    xids = [{"uptime": 50.0, "text": "old"}, {"uptime": 130.0, "text": "NVRM: Xid 79"}]
    assert difference(snapshot(xids=[]), snapshot(uptime=160.0, xids=xids))["xids"] == ["NVRM: Xid 79"]


def test_hosts_with_the_same_network_are_named():
    pair = results(snapshot(), snapshot())
    assert same_network({"a": pair, "b": pair, "c": results(snapshot(namespace="net:[2]"), snapshot())}) == [["a", "b"]]


@given(st.data())
def test_no_wrong_type_ends_in_an_error(data):
    documents = [snapshot(), snapshot(9, 160.0, gpus={GPU: {"uncorrected": 1}}, xids=[{"uptime": 150.0, "text": "x"}])]
    samples = {"peers": [{"peer": "a", "sent": 1}], "gpus": {GPU: {"clock": 1, "reasons": []}}}
    changed = copy.deepcopy(data.draw(st.sampled_from([*documents, samples])))
    part = changed
    for _level in range(data.draw(st.integers(0, 2))):
        inner = (
            [value for value in part.values() if isinstance(value, dict) and value] if isinstance(part, dict) else []
        )
        part = data.draw(st.sampled_from(inner)) if inner else part
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(ODD)
    for before, after, more in (
        (changed, documents[1], samples),
        (documents[0], changed, samples),
        (documents[0], documents[1], changed),
    ):
        difference(before, after, more)
    assert set(differences({"a": {"before": {"counters": changed}, "after": data.draw(ODD)}})) == {"a"}


@pytest.mark.parametrize("value", [None, [], {}, {"a": None}, {"a": {"before": {}, "after": {}}}, "x"])
def test_hosts_without_counters_have_no_difference(value):
    assert all(one is None for one in differences(value).values()) and same_network(value) == []
