# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The difference of two snapshots: only what both have, and only what grew."""

import pytest
from counted import GPU, results, snapshot

from ansible_collections.taco.train.plugins.plugin_utils.witnesses.difference import (
    difference,
    differences,
    same_network,
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


@pytest.mark.parametrize("absent", ["nics", "tcp", "cpu", "throttling"])
def test_counters_that_could_not_be_read_are_not_known(absent):
    found = difference(snapshot(**{absent: {}}), snapshot(9, 160.0))
    keys = {"nics": ["nics"], "tcp": ["segments", "retransmits"], "cpu": ["steal", "idle"]}
    for key in keys.get(absent, ["throttled_seconds"]):
        unknown = {"eth0": dict.fromkeys(("sent", "received", "drops", "errors"))} if key == "nics" else None
        assert found[key] == unknown
    assert found["seconds"] == 60.0 and difference(snapshot(uptime=None), snapshot(9, 160.0))["seconds"] is None


@pytest.mark.parametrize("pair", [{"before": {}, "after": {}}, {"before": None, "after": None}])
def test_hosts_without_counters_have_no_difference(pair):
    assert differences({"a": pair}) == {"a": None} and same_network({"a": pair}) == []
