# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A comparison against an earlier one: only runs that are known to be comparable have a verdict and fail the play."""

import json
from pathlib import Path

import jsonschema
import pytest
from measured import DEFAULTS, HOSTS, record, records

from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.regression import regression
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError, read

ROOT = Path(__file__).parents[4]
SCHEMA = json.loads((ROOT / "collections/ansible_collections/taco/train/docs/schemas/comparison-1.json").read_text())
NCCL = dict(DEFAULTS, workload="nccl_tests", model=None, binary="all_reduce_perf", max_bytes="8G")


def compared(defaults=DEFAULTS, **spec):
    return read(dict({"arms": ["tcp", "taco"]}, **spec), HOSTS, defaults)


def assembled(comparison, found):
    result = assemble(comparison, found, "test")
    jsonschema.validate(json.loads(json.dumps(result)), SCHEMA)
    return result


def pair(**changes):
    """Return a comparison and an earlier one in which every arm was faster by a third."""
    comparison = compared()
    then = assembled(comparison, records(comparison, {"tcp": 100, "taco": 200}))
    now = assembled(comparison, [dict(one, **changes) for one in records(comparison, {"tcp": 75, "taco": 150})])
    return now, then


def verdicts(found):
    return {one["arm"]: one["verdict"] for one in found["comparisons"]}


def test_an_arm_that_became_slower_is_named_and_fails_the_play():
    comparison = compared()
    then = assembled(comparison, records(comparison, {"tcp": 100, "taco": 200}))
    now = assembled(comparison, [record(run, 100.0 if run.arm == "tcp" else 150.0) for run in plan(comparison)])
    found = regression(now, [("old.json", then)])
    assert found["worse"] == [
        "taco (lossy) on horovod_synthetic/ResNet50/2x2/64: 0.75 times (95% interval 0.75 to 0.75) what it was"
    ]
    assert found["better"] == [] and found["baseline"] == "old.json"
    assert found["unlike"] == [] and found["fails"] == found["worse"]
    verdicts = {one["arm"]: one["verdict"] for one in found["comparisons"]}
    assert verdicts == {"tcp": "inconclusive", "taco": "worse"}


def test_what_is_set_otherwise_than_then_is_named():
    then_spec = compared(arms=["tcp", {"name": "mine", "base": "tcp", "env": {"A": "1"}}])
    now_spec = compared(arms=["tcp", {"name": "mine", "base": "tcp", "env": {"A": "2"}}])
    then = assembled(then_spec, records(then_spec, {"tcp": 100, "mine": 100}))
    kept = records(now_spec, {"tcp": 50, "mine": 50})
    for one in kept:
        one["parameters"]["env"] = {"SLOW": "2"}
    now = assembled(now_spec, kept)
    assert regression(now, [("old.json", then)])["unlike"] == [
        'the environment of mine is {"A": "2"} now and was {"A": "1"}.',
        'horovod_synthetic/ResNet50/2x2/64: the environment beside the arm\'s is {"SLOW": "2"} now and was {}.',
    ]


def test_an_arm_that_was_not_measured_then_is_not_a_regression():
    comparison = compared()
    then = assembled(comparison, records(comparison, {"tcp": 100, "taco": 200}))
    wider = compared(arms=["tcp", "taco", "harp"])
    found = regression(assembled(wider, records(wider, {"tcp": 100, "taco": 200, "harp": 120})), [("old.json", then)])
    assert found["worse"] == []
    assert found["unlike"] == ["harp on horovod_synthetic/ResNet50/2x2/64 was not measured then."]
    assert {one["arm"]: one["verdict"] for one in found["comparisons"]}["harp"] == "inconclusive"


def test_a_baseline_of_other_settings_says_nothing_and_does_not_pass():
    comparison, other = compared(), compared(batch_sizes=[32])
    now = assembled(comparison, records(comparison, {"tcp": 100, "taco": 200}))
    then = assembled(other, records(other, {"tcp": 100, "taco": 200}))
    with pytest.raises(ComparisonError, match="has none of the arms and settings of this comparison"):
        regression(now, [("old.json", then)])


