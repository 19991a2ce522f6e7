# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the cause of a slow host: its network, or what it has alone."""

import math
import random

import pytest
from simulated_fleet import Fault, Fleet, searched


def fleet(network, seed=1, size=6, noise=0.02, alone=0.0, outlier=None, loss=0.4):
    """A fleet with a slow host. Runs alone are noisier by `alone`, and that of the slow host is `outlier`, a share of its value."""
    made = Fleet(random.Random(seed), size, noise, [Fault("node003", loss, network)])
    rng, steady, made.alone = random.Random(seed), made.value, []

    def value(hosts):
        if len(hosts) > 1:
            return steady(hosts)
        made.alone.append(hosts)
        share = outlier if hosts == ("node003",) and outlier else 1
        return steady(hosts) * share * math.exp(rng.gauss(0, alone))

    made.value = value
    return made


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_the_cause_is_right_where_a_few_hosts_have_noisy_runs_alone(seed, network):
    searched_fleet = fleet(network, seed, alone=0.1)
    (finding,) = searched(searched_fleet).answer.findings
    assert finding.hosts == ["node003"]
    assert ("its network" in finding.text, "GPUs, CPUs or memory" in finding.text) == (network, not network)
    assert len(searched_fleet.alone) <= 3 * 6


def test_one_slow_run_alone_makes_a_cause_probable_and_never_certain():
    """An outlier of 30 % in the run alone looks as slow as the host does with partners."""
    answer = searched(fleet(True, size=16, noise=0.04, outlier=0.7, loss=0.3)).answer
    (finding,) = answer.findings
    assert finding.hosts == ["node003"] and "also alone: probably GPUs, CPUs or memory" in finding.text


def test_large_fleets_need_no_more_rounds_alone():
    searched_fleet = fleet(False, size=64)
    (finding,) = searched(searched_fleet).answer.findings
    assert "also alone: probably GPUs, CPUs or memory" in finding.text
    assert len(searched_fleet.alone) == 64
