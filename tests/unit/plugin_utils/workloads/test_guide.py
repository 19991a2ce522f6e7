# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The declarations of the options: the guide to workloads has them, and workloads that share an option agree about its type."""

import pytest
import workload_guide

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.variables import run_combinations
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import COMMON
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import (
    OPTIONS,
    WORKLOADS,
    completed,
    require_options,
)


def test_the_guide_has_the_declarations():
    assert workload_guide.GUIDE.read_text() == workload_guide.guide(), "run python tools/workload_guide.py"


def test_workloads_that_share_an_option_agree_about_its_type():
    for kind in WORKLOADS.values():
        assert not set(kind.options) & {"workload", *COMMON}
        for name, option in kind.options.items():
            assert option.spec == OPTIONS[name].spec and option.affects_value == OPTIONS[name].affects_value
            assert option.description.endswith(".") and option.words == OPTIONS[name].words


def test_a_run_has_the_defaults_of_its_workload_and_no_options_of_others():
    run = completed({"workload": "nccl_tests", "model": "VGG16", "iters": None, "warmup": 7, "timeout": 5})
    assert (run["model"], run["iters"], run["warmup"], run["timeout"]) == (None, 20, 7, 5)
    assert completed({"workload": "tf_cnn_benchmarks"})["batch_size"] == 256
    assert completed({"workload": "other", "model": "x"}) == {"workload": "other", "model": "x"}


def test_an_option_of_another_workload_is_refused_by_its_name():
    require_options("nccl_tests", ["iters", "env"], "benchmark_options")
    with pytest.raises(
        InvalidValueError,
        match="benchmark_options has model, which is no option of workload nccl_tests; expected one of binary",
    ):
        require_options("nccl_tests", ["iters", "model"], "benchmark_options")
    with pytest.raises(InvalidValueError, match="benchmark_options has env"):
        require_options("nccl_tests", ["env"], "benchmark_options", COMMON)


def test_benchmark_options_can_not_name_the_workload():
    values = {"benchmark_options": {"workload": "nccl_tests"}, "benchmark_workload": "horovod_synthetic"}
    with pytest.raises(InvalidValueError, match="benchmark_options has workload"):
        run_combinations.benchmark(values, ())
