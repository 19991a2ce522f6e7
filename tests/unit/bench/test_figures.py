# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ratios, growth and targets of the bench."""

import pytest
from bench.figures import Figure, first_targets, growth, judged, missed, of, plan_targets, ratio, sizes, targets_of


def figure(key, hosts, wall, executions=6.0, few=None):
    few_cpu = None if few is None else few / 2
    return Figure(key, key, hosts, 1, wall, [wall], wall / 2, executions, 1024**2, few, few_cpu)


FIGURES = [
    figure("a", 10, 10.0),
    figure("b", 10, 55.0, 39.0),
    figure("d", 10, 6.0),
    figure("a", 200, 210.0, few=1.0),
    figure("b", 200, 399.0, 39.0),
    figure("d", 200, 100.0),
]


def test_ratios_and_growth():
    assert sizes(FIGURES) == [10, 200]
    assert ratio(of(FIGURES, "b", 10), of(FIGURES, "a", 10)) == 5.5
    assert ratio(of(FIGURES, "c", 10), of(FIGURES, "a", 10)) is None
    assert growth(FIGURES, "a") == growth(FIGURES, "a", "cpu") == pytest.approx(1.05)
    assert growth(FIGURES, "c") is None
    assert growth(FIGURES[:3], "a") is None


def test_growth_is_that_over_the_fewest_hosts_of_the_same_minutes():
    """The machine was twice as fast when the fewest hosts were measured by themselves."""
    figures = [figure("a", 10, 5.0), figure("a", 200, 200.0, few=1.0)]
    assert growth(figures, "a") == 1.0
    assert missed(judged(figures)) == []


def test_every_target_is_judged_for_each_number_of_hosts_and_a_missed_one_is_named():
    targets = judged(FIGURES)
    assert [one.key for one in targets] == ["executions", "raw", "raw", "steps", "steps", "flat"]
    assert [one.name for one in missed(targets)] == [
        "wall of (a) over (d), 200 hosts",
        "wall of (b) over (a), 200 hosts",
    ]
    assert [one.found for one in missed(targets)] == ["2.10x", "1.90x"]


@pytest.mark.parametrize(
    ("figures", "name"),
    [
        ([figure("a", 10, 10.0, 7.0)], "remote executions per host of (a)"),
        ([figure("a", 10, 21.0), figure("d", 10, 10.0)], "wall of (a) over (d), 10 hosts"),
        ([figure("a", 10, 10.0), figure("b", 10, 39.0)], "wall of (b) over (a), 10 hosts"),
        ([figure("a", 10, 10.0), figure("a", 40, 47.0, few=1.0)], "wall per host of (a), 40 over 10 hosts"),
    ],
)
def test_each_target_can_be_missed(figures, name):
    assert [one.name for one in missed(judged(figures))] == [name]


@pytest.mark.parametrize(
    "figures",
    [
        [figure("a", 10, 20.0), figure("d", 10, 10.0)],
        [figure("a", 10, 10.0), figure("b", 10, 40.0)],
        [figure("a", 10, 10.0), figure("a", 40, 46.0, few=1.0)],
    ],
)
def test_the_bounds_themselves_are_good_enough(figures):
    assert missed(judged(figures)) == []


def plan_figure(hosts, wall, key="p", executions=1.0, memory=0, few=None):
    return figure(key, hosts, wall, executions, few)._replace(memory=memory)


def test_a_plan_has_targets_for_executions_seconds_memory_and_growth():
    figures = [plan_figure(10, 9.0), plan_figure(1000, 700.0, few=0.7), plan_figure(10, 9.0, "q", 2.0)]
    targets = plan_targets(figures)
    assert [one.key for one in targets] == ["executions", "executions", "memory", "seconds", "memory", "flat"]
    assert missed(targets) == [] and targets_of("plan", figures, []) == targets


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (plan_figure(10, 9.0, "q", 7.0), "remote executions per host of (q)"),
        (plan_figure(1000, 721.0, few=0.7), "seconds of a plan of 1000 hosts"),
        (plan_figure(1000, 700.0, memory=2**31 + 1), "memory of a plan of 1000 hosts"),
        (plan_figure(1000, 700.0, few=0.5), "wall per host of (p), 1000 over 10 hosts"),
    ],
)
def test_each_target_of_a_plan_can_be_missed(wrong, name):
    assert [one.name for one in missed(plan_targets([plan_figure(10, 5.0), wrong]))] == [name]


def test_the_first_run_is_compared_with_the_other_ways():
    targets = first_targets([figure("a", 10, 10.0), figure("b", 10, 9.0), figure("c", 10, 12.0)])
    assert [(one.name, one.found) for one in targets] == [
        ("wall of (b) over (a), 10 bare hosts", "0.90x"),
        ("wall of (c) over (a), 10 bare hosts", "1.20x"),
    ]
    assert missed(targets) == targets[:1]
