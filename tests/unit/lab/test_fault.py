# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which faults a lab can have at the same time, and what is left of them."""

import fault
import pytest
from fault_kinds import KINDS, Fault
from shell import LabError

LAB = {"nodes": [{"name": name, "address": f"10.0.0.{place}"} for place, name in enumerate("abc")], "rate": "200mbit"}


class Engine:
    """Notes commands; a word of them can fail."""

    def __init__(self, fails=()):
        self.calls, self.fails = [], fails

    def __call__(self, *words):
        self.calls.append(" ".join(words))
        if set(words) & set(self.fails):
            raise LabError("no")
        return ""

    def lines(self, *words):
        self(*words)
        return ["11", "12"]

    def succeeds(self, *words):
        self(*words)
        return True


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(fault, "FILE", tmp_path / "fault.json")


def test_several_nodes_have_a_fault_each_and_all_are_removed():
    docker, faults = Engine(), [Fault("egress", "a", 50), Fault("link", "b", 30, "c"), Fault("mtu", "c", 0)]
    for one in faults:
        fault.apply(docker, LAB, one)
    assert fault.current() == faults
    assert any("tc filter add" in call and "dst 10.0.0.2" in call for call in docker.calls)
    assert fault.clear(docker, LAB) == faults and fault.current() == []
    assert docker.calls[-1].startswith("exec a tc qdisc replace") and "rate 200mbit" in docker.calls[-1]
    assert "exec c ip link set dev eth0 mtu 1500" in docker.calls


@pytest.mark.parametrize(
    "one", [Fault("cpu", "a", 50), Fault("cpu", "d", 50), Fault("link", "b", 30), Fault("link", "b", 30, "d")]
)
def test_a_second_fault_of_a_node_and_unknown_nodes_are_refused(one):
    docker = Engine()
    fault.apply(docker, LAB, Fault("mtu", "a", 0))
    with pytest.raises(LabError):
        fault.apply(docker, LAB, one)
    assert fault.current() == [Fault("mtu", "a", 0)]


def test_a_fault_that_could_not_be_set_is_removed_too():
    with pytest.raises(LabError):
        fault.apply(Engine(["renice"]), LAB, Fault("nice", "a", 30))
    docker = Engine()
    assert fault.clear(docker, LAB) == [Fault("nice", "a", 30)]
    assert docker.calls == ["exec a pkill -KILL -f taco-lab-busy"]


@pytest.mark.parametrize(("percent", "nice"), [(30, "-4"), (10, "-10"), (80, "6")])
def test_the_priority_leaves_the_percentage(percent, nice):
    docker = Engine()
    KINDS["nice"].set(docker, LAB, Fault("nice", "a", percent))
    assert f"exec a renice -n {nice} -p 11 12" in docker.calls


def test_each_kind_has_a_sentence_with_its_nodes():
    for name, kind in KINDS.items():
        text = Fault(name, "node-a", kind.percent or 50, "node-b").sentence()
        assert "{" not in text and (not kind.to or "node-b" in text)
