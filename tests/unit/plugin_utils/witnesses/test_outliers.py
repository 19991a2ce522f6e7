# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts that stand out: the rate of false names, the power, and how few hosts are too few."""

import random

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.witnesses.outliers import (
    LEAST_HOSTS,
    outliers,
    quantile,
    too_few,
)


def fleet(count, noise, seed, slow=None, key=None, value=None):
    """The differences of healthy hosts whose measures vary by a multiple of the usual spread, and one that differs."""
    draw = random.Random(seed).gauss
    found = {}
    for number in range(count):
        one = {
            "seconds": 60.0,
            "segments": 10**7,
            "retransmits": int(1e7 * max(0, 0.002 + draw(0, 0.0005 * noise))),
            "peers": [{"peer": "x", "seconds": 60.0, "busiest": min(1, max(0, 0.4 + draw(0, 0.025 * noise)))}],
            "nics": {
                "eth0": {"sent": 1, "received": 1, "drops": int(60 * max(0, 3 + draw(0, 5 * noise))), "errors": 0}
            },
            "steal": max(0, 0.01 + draw(0, 0.003 * noise)),
            "throttled_seconds": 60 * max(0, draw(0, 0.005 * noise)),
            "gpus": {
                "GPU-1": {
                    "clock": 1400 + draw(0, 30 * noise),
                    "clock_max": 1980,
                    "temperature": 60 + draw(0, 3 * noise),
                }
            },
            "xids": [],
        }
        found[f"n{number}"] = dict(one, **{key: value}) if number == slow else one
    return found


@pytest.mark.parametrize("count", [5, 8, 16, 64])
@pytest.mark.parametrize("noise", [1, 2])
def test_healthy_hosts_are_named_in_at_most_one_run_of_a_hundred(count, noise):
    runs = 100 if count < 64 else 20
    named = sum(bool(outliers(fleet(count, noise, seed))) for seed in range(runs))
    assert named <= 0.01 * runs, named


@pytest.mark.parametrize("count", [5, 8, 64])
@pytest.mark.parametrize(
    ("key", "value", "measure"),
    [
        ("peers", [{"peer": "x", "seconds": 60.0, "busiest": 0.98}], "busy"),
        ("throttled_seconds", 20.0, "throttled"),
        ("retransmits", 300000, "retransmits"),
        ("gpus", {"GPU-1": {"clock": 900, "clock_max": 1980, "temperature": 60}}, "clock"),
    ],
)
def test_a_host_that_differs_is_named_with_its_peers_beside_it(count, key, value, measure):
    found = outliers(fleet(count, 0.5, 1, 2, key, value))
    assert [(one.host, one.measure) for one in found] == [("n2", measure)]
    assert found[0].text.startswith("n2: ") and "of its peers" in found[0].text and found[0].value > found[0].peers


def test_four_hosts_are_too_few():
    hosts = fleet(LEAST_HOSTS - 1, 0.3, 1, 2, "throttled_seconds", 50.0)
    assert outliers(hosts) == [] and too_few(hosts).startswith(
        "too few hosts to compare them with each other: 4 with counters"
    )
    without = dict(fleet(LEAST_HOSTS, 0.3, 1), n0=None)
    assert too_few(without) and too_few(fleet(LEAST_HOSTS, 0.3, 1)) is None


def test_faults_that_no_healthy_host_has_need_no_peers():
    gpus = {"GPU-1": {"uncorrected": 2, "reasons": ["hardware slowdown", "power cap"]}}
    found = outliers({"a": {"xids": ["NVRM: Xid 79"], "gpus": gpus}, "b": None})
    assert [(one.host, one.measure, one.peers) for one in found] == [
        ("a", "xid", None),
        ("a", "ecc", None),
        ("a", "slowdown", None),
    ]


@pytest.mark.parametrize(
    "one", [{}, {"seconds": None, "nics": {"e": {"drops": None, "errors": 1}}, "peers": [{"peer": "x"}]}]
)
def test_absent_values_are_not_compared(one):
    assert outliers({f"n{number}": dict(one) for number in range(9)}) == []


@pytest.mark.parametrize(("freedom", "tail", "expected"), [(3, 1e-4, 22.20), (5, 1e-4, 9.68), (5, 1e-5, 15.55)])
def test_the_limit_is_that_of_students_t(freedom, tail, expected):
    assert expected <= quantile(freedom, tail) < 1.12 * expected
