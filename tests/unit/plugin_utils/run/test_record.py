# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run whose log does not show that its arm took effect is a failed one. The parsers of the workloads have tests of the other reasons."""

import pytest
import recorded

MINE = {"name": "mine", "plugin": "keep"}


def problems(arm, network):
    line = f"gpu1:7:7 [0] NCCL INFO Using network {network}\n" if network else ""
    log = recorded.log_of("tf_cnn_benchmarks", 100.0, 2, "HARP")
    return recorded.record("tf_cnn_benchmarks", line + log.partition("\n")[2], arm=arm)["problems"]


@pytest.mark.parametrize(
    ("arm", "network", "words"),
    [
        ("taco", "Socket", "NCCL used network Socket, so HARP was not in use"),
        ("taco", "AWS Libfabric", "NCCL used the plugin AWS Libfabric, which is not HARP"),
        ("taco", None, "NCCL did not say which network it used"),
        ("tcp", "HARP", "so a plugin was in use and the number is not one of arm tcp"),
        ("tcp", "IB", "arm tcp is the kernel's TCP: set NCCL_IB_DISABLE"),
    ],
)
def test_an_arm_that_did_not_take_effect_is_named(arm, network, words):
    (problem,) = problems(arm, network)
    assert words in problem


@pytest.mark.parametrize(
    ("arm", "network"), [("taco", "HARP"), ("tcp", "Socket"), (MINE, "AWS Libfabric"), (MINE, None), (MINE, "IB")]
)
def test_an_arm_that_took_effect_or_promises_nothing_has_no_problem(arm, network):
    assert problems(arm, network) == []


@pytest.mark.parametrize(("arm", "said"), [("taco", 1), ("tcp", 1), (MINE, 0)])
def test_a_program_of_the_users_own_proves_its_network_too(arm, said):
    found = recorded.record("command", recorded.COMMAND_LOG, arm=arm)["problems"]
    assert [("which network it used" in problem) for problem in found] == said * [True]
