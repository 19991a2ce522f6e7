# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the exchange, and which tensors go together by which algorithm."""

import exchange_plan
import pytest
from exchange_plan import RING, Transfer
from exchange_settings import Settings, SettingsError, read

DOCUMENTED = {
    "LIGHT_2D_ALLREDUCE": "0",
    "LIGHT_INTRA_SIZE": "8",
    "LIGHT_HIERARCHICAL_THRESHOLD": "1073741824",
    "LIGHT_TOPK_ALLREDUCE": "0",
    "LIGHT_TOPK_RATIO": "0.01",
    "LIGHT_TOPK_THRESHOLD": "1048576",
    "LIGHT_TOPK_FP16": "0",
    "HOROVOD_FUSION_THRESHOLD": str(64 * 2**20),
}


def test_the_defaults_are_the_documented_ones():
    assert read({}, 4) == read(DOCUMENTED, 4) == Settings()


def test_everything_is_read():
    environ = {
        "LIGHT_2D_ALLREDUCE": "1",
        "LIGHT_INTRA_SIZE": "2",
        "LIGHT_HIERARCHICAL_THRESHOLD": "0",
        "LIGHT_TOPK_ALLREDUCE": "True",
        "LIGHT_TOPK_RATIO": "1",
        "LIGHT_TOPK_THRESHOLD": " 2097152 ",
        "LIGHT_TOPK_FP16": "1",
        "HOROVOD_FUSION_THRESHOLD": "0",
        "LAB_SLOWDOWN": "1.1",
        "LAB_RATE_MBIT": "200",
    }
    assert read(environ, 4) == Settings(True, 2, 0, True, 1.0, 2097152, True, 0, 1.1, 200.0)


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ("LIGHT_2D_ALLREDUCE", ["", "2", "yes"]),
        ("LIGHT_INTRA_SIZE", ["0", "-2", "2.0", "two", ""]),
        ("LIGHT_HIERARCHICAL_THRESHOLD", ["-1", "1M", "1.5"]),
        ("LIGHT_TOPK_ALLREDUCE", ["on"]),
        ("LIGHT_TOPK_RATIO", ["0", "-0.1", "1.01", "nan", "inf", "1%", ""]),
        ("LIGHT_TOPK_THRESHOLD", ["-1", "many"]),
        ("LIGHT_TOPK_FP16", ["16"]),
        ("HOROVOD_FUSION_THRESHOLD", ["-1", "64M"]),
        ("LAB_SLOWDOWN", ["0.9", "nan", "inf", "slow", "1001"]),
        ("LAB_RATE_MBIT", ["0", "-1", "200mbit"]),
    ],
)
def test_what_makes_no_sense_is_named(variable, values):
    for value in values:
        with pytest.raises(SettingsError, match=variable + " is .*; it must be ") as raised:
            read({variable: value}, 4)
        assert repr(value) in str(raised.value)


def test_groups_have_to_divide_the_ranks_where_2d_is_on():
    with pytest.raises(SettingsError, match="LIGHT_INTRA_SIZE is 8, which doesn't divide the 4 ranks"):
        read({"LIGHT_2D_ALLREDUCE": "1"}, 4)
    with pytest.raises(SettingsError, match="LIGHT_INTRA_SIZE is 3, which doesn't divide the 4 ranks"):
        read({"LIGHT_2D_ALLREDUCE": "1", "LIGHT_INTRA_SIZE": "3"}, 4)
    assert read({"LIGHT_INTRA_SIZE": "3"}, 4).intra_size == 3
    assert read({"LIGHT_2D_ALLREDUCE": "1"}, 16).two_dimensional


# In elements of the real model; a 24th of that is exchanged.
TENSORS = [240, 24, 2400, 48, 24]


def test_fusion_fills_its_buffer_and_no_more():
    settings = Settings(fusion_threshold=4 * (240 + 24))
    assert exchange_plan.plan(TENSORS, 4, settings) == [
        Transfer(RING, 0, 11, 2),
        Transfer(RING, 11, 111, 1),  # larger than the buffer
        Transfer(RING, 111, 114, 2),
    ]
    less = exchange_plan.plan(TENSORS, 4, settings._replace(fusion_threshold=4 * (240 + 24) - 1))
    assert [transfer.tensors for transfer in less] == [1, 1, 1, 2]


def test_what_the_output_says_of_a_plan():
    settings = Settings(topk=True, topk_threshold=4 * 2400, slowdown=1.1)
    transfers = exchange_plan.plan(TENSORS, 4, settings)
    assert exchange_plan.lines("ResNet50", TENSORS, 4, transfers, settings) == [
        "LAB sizes: ResNet50 has 5 gradient tensors of 10944 bytes; they, LIGHT_* and HOROVOD_* thresholds are divided by "
        "24: 456 bytes",
        "LAB exchange by ring: tensors 4, transfers 2, bytes 56",
        "LAB exchange by top-k: tensors 1, transfers 1, bytes 400",
        "LAB slowdown: batches are made to take 1.1 times as long",
    ]
