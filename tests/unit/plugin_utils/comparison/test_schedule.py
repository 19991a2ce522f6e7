# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is compared, in which order, and what is left of it after an interruption."""

import re
from pathlib import Path

import pytest
import yaml
from measured import DEFAULTS, HOSTS, record

from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan, remaining
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import DEFAULT_REPEATS, ComparisonError, read
from ansible_collections.taco.train.plugins.plugin_utils.comparison.store import fingerprint

PAIR = [{"name": "a", "slots": 1}, {"name": "b", "slots": 1}]


def comparison(**spec):
    return read(dict({"arms": ["tcp", "taco"]}, **spec), HOSTS, DEFAULTS)


def test_half_of_the_rounds_go_through_the_arms_backwards_two_by_two():
    runs = plan(comparison(arms=["tcp", "harp", "taco"], repeats=4, warmup_runs=1))
    assert [(run.round, run.arm) for run in runs] == [
        *((-1, "tcp"), (-1, "harp"), (-1, "taco"), (0, "tcp"), (0, "harp"), (0, "taco")),
        *((1, "taco"), (1, "harp"), (1, "tcp"), (2, "taco"), (2, "harp"), (2, "tcp")),
        *((3, "tcp"), (3, "harp"), (3, "taco")),
    ]
    assert [run.warmup for run in runs] == [True] * 3 + [False] * 12


def test_a_drift_that_is_linear_in_time_costs_both_arms_the_same():
    places = {"tcp": 0, "taco": 0}
    for place, run in enumerate(plan(comparison(repeats=6, warmup_runs=0))):
        places[run.arm] += place
    assert places["tcp"] == places["taco"]


def test_the_matrix_is_workloads_times_hosts_times_batch_sizes():
    found = comparison(workloads=[{"model": "VGG16"}, {}], node_counts=[1, 2], batch_sizes=[32, 64], single_device=True)
    assert [case.id for case in found.cases] == [
        f"horovod_synthetic/{model}/{shape}/{batch}"
        for model in ("VGG16", "ResNet50")
        for shape in ("1x1", "1x2", "2x2")
        for batch in (32, 64)
    ]
    assert [case.ranks for case in found.cases[:6]] == [1, 1, 2, 2, 4, 4]
    assert found.cases[0].options.items() >= dict(DEFAULTS, model="VGG16", batch_size=32).items()


def test_hosts_of_different_sizes_are_named_one_by_one():
    found = read({"arms": ["tcp", "taco"]}, [{"name": "a", "slots": 8}, {"name": "b", "slots": 4}], DEFAULTS)
    assert found.cases[0].id == "horovod_synthetic/ResNet50/8+4/64"


def test_only_good_runs_are_not_run_again():
    found = comparison(repeats=4, warmup_runs=0)
    runs = plan(found)
    kept = [record(runs[0], 1.0), record(runs[1], 1.0, outcome="failed"), record(runs[2], 1.0)]
    assert remaining(found, kept) == [runs[1], *runs[3:]]
    assert remaining(found, [dict(kept[0], case=None)]) == runs


def test_a_comparison_that_version_1_0_interrupted_is_the_same_one():
    found = read({"arms": ["taco", "tcp", {"name": "mine", "base": "tcp"}], "repeats": 4}, PAIR, {})
    assert fingerprint(found) == "d568ef481f216c2a487051d4068deca5c8add910718d98dc7e9661eaf97898de"


