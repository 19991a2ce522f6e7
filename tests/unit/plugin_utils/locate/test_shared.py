# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of pairs that disturb each other: one pair alone shows it."""

import random

import pytest
from simulated_fleet import Fault, Fleet, searched


class SharedFleet(Fleet):
    """Pairs that run at the same time share a network that is too small for them."""

    loss_together = 0.5

    def value(self, hosts):
        together = len(hosts) > 1 and self.at_the_same_time > 1
        return super().value(hosts) * (1 - self.loss_together if together else 1)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("higher", [True, False])
def test_pairs_that_disturb_each_other_are_the_answer(seed, higher):
    class Measured(SharedFleet):
        def value(self, hosts):
            value = super().value(hosts)
            return value if higher else 1000 / value

    found = searched(Measured(random.Random(seed), 16, 0.03), expected=1e6 if higher else 1e-6, higher_is_better=higher)
    (finding,) = found.answer.findings
    assert (found.answer.kind, finding.kind, finding.hosts, found.answer.undecided) == ("located", "shared", [], [])
    assert finding.loss == pytest.approx(0.5, abs=0.1)


def test_pairs_that_do_not_disturb_each_other_are_seldom_the_answer():
    kinds = [searched(Fleet(random.Random(seed), 16, 0.01 + 0.04 * seed / 100)).answer.kind for seed in range(0, 96, 6)]
    assert kinds.count("nobody") >= 15


def test_a_host_that_explains_a_low_number_needs_no_pair_alone():
    found = searched(SharedFleet(random.Random(1), 16, 0.03, [Fault("node003", 0.4, False)]))
    assert found.accused == {"node003"} and [one.kind for one in found.answer.findings] == ["host"]


def test_without_budget_for_a_pair_alone_the_answer_is_the_same_as_before():
    whole = searched(Fleet(random.Random(4), 16, 0.02))
    found = searched(Fleet(random.Random(4), 16, 0.02), rounds=whole.rounds - 1)
    assert (whole.answer.kind, found.answer.kind, found.rounds) == ("nobody", "nobody", whole.rounds - 1)
