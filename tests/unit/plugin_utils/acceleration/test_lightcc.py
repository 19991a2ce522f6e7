# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""LightCC's variables: what they may be, and what an option becomes."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.lightcc import (
    SETTINGS,
    group_size,
    is_lossy,
    options_to_env,
    validate,
)
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError


def test_the_variables_and_defaults_are_the_documented_ones():
    assert {name: setting.default for name, setting in SETTINGS.items()} == {
        "LIGHT_2D_ALLREDUCE": False,
        "LIGHT_INTRA_SIZE": 8,
        "LIGHT_HIERARCHICAL_THRESHOLD": 1073741824,
        "LIGHT_TOPK_ALLREDUCE": False,
        "LIGHT_TOPK_RATIO": 0.01,
        "LIGHT_TOPK_THRESHOLD": 1048576,
        "LIGHT_TOPK_FP16": False,
    }
    assert validate({name: setting.default for name, setting in SETTINGS.items()}, [8, 8]) == []


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("LIGHT_2D_ALLREDUCE", [0, 1, "0", "1", True, False, None]),
        ("LIGHT_INTRA_SIZE", [1, "16"]),
        ("LIGHT_HIERARCHICAL_THRESHOLD", [0, "0", 1073741824]),
        ("LIGHT_TOPK_RATIO", [1, "1", 0.01, "1e-3"]),
    ],
)
def test_what_a_variable_may_be(name, good):
    assert [validate({name: value}) for value in good] == [[]] * len(good)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "LIGHT_2D_ALLREDUCE",
            "yes",
            "LIGHT_2D_ALLREDUCE is 'yes'; it must be 0 or 1. Set it in benchmark_env, or two_d_",
        ),
        ("LIGHT_TOPK_FP16", 2, "it must be 0 or 1"),
        ("LIGHT_INTRA_SIZE", 0, "a whole number of GPUs, 1 or more"),
        ("LIGHT_INTRA_SIZE", True, "a whole number of GPUs"),
        ("LIGHT_TOPK_THRESHOLD", -1, "a whole number of bytes, 0 or more."),
        ("LIGHT_TOPK_THRESHOLD", "1MB", "a whole number of bytes, 0 or more (1MB is 1048576). Set"),
        ("LIGHT_HIERARCHICAL_THRESHOLD", "1.5 GiB", "(1.5 GiB is 1610612736)"),
        ("LIGHT_HIERARCHICAL_THRESHOLD", "1.5", "a whole number of bytes"),
        ("LIGHT_HIERARCHICAL_THRESHOLD", ".G", "a whole number of bytes"),
        ("LIGHT_TOPK_RATIO", 0, "a number above 0 and at most 1"),
        ("LIGHT_TOPK_RATIO", 1.01, "a number above 0 and at most 1"),
        ("LIGHT_TOPK_RATIO", "nan", "a number above 0"),
        ("LIGHT_TOPK_RATIO", "1%", "a number above 0"),
        ("LIGHT_TOPK_RATIO", "0_1", "a number above 0"),
        (
            "LIGHT_TOP_RATIO",
            1,
            "LightCC has no variable LIGHT_TOP_RATIO; the closest is LIGHT_TOPK_RATIO. It has LIGHT_2D",
        ),
        ("LIGHT_zzz", 1, "LightCC has no variable LIGHT_zzz. It has"),
    ],
)
def test_what_a_variable_may_not_be_is_said_with_what_it_may(name, value, said):
    (problem,) = validate({name: value, "OTHER": "x"}, [8])
    assert said in problem


@pytest.mark.parametrize(
    ("size", "slots", "fits"),
    [(8, [8, 8], True), (4, [8, 4], True), (16, [8, 8], True), (3, [8, 8], False), (32, [8, 8], False)],
)
def test_a_group_of_the_2d_all_reduce_divides_the_ranks(size, slots, fits):
    env = {"LIGHT_2D_ALLREDUCE": 1, "LIGHT_INTRA_SIZE": size}
    assert bool(validate(env, slots)) != fits
    assert validate(dict(env, LIGHT_2D_ALLREDUCE=0), slots) == []


def test_hosts_of_different_sizes_need_a_size_said():
    (problem,) = validate({"LIGHT_2D_ALLREDUCE": "1"}, [8, 4])
    assert "[8, 4] slots" in problem and "benchmark_hosts" in problem


@pytest.mark.parametrize(("slots", "added"), [([8, 8], {}), ([4, 4], {"LIGHT_INTRA_SIZE": "4"})])
def test_a_group_is_one_host(slots, added):
    assert group_size({"LIGHT_2D_ALLREDUCE": "1"}, slots) == added
    assert group_size({}, slots) == {}
    assert group_size({"LIGHT_2D_ALLREDUCE": "1", "LIGHT_INTRA_SIZE": "2"}, slots) == {}


def test_each_option_has_its_variable():
    options = {
        "two_d_allreduce": True,
        "intra_size": 4,
        "hierarchical_threshold": "1024",
        "topk_allreduce": False,
        "topk_ratio": 0.00002,
        "topk_threshold": None,
        "topk_fp16": 1,
    }
    assert options_to_env(options) == {
        "LIGHT_2D_ALLREDUCE": "1",
        "LIGHT_INTRA_SIZE": "4",
        "LIGHT_HIERARCHICAL_THRESHOLD": "1024",
        "LIGHT_TOPK_ALLREDUCE": "0",
        "LIGHT_TOPK_RATIO": "0.00002",
        "LIGHT_TOPK_FP16": "1",
    }
    assert {setting.option for setting in SETTINGS.values()} == set(options)
    assert options_to_env(None) == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topk_rate": 1}, "benchmark_lightcc has no topk_rate; the closest is topk_ratio. It has two_d_allreduce"),
        ({"topk_ratio": 2}, "benchmark_lightcc: LIGHT_TOPK_RATIO is 2"),
        (["topk"], "benchmark_lightcc is a mapping"),
    ],
)
def test_what_is_no_option(options, said):
    with pytest.raises(InvalidValueError, match=said):
        options_to_env(options)


@pytest.mark.parametrize(
    ("value", "lossy"), [("1", True), (1, True), (True, True), ("0", False), (False, False), (None, True)]
)
def test_top_k_loses_gradients(value, lossy):
    assert is_lossy({"LIGHT_TOPK_ALLREDUCE": value}) is lossy
    assert is_lossy({}) is False
