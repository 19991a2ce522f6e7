# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Comparisons by name: what they consist of, that they can be run, and that what the user sets wins."""

from pathlib import Path

import pytest
import yaml

from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import checked_comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import PRESETS, with_preset
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import KEYS, ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.variables import run_combinations

ROLE = Path(__file__).parents[4] / "collections/ansible_collections/taco/train/roles/compare"
DEFAULTS = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
HOSTS = [{"name": f"worker-{number}", "slots": 8} for number in range(4)]


def given(**changes):
    return dict({name: DEFAULTS["compare_" + name] for name in KEYS}, **changes)


def comparison(name, run=(), **changes):
    spec = with_preset(name, given(**changes), dict(run).get("batch_size"))
    return checked_comparison(spec, HOSTS, dict(run), False)[0]


def test_without_a_preset_nothing_changes():
    assert with_preset(None, given()) == given() == with_preset("", given())


@pytest.mark.parametrize(
    ("name", "arms", "cases"),
    [
        (
            *("taco_vs_horovod", ["horovod", "taco"]),
            [f"horovod_synthetic/{model}/4x8/128" for model in ("InceptionV3", "ResNet101", "VGG16")],
        ),
        ("embedding", ["static", "dynamic"], ["ttf_dynamic_embedding/-/1x1/16384"]),
        ("mixed_precision", ["full", "mixed"], ["horovod_synthetic/ResNet50/4x8/256"]),
        ("xla", ["no_xla", "xla"], ["horovod_synthetic/ResNet50/4x8/256"]),
    ],
)
def test_every_preset_can_be_run_as_it_is(name, arms, cases):
    found = comparison(name)
    assert ([arm.name for arm in found.arms], found.baseline) == (arms, arms[0])
    assert [case.id for case in found.cases] == cases


def test_taco_is_compared_with_upstream_horovod_over_tcp():
    baseline, taco = comparison("taco_vs_horovod").arms
    assert (baseline.horovod, baseline.plugin, baseline.env) == ("upstream", "off", {})
    assert taco.env["LIGHT_2D_ALLREDUCE"] == "1" and taco.plugin == "on"
    benchmark = yaml.safe_load((ROLE.parent / "benchmark/defaults/main.yml").read_text())
    assert benchmark["benchmark_horovod_version"] == "0.21.3"


@pytest.mark.parametrize(
    ("changes", "batch_sizes"),
    [({"batch_sizes": [32, 64]}, [32, 64]), ({"run": {"batch_size": 8}}, [8]), ({}, [16384])],
)
def test_the_users_batch_size_wins(changes, batch_sizes):
    assert [case.options["batch_size"] for case in comparison("embedding", **changes).cases] == batch_sizes


def test_what_the_user_sets_wins():
    found = comparison("taco_vs_horovod", workloads=[{"model": "VGG19"}])
    assert [case.id for case in found.cases] == ["horovod_synthetic/VGG19/4x8/256"]
    assert [arm.name for arm in found.arms] == ["horovod", "taco"]
    found = comparison("taco_vs_horovod", arms=["harp", "taco"])
    assert ([arm.name for arm in found.arms], found.baseline, len(found.cases)) == (["harp", "taco"], "harp", 3)
    assert comparison("taco_vs_horovod", baseline="taco").baseline == "taco"
    assert len(comparison("taco_vs_horovod", node_counts=[1, 4]).cases) == 6


def test_a_baseline_that_the_preset_does_not_have_names_both_variables():
    with pytest.raises(
        ComparisonError, match="compare_baseline is tcp, and compare_preset taco_vs_horovod has the arms"
    ):
        with_preset("taco_vs_horovod", given(baseline="tcp"))


def test_an_unknown_name_gets_the_list():
    with pytest.raises(ComparisonError, match="compare_preset is 'taco'; it must be one of taco_vs_horovod, embedding"):
        with_preset("taco", given())


def test_preflight_checks_the_runs_of_a_preset():
    run = {"benchmark_workload": "ttf_dynamic_embedding", "benchmark_options": {"demo": "benchmark"}}
    values = dict(DEFAULTS, **run, benchmark_arm="taco", compare_preset="xla")
    fleet = (("gpu1", 8), ("gpu2", 8))
    run_combinations.compare(dict(values, benchmark_options={"demo": "ps"}), fleet)
    pytorch = {"benchmark_workload": "horovod_synthetic", "benchmark_options": {"framework": "pytorch"}}
    with pytest.raises(ComparisonError, match="named in lower case"):
        run_combinations.compare(dict(values, **pytorch, compare_preset="taco_vs_horovod"), fleet)
    # What a preset runs in place of the benchmark's workload is checked there, and not twice.
    run_combinations.benchmark(
        dict(
            values,
            **dict(pytorch, benchmark_workload="tf_cnn_benchmarks", benchmark_options={}),
            compare_preset="embedding",
        ),
        fleet,
    )


def test_the_documentation_names_every_preset():
    spec = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    said = " ".join(spec["compare_preset"]["description"])
    readme = (ROLE / "README.md").read_text()
    assert all(f"V({name})" in said and f"`{name}`" in readme for name in PRESETS)