def test_whatever_changes_a_number_makes_it_another_comparison():
    mine = fingerprint(comparison())
    assert mine == fingerprint(comparison())
    others = [
        comparison(warmup_runs=2),
        comparison(arms=["tcp", {"name": "mine", "base": "taco"}]),
        comparison(arms=["tcp", {"name": "mine", "base": "taco", "env": {"LIGHT_TOPK_RATIO": 0.1}}]),
        comparison(workloads=[{"model": "VGG16"}]),
        read({"arms": ["tcp", "taco"]}, HOSTS, dict(DEFAULTS, env={"A": "1"})),
        read({"arms": ["tcp", "taco"]}, HOSTS[:1], DEFAULTS),
    ]
    assert len({mine, *map(fingerprint, others)}) == 7


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"arms": ["tcp"]}, "compare_arms has only tcp"),
        ({"baseline": "harp"}, "compare_baseline is harp, which is not one of compare_arms"),
        ({"repeats": 3}, "compare_repeats is 3; it must be a whole number, 4 or more"),
        ({"warmup_runs": -1}, "compare_warmup_runs is -1"),
        ({"node_counts": [3]}, "compare_node_counts has 3, and the play has 2 hosts"),
        ({"node_counts": [0]}, "compare_node_counts is 0"),
        ({"batch_sizes": [0]}, "compare_batch_sizes is 0"),
        ({"workloads": ["VGG16"]}, "compare_workloads is a list of mappings"),
        ({"workloads": [{"modell": "VGG16"}]}, "compare_workloads has modell"),
        ({"workloads": [{"script": "a"}, {"script": "b"}]}, "give each a name"),
        ({"repeat": 5}, "A comparison has no repeat"),
        ({"workloads": [{"name": "a/b"}]}, "'a/b' can't be the name"),
    ],
)
def test_what_cant_be_compared_is_refused_with_the_variable(spec, words):
    with pytest.raises(ComparisonError, match=words.replace("(", r"\(")):
        comparison(**spec)


def test_two_workloads_that_differ_in_their_name_are_two():
    found = comparison(workloads=[{"script": "a", "name": "first"}, {"script": "b", "name": "second"}])
    assert [case.id.split("/")[0] for case in found.cases] == ["first", "second"]


def test_more_repeats_add_to_a_comparison():
    four, six = comparison(repeats=4), comparison(repeats=6)
    assert fingerprint(four) == fingerprint(six)
    kept = [record(run, 1.0) for run in plan(four)]
    assert remaining(four, kept) == []
    assert [run.round for run in remaining(six, kept)] == [4, 4, 5, 5]


def test_hosts_without_slots_are_named_with_the_variable():
    with pytest.raises(ComparisonError, match="gpu1 has no number of slots: set taco_gpus_per_node"):
        read({"arms": ["tcp", "taco"]}, [{"name": "gpu1", "slots": ""}], DEFAULTS)


def test_nccl_tests_have_no_model_no_batch_and_no_single_device_beside_workloads_that_do():
    found = comparison(
        workloads=[{"workload": "nccl_tests"}, {"model": "VGG16"}],
        batch_sizes=[32, 64],
        single_device=True,
        node_counts=[2, 2],
    )
    of_nccl = [case for case in found.cases if case.workload == "nccl_tests"]
    assert [case.id for case in of_nccl] == ["nccl_tests/-/2x2/-"] and len(found.cases) == 5
    assert of_nccl[0].options["model"] is None


@pytest.mark.parametrize(
    ("workload", "given"),
    [
        ({"workload": "command"}, {"batch_sizes": [32]}),
        ({"workload": "nccl_tests"}, {"batch_sizes": [32, 64]}),
        ({"workload": "nccl_tests"}, {"single_device": True}),
        ({"workload": "ttf_dynamic_embedding"}, {"node_counts": [1, 2]}),
        ({"workload": "ttf_dynamic_embedding"}, {"single_device": True}),
    ],
)
def test_an_option_without_effect_on_the_workload_is_refused(workload, given):
    text = f"compare_{next(iter(given))} has no effect on workload {workload['workload']}: leave it out"
    with pytest.raises(ComparisonError, match=text):
        comparison(workloads=[workload], **given)


def test_the_role_and_the_module_have_the_one_default_number_of_repeats():
    collection = Path(__file__).parents[4] / "collections/ansible_collections/taco/train"
    role = yaml.safe_load((collection / "roles/compare/defaults/main.yml").read_text())
    documented = re.search(
        r"  repeats:\n(?:    .*\n)*?    default: (\d+)", (collection / "plugins/modules/comparison.py").read_text()
    )
    assert role["compare_repeats"] == int(documented[1]) == comparison().repeats == DEFAULT_REPEATS