@pytest.mark.parametrize(
    ("option", "then", "now"),
    [("binary", "alltoall_perf", "all_reduce_perf"), ("max_bytes", "128M", "8G"), ("step_factor", 2, 4)],
)
def test_every_option_of_a_run_is_compared(option, then, now):
    before, after = (compared(dict(NCCL, **{option: value})) for value in (then, now))
    was = assembled(before, records(before, {"tcp": 10, "taco": 30}))
    is_now = assembled(after, records(after, {"tcp": 30, "taco": 10}))
    found = regression(is_now, [("old.json", was)])
    assert verdicts(found) == {"tcp": "refused", "taco": "refused"}
    assert found["fails"] == found["worse"] == found["better"] == []
    assert found["unlike"] == [f"nccl_tests/-/2x2/-: the {option} is {now} now and was {then}."]
    assert found["unlike"][0] in found["comparisons"][0]["reason"]


def test_an_option_that_the_file_does_not_have_is_not_alike():
    now, then = pair()
    del then["cases"][0]["settings"]["batch size"]
    found = regression(now, [("old.json", then)])
    assert found["unlike"] == ["horovod_synthetic/ResNet50/2x2/64: the batch size is 64 now and was not known."]
    assert found["fails"] == [] and set(verdicts(found).values()) == {"refused"}
    del then["cases"][0]["settings"]
    found = regression(now, [("old.json", then)])
    assert found["unlike"] == ["horovod_synthetic/ResNet50/2x2/64: the options of the runs are not known now or then."]


@pytest.mark.parametrize(("key", "value"), [("unit", "steps/s"), ("higher_is_better", False), ("workload", "command")])
def test_another_unit_direction_or_workload_is_not_comparable(key, value):
    now, then = pair()
    then["cases"][0][key] = value
    found = regression(now, [("old.json", then)])
    assert len(found["unlike"]) == 1 and set(verdicts(found).values()) == {"refused"} and found["fails"] == []


@pytest.mark.parametrize("fact", ["driver", "image", "gpu_names", "kernel", "interfaces"])
def test_a_fact_of_a_host_that_is_not_known_is_not_alike(fact):
    now, then = pair()
    for one in (now, then):
        for system in one["systems"].values():
            system[fact] = [] if fact == "gpu_names" else None
    found = regression(now, [("old.json", then)])
    assert len(found["unlike"]) == 2 and all(said.endswith("is not known now or then.") for said in found["unlike"])
    assert set(verdicts(found).values()) == {"refused"} and found["fails"] == []


def test_a_host_without_gpus_needs_no_driver_and_one_outside_the_cloud_no_instance_type():
    now, then = pair()
    for one in (now, then):
        for system in one["systems"].values():
            system.update(gpus=0, driver=None, gpu_names=[], instance_type=None)
    found = regression(now, [("old.json", then)])
    assert found["unlike"] == [] and len(found["fails"]) == 2


def test_other_hosts_or_another_driver_are_refused_and_can_be_allowed_but_do_not_fail_the_play():
    now, then = pair()
    now["systems"]["gpu1"]["driver"] = "550"
    then["systems"]["gpu3"] = then["systems"]["gpu2"]
    found = regression(now, [("old.json", then)])
    assert found["unlike"] == [
        "gpu3 was used then and is not now.",
        "the GPU driver of gpu1 is 550 now and was 535.",
    ]
    assert set(verdicts(found).values()) == {"refused"}
    allowed = regression(now, [("old.json", then)], refuse_unlike=False)
    assert set(verdicts(allowed).values()) == {"worse"} and len(allowed["worse"]) == 2 and allowed["fails"] == []


def test_an_arm_that_is_set_otherwise_does_not_make_the_others_unlike():
    now, then = pair()
    then["arms"][1]["before"] = [["true"]]
    assert verdicts(regression(now, [("old.json", then)])) == {"tcp": "worse", "taco": "refused"}


def several(*days, now=100):
    """Return a comparison and earlier ones, whose arm taco reached so many images a second on each day."""
    comparison = compared()
    found = [assembled(comparison, records(comparison, {"tcp": 100, "taco": speed})) for speed in (now, *days)]
    return found[0], [(f"day{place}.json", one) for place, one in enumerate(found[1:], 1)]


