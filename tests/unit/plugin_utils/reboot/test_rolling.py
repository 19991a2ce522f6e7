# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.plugin_utils.reboot.planned_change import planned_change
from ansible_collections.taco.train.plugins.plugin_utils.reboot.rolling import (
    Rebooted,
    messages,
    plan,
    progress,
    result,
)
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

HOSTS = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    "batch, expected",
    [
        (1, [["a"], ["b"], ["c"], ["d"], ["e"]]),
        (2, [["a", "b"], ["c", "d"], ["e"]]),
        ("2", [["a", "b"], ["c", "d"], ["e"]]),
        ("40%", [["a", "b"], ["c", "d"], ["e"]]),
        ("50 %", [["a", "b"], ["c", "d"], ["e"]]),
        ("1%", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("100%", [HOSTS]),
        (99, [HOSTS]),
    ],
)
def test_batches(batch, expected):
    assert plan(HOSTS, batch, 0, 60).batches == expected


@pytest.mark.parametrize("batch", [0, "0%", "-1", "half", "101%", "", None, 1.5])
def test_a_batch_that_makes_no_sense_is_refused_by_name(batch):
    with pytest.raises(InvalidValueError, match="reboot_batch"):
        plan(HOSTS, batch, 0, 60)


def test_the_forecast_says_hosts_batches_time_and_budget():
    assert plan(HOSTS, 2, "20%", 300).forecast == (
        "5 hosts to reboot in 3 batches of up to 2: about 15 min at 300 s a reboot; stops when more than 1 failed"
    )
    assert plan([], 2, 0, 300).forecast == "no host needs a reboot"


def test_a_host_named_twice_is_refused():
    with pytest.raises(InvalidValueError, match="twice"):
        plan(["a", "a"], 1, 0, 60)


@given(st.lists(st.text(min_size=1), unique=True, max_size=60), st.integers(1, 70), st.integers(0, 100))
def test_every_host_once_in_order_and_no_batch_too_large(hosts, size, percent):
    planned = plan(hosts, size, f"{percent}%", 10)
    assert [host for batch in planned.batches for host in batch] == hosts
    assert all(1 <= len(batch) <= size for batch in planned.batches)
    assert len(planned.batches) == math.ceil(len(hosts) / size)
    assert 0 <= planned.may_fail <= len(hosts)


@pytest.mark.parametrize(
    "hosts, index, batches, took, said",
    [
        (
            [Rebooted("a", [], 51.2)], 1, 3, 58.4,
            "batch 1 of 3: a rebooted and verified. It took 58 s, 51 s of them to boot; 2 batches left, about 2 min",
        ),
        (
            [Rebooted("a", [], 50), Rebooted("b", [], 51)], 2, 2, 60,
            "batch 2 of 2: a, b rebooted and verified. It took 60 s, 51 s of them to boot",
        ),
        (
            [Rebooted("a", [], 50), Rebooted("b", ["1 missing"], 51), Rebooted("c", ["unreachable"], None)], 1, 2, 900,
            "batch 1 of 2: a rebooted and verified. b: 1 missing. c: unreachable. It took 900 s, 51 s of them to boot; "
            "1 batch left, about 15 min",
        ),
    ],
)  # fmt: skip
def test_the_result_of_a_batch(hosts, index, batches, took, said):
    assert progress(hosts, index, batches, took) == said


@pytest.mark.parametrize("may_fail, stop", [(0, True), (1, True), (2, False), (3, False)])
def test_hosts_that_failed_or_are_unreachable_count_alike(may_fail, stop):
    hosts = [Rebooted("a", [], 50), Rebooted("b", ["1 missing", "left"], 51), Rebooted("c", ["unreachable"], None)]
    found = result(hosts, ["d"], may_fail)
    assert found.failed == ["b", "c"] and found.stop is stop
    assert found.lines == [
        "1 host rebooted and verified: a",
        f"2 hosts failed, reboot_may_fail allows {may_fail}",
        "b: 1 missing; left",
        "c: unreachable",
        "1 host not rebooted: d",
    ]


@pytest.mark.parametrize(
    ("active", "stop", "expected"),
    [
        (
            HOSTS,
            None,
            {"b": "b after its reboot: 1 missing; left. Correct that", "c": "c after its reboot: unreachable. C"},
        ),
        (["a", "b"], "So it ends", {"b": "b: 1 missing; left. So it ends"}),
        # No host that failed is left to say it.
        (["a", "d"], "So it ends", {"a": "So it ends"}),
        ([], "So it ends", {}),
    ],
)
def test_only_hosts_that_failed_fail_and_the_first_one_where_none_of_them_is_left(active, stop, expected):
    hosts = [Rebooted("a", [], 50), Rebooted("b", ["1 missing", "left"], 51), Rebooted("c", ["unreachable"], None)]
    found = messages(hosts, active, stop)
    assert {name: text[: len(expected.get(name, ""))] for name, text in found.items()} == expected


def test_nothing_failed_where_no_host_was_rebooted():
    assert result([], [], 0) == ([], False, [])


@pytest.mark.parametrize(
    ("required", "allowed", "platform", "changed", "interrupts"),
    [
        (True, True, "cvm", True, ["reboot of the host"]),
        (True, True, "tke", True, ["reboot of the host", "pods of the node, which is drained"]),
        (True, False, "cvm", False, ["reboot of the host"]),
        (False, True, "cvm", False, ["reboot of the host"]),
    ],
)
def test_a_reboot_is_a_change_where_it_is_required_and_allowed(required, allowed, platform, changed, interrupts):
    found = planned_change({"reboot_required": required, "count": 50, "page_size": "1G"}, allowed, platform)
    assert (found["changed"], found["required"], found["interrupts"]) == (changed, required, interrupts)
    assert found["diff"][0]["after"] == "50 pages of 1G\n" and "50 pages of 1G" in found["reason"]


def test_commands_around_a_reboot_are_a_part_of_the_change_and_not_shown():
    boot = {"reboot_required": True, "count": 50, "page_size": "1G"}
    plain, one, other = (
        planned_change(boot, True, "cvm", [commands, []]) for commands in ([], [["geheim"]], [["anders"]])
    )
    assert len(plain["diff"]) == 1 and one["diff"][1] != other["diff"][1] and "geheim" not in str(one)
