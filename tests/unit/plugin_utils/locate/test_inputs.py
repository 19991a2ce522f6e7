# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the variables of a search, of its file, and of the facts in which few hosts differ."""

import json

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget
from ansible_collections.taco.train.plugins.plugin_utils.locate import store
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.inputs import (
    boundaries_of,
    hardware_of,
    hosts_of,
    odd_ones,
    require_one_interface,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search, SearchError
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError

NAMES = [f"n{number}" for number in range(6)]


def test_hosts_are_those_of_the_play():
    assert hosts_of([{"name": "a"}, {"name": "b"}], ["a", "b", "c"]) == ("a", "b")
    with pytest.raises(SearchError, match="10.0.0.1 is no host of the play.*benchmark_hosts"):
        hosts_of([{"name": "10.0.0.1"}], ["a"])


def test_boundaries_are_variables_of_the_hosts():
    racks = {"a": "r1", "b": 2}
    assert boundaries_of(["rack"], ["a", "b"], lambda host, _name: racks[host]) == {"rack": {"a": "r1", "b": "2"}}


ZONE, RACK, SPINE = "topology.kubernetes.io/zone", "example.com/rack", "network.topology.nvidia.com/spine"


@pytest.mark.parametrize(
    ("labels", "boundaries"),
    [
        ({ZONE: "aabb"}, {ZONE: "aabb"}),
        ({ZONE: "aaab"}, {ZONE: "aaab"}),
        ({RACK: "aabb", "rack": "abab", SPINE: "abbb"}, {RACK: "aabb", "rack": "abab", SPINE: "abbb"}),
        # The same groups under two names.
        ({"failure-domain.beta.kubernetes.io/zone": "xxyy", ZONE: "1122", RACK: "aabb"}, {ZONE: "1122"}),
        # All in one group, each alone, and one without the label.
        ({ZONE: "aaaa"}, {}),
        ({SPINE: "abcd"}, {}),
        ({ZONE: "aab "}, {}),
        ({"kubernetes.io/arch": "aabb", "topology.ebs.csi.aws.com/zone": "aabb"}, {}),
        ({}, {}),
    ],
)
def test_topology_labels_that_divide_the_hosts_are_boundaries_where_none_are_declared(labels, boundaries):
    hosts = ["h0", "h1", "h2", "h3"]
    nodes = {
        host: {name: values[place] for name, values in labels.items() if values[place] != " "}
        for place, host in enumerate(hosts)
    }
    found = boundaries_of(None, hosts, lambda host, name: {"node_labels": nodes[host]} if name == "taco_pod" else None)
    assert {name: "".join(values[host] for host in hosts) for name, values in found.items()} == boundaries
    assert boundaries_of([], hosts, lambda host, _name: {"node_labels": nodes[host]}) == {}


def test_hosts_that_are_no_pods_have_no_boundaries_of_their_own():
    assert boundaries_of("", ["a", "b"], lambda _host, _name: None) == {}


@pytest.mark.parametrize(
    ("names", "value", "text"),
    [
        ({"rack": 1}, "r1", "must be a list of names of host variables"),
        ("rack", "r1", "must be a list of names of host variables"),
        ([1], "r1", "must be a list of names of host variables"),
        (["rack"], None, "a has no variable rack"),
        (["rack"], ["r1"], "rack of a is"),
    ],
)
def test_other_types_of_boundaries_are_refused(names, value, text):
    with pytest.raises(SearchError, match=text):
        boundaries_of(names, ["a"], lambda _host, _name: value)


@pytest.mark.parametrize(
    ("variables", "refused"),
    [
        ({"a": {"taco_interface": "eth0"}, "b": {"taco_interface": "eth9"}}, True),
        ({"a": {"taco_interface": "eth0"}, "b": {"taco_interface": "eth0", "benchmark_interface": "eth9"}}, True),
        ({"a": {"taco_interface": "eth9", "benchmark_interface": "eth0"}, "b": {"benchmark_interface": "eth0"}}, False),
        ({"a": {}, "b": {}}, False),
        # The play itself names the interface of the runs.
        ({"a": {"taco_interface": "eth7"}, "b": {"taco_interface": "eth9"}}, False),
    ],
)
def test_a_host_with_another_interface_than_that_of_the_runs_is_refused(variables, refused):
    def required():
        require_one_interface("eth0", ["a", "b"], lambda host, name: variables[host].get(name))

    if refused:
        with pytest.raises(SearchError, match="b has the interface eth9, and a has eth0.*set benchmark_interface"):
            required()
    else:
        required()


def test_pods_are_hosts_of_the_inventory_without_the_domain_of_their_job():
    hosts = [{"name": f"j-worker-{number}.j.ns.svc", "slots": 8} for number in range(2)]
    assert hosts_of(hosts, ["j-worker-0", "j-worker-1"]) == ("j-worker-0", "j-worker-1")
    assert hosts_of([{"name": "gpu1.example.com"}], ["gpu1.example.com"]) == ("gpu1.example.com",)
    assert "8 ranks" in hardware_of({"j-worker-0": {}}, hosts)["j-worker-0"]


def test_hosts_of_other_hardware_have_another_text():
    gpus = {"count": 2, "devices": [{"name": "V100"}]}
    found = hardware_of({"a": {"gpus": gpus}, "b": {"gpus": gpus}, "c": {}}, [{"name": "a", "slots": 2}])
    assert found["a"] != found["c"] and "2 GPUs V100" in found["b"]


def node(driver="535.1", mtu=9000):
    nics = [{"name": "eth0", "mtu": mtu, "mac": "aa"}]
    disk = {"engine_free_bytes": object(), "observed_at": object()}
    return {"gpus": {"driver_version": driver}, "nics": nics, "hostname": object(), "sysctls": ["a", "b"], "disk": disk}


def test_the_minority_of_hosts_is_named_without_a_reference():
    nodes = dict.fromkeys(NAMES, node())
    nodes["n4"] = node(driver="470.2")
    nodes["n5"] = node(mtu=1500)
    found = {one.facet: (one.usual, one.hosts) for one in odd_ones(nodes)}
    assert found == {"gpus.driver_version": ("535.1", {"n4": "470.2"}), "nics.eth0.mtu": ("9000", {"n5": "1500"})}


def test_no_majority_and_few_hosts_name_nobody():
    half = {name: node(mtu=1500 if place % 2 else 9000) for place, name in enumerate(NAMES)}
    assert odd_ones(half) == []
    assert odd_ones({"a": node(), "b": node(mtu=1500)}) == []
    assert odd_ones({"a": {}, "b": None}) == []


def record(number, hosts, value):
    result = {"value": value, "higher_is_better": True} if value else None
    names = [{"name": host, "slots": 1} for host in hosts]
    return {
        "case": {"id": f"round {number}"},
        "hosts": names,
        "result": result,
        "problems": ["it broke"],
        "duration_s": 2.0,
    }


def test_a_search_that_version_1_0_interrupted_is_the_same_one():
    options = {"workload": "horovod_synthetic", "arm": ARMS["tcp"].document()}
    identity = "571fe139fef9cdbc296fa2e27355228365cbe6a5ff98f74063e2a1698aadc609"
    assert store.fingerprint(Search(("a", "b")), options) == identity


def test_a_search_is_kept_found_again_and_continued(tmp_path):
    search, folder = Search(tuple(NAMES), budget=Budget(rounds=2)), tmp_path / "20261124T000000.000000Z-locate"
    folder.mkdir()
    identity = store.fingerprint(search, {"workload": "command"})
    search, found = store.step(search)
    store.keep(str(folder), search, None, identity, [], True)
    again, left = store.unfinished(str(tmp_path), Search(tuple(NAMES), budget=Budget(rounds=9)), identity, pytest.fail)
    assert again == str(folder) and left.rounds == search.rounds and left.budget.rounds == 9
    assert store.unfinished(str(tmp_path), search, "another", pytest.fail) is None
    # After a killed round what has no record is open; after a round that was run it failed.
    records = [record(1, ["n0"], 5.0), record(1, ["n1"], None)]
    killed = store.with_records(left, records, complete=False)
    assert [run.done for run in killed.rounds[0].runs] == [True, True, False, False, False, False]
    complete = store.with_records(left, records, complete=True)
    assert all(run.done for run in complete.rounds[0].runs)
    assert complete.rounds[0].runs[1].reason == "it broke" and "n5 did not run it" in complete.rounds[0].runs[5].reason


def test_a_file_that_its_schema_refuses_is_not_a_search(tmp_path):
    (tmp_path / "locate.json").write_text(json.dumps({"schema": 2}))
    with pytest.raises(RecordError, match="is not a search"):
        store.load(str(tmp_path))


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2}', "", "\udcff"])
def test_a_corrupt_file_does_not_block_a_new_search(tmp_path, text):
    search, old, corrupt = (
        Search(tuple(NAMES)),
        tmp_path / "20261124T000000.000000Z-locate",
        tmp_path / "20261125-locate",
    )
    old.mkdir()
    corrupt.mkdir()
    identity = store.fingerprint(search, {})
    store.keep(str(old), store.step(search)[0], None, identity, [], True)
    (corrupt / "locate.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    warnings = []
    folder, _left = store.unfinished(str(tmp_path), search, identity, warnings.append)
    assert folder == str(old)
    (warning,) = warnings
    assert str(corrupt) in warning and "locate_fresh: true" in warning


def test_a_run_of_a_host_that_is_not_in_the_search_is_refused(tmp_path):
    search = Search(tuple(NAMES))
    path = store.keep(str(tmp_path), store.step(search)[0], None, "f", [], True)
    value = json.loads((tmp_path / "locate.json").read_text())
    value["search"]["rounds"][0]["runs"][0]["hosts"] = ["n9"]
    (tmp_path / "locate.json").write_text(json.dumps(value))
    with pytest.raises(RecordError, match=f"{path} is not a search: n9"):
        store.load(str(tmp_path))


@pytest.mark.parametrize("numbers", [[2], [1, 1], [1, 3]])
def test_a_search_of_which_a_round_was_removed_or_repeated_by_hand_is_refused(tmp_path, numbers):
    search = store.step(Search(tuple(NAMES)))[0]
    rounds = tuple(search.rounds[0]._replace(number=number) for number in numbers)
    store.keep(str(tmp_path), search._replace(rounds=rounds), None, "f", [], True)
    with pytest.raises(RecordError, match="is not a search: its rounds have the numbers"):
        store.load(str(tmp_path))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["search", "hosts"], []),
        (["search", "effect"], 0),
        (["search", "effect"], 0.95),
        (["search", "rates", "miss"], 2),
        (["search", "rates", "more"], 1),
        (["search", "budget", "minutes"], 0),
        (["search", "budget", "rounds"], 0),
        (["search", "budget", "runs"], 3),
        (["search", "expected"], -1),
        (["search", "rounds", 0, "number"], 0),
        (["search", "rounds", 0, "runs"], []),
        (["search", "rounds", 0, "runs", 0, "value"], 0),
        (["search", "rounds", 0, "runs", 0, "hosts"], []),
        (["search", "rounds", 0, "runs", 0, "seconds"], -1),
        (["more"], 1),
    ],
    ids=str,
)
def test_a_value_outside_its_limits_is_no_search(tmp_path, path, value):
    store.keep(str(tmp_path), store.step(Search(tuple(NAMES)))[0], None, "f", [], True)
    kept = json.loads((tmp_path / "locate.json").read_text())
    part = kept
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    (tmp_path / "locate.json").write_text(json.dumps(kept))
    with pytest.raises(RecordError, match="is not a search"):
        store.load(str(tmp_path))


def test_a_search_that_was_killed_has_no_answer_without_its_inventory(tmp_path, monkeypatch):
    search, write = Search(("a", "b")), store.store.write_text

    def killed(path, text):
        write(path, text)
        raise KeyboardInterrupt

    monkeypatch.setattr(store.store, "write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        store.keep(str(tmp_path), search, next_step(search), "same", [], False)
    assert [path.name for path in tmp_path.iterdir()] == [store.INVENTORY]