@pytest.mark.parametrize(
    ("now", "word"), [(100, "inconclusive"), (94, "inconclusive"), (89, "inconclusive"), (86, "worse"), (115, "better")]
)
def test_one_earlier_comparison_leaves_the_spread_between_days_unknown(now, word):
    found = regression(*several(100, now=now))
    assert verdicts(found) == {"tcp": "inconclusive", "taco": word}
    reason = found["comparisons"][1]["reason"]
    assert "The spread between days is unknown with 1 earlier day" in reason and "10% (compare_day_spread)" in reason
    assert found["comparisons"][1]["ratio"] == pytest.approx(now / 100) and found["day_spread"] == 0.1
    assert verdicts(regression(*several(100, now=94), day_spread=0.01))["taco"] == "worse"


@pytest.mark.parametrize(("now", "word"), [(100, "equivalent"), (94, "worse"), (97, "inconclusive"), (106, "better")])
def test_three_earlier_comparisons_give_an_estimate_of_the_spread_between_days(now, word):
    found = regression(*several(100, 100.5, 99.5, now=now))
    assert verdicts(found)["taco"] == word
    where = {
        "equivalent": "wholly within 3% of 1, the smallest difference that counts; p is",
        "worse": "below 0.97; p is",
        "inconclusive": "neither wholly beyond nor wholly within 3%, the smallest difference that counts; p is",
        "better": "above 1.03; p is",
    }
    assert f"a spread of 0.5% between 3 earlier days, lies {where[word]}" in found["comparisons"][1]["reason"]
    assert found["baseline"] == "day1.json, day2.json, day3.json"
    # Days that differ more decide less.
    assert verdicts(regression(*several(100, 105, 95, now=now)))["taco"] == "inconclusive"


def test_comparisons_of_one_day_say_nothing_of_the_spread_between_days():
    now, earlier = several(100, 100.5, 99.5, now=94)
    for place, (_path, one) in enumerate(earlier):
        for arm in one["cases"][0]["arms"]:
            for run in arm["runs"]:
                run["record"] = f"20260131T1{place}0000Z-{arm['arm']}-{run['repeat']}"
    found = regression(now, earlier)["comparisons"][1]
    assert (found["earlier"], found["day_spread"], found["verdict"]) == (1, None, "inconclusive")


def test_an_earlier_comparison_that_is_not_comparable_is_left_out():
    now, earlier = several(100, 100, 50, now=100)
    earlier[2][1]["systems"]["gpu1"]["driver"] = "470"
    found = regression(now, earlier)
    assert {one["earlier"] for one in found["comparisons"]} == {2}
    assert found["unlike"] == ["day3.json: the GPU driver of gpu1 is 535 now and was 470."]


def pods_of(one, **facts):
    """Make the hosts of a comparison pods with these facts."""
    one["cases"][0]["pods"] = True
    for system in one["systems"].values():
        system.update(facts)


@pytest.mark.parametrize("facts", [{"engine": None, "image": None}, {"image": None}, {"engine": None}])
def test_what_a_pod_cannot_observe_does_not_refuse_a_comparison_of_pods(facts):
    now, then = pair()
    pods_of(now, **facts)
    pods_of(then, **facts)
    found = regression(now, [("old.json", then)])
    assert found["unlike"] == [] and len(found["fails"]) == 2
    # A fact that one of the two has is not alike, nor are the same facts of a host that is no pod.
    then["systems"]["gpu1"].update(engine="docker 24.0", image="taco@sha256:1")
    assert set(verdicts(regression(now, [("old.json", then)])).values()) == {"refused"}
    now, then = pair()
    pods_of(now, image=None)
    then["systems"] = now["systems"]
    assert set(verdicts(regression(now, [("old.json", then)])).values()) == {"refused"}


def test_a_host_without_a_container_engine_has_no_image():
    now, then = pair()
    for one in (now, then):
        for system in one["systems"].values():
            system.update(engine=None, image=None)
    assert len(regression(now, [("old.json", then)])["fails"]) == 2


def test_pods_with_another_image_or_other_packages_are_refused():
    for fact in ({"image": "taco@sha256:2"}, {"packages": {"light-horovod": "0.2"}}, {"driver": None}):
        now, then = pair()
        pods_of(then)
        pods_of(now, **fact)
        assert set(verdicts(regression(now, [("old.json", then)])).values()) == {"refused"}


def test_hosts_of_which_nothing_is_known_are_not_alike():
    now, then = pair()
    now["systems"], then["systems"] = {}, {}
    found = regression(now, [("old.json", then)])
    assert found["unlike"] == ["the facts of the hosts are not known now and then."] and found["fails"] == []
