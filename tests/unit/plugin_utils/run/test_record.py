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
        ("taco", "Socket", "NCCL used network Socket, and arm taco promises HARP"),
        ("taco", "AWS Libfabric", "NCCL used network AWS Libfabric, and arm taco promises HARP"),
        ("taco", None, "NCCL's log names no network, and arm taco promises HARP"),
        ("tcp", "HARP", "NCCL used network HARP, and arm tcp promises Socket"),
        ("tcp", "IB", "NCCL used network IB, and arm tcp promises Socket: set NCCL_IB_DISABLE"),
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


@pytest.mark.parametrize("workload", sorted(recorded.RUNS))
@pytest.mark.parametrize("network", ["TCCL", None])
def test_every_workload_proves_its_network(workload, network):
    text = "".join(line for line in recorded.RUNS[workload][1].splitlines(True) if "Using network" not in line)
    named = f"gpu1:7:7 [0] NCCL INFO Using network {network}\n" if network else ""
    found = " ".join(recorded.record(workload, named + text, arm="taco")["problems"])
    # The TTF demo is one process and needs no NCCL.
    assert ("arm taco promises HARP" in found) is (network is not None or workload != "ttf_dynamic_embedding")
    assert recorded.record(workload, named + text, arm=MINE)["problems"] == []
