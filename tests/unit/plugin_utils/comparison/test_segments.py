# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which runs of a comparison need no visit of the hosts between them, and which are not tried again."""

import json

from hypothesis import given
from hypothesis import strategies as st
from measured import DEFAULTS, HOSTS, record

from ansible_collections.taco.train.plugins.plugin_utils.comparison import segments
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read
from ansible_collections.taco.train.plugins.plugin_utils.run import abandoned

CASE = "horovod_synthetic/ResNet50/2x2/64"


def planned(arms, hosts=HOSTS, **spec):
    comparison = read(dict({"arms": arms, "repeats": 4, "warmup_runs": 0}, **spec), hosts, DEFAULTS)
    return plan(comparison), {arm.name: arm for arm in comparison.arms}


def names(arms, **spec):
    runs, by_name = planned(arms, **spec)
    found = segments.segments(runs, by_name, ["run"] * len(runs), witnesses=False)
    return [[run.arm for run in runs[one["first"] : one["end"]]] for one in found]


def test_arms_that_differ_in_their_environment_are_one_segment():
    assert names(["tcp", "harp", "horovod"]) == [
        [*("tcp", "harp", "horovod"), *("horovod", "harp", "tcp") * 2, *("tcp", "harp", "horovod")]
    ]


def test_workers_that_stay_where_they_are_are_placed_once():
    assert names(["default", "topology"], workloads=[{"model": "VGG16"}, {}]) == [
        *(["default"] * 2, ["topology"] * 4, ["default"] * 4, ["topology"] * 4, ["default"] * 2),
    ]


def test_what_every_host_evaluates_does_not_grow_with_the_hosts():
    sizes = []
    for count in (2, 200):
        runs, arms = planned(["tcp", "taco"], [{"name": f"gpu{number:03}", "slots": 8} for number in range(count)])
        labels = ["a run"] * len(runs)
        sizes.append(len(json.dumps(segments.segments(runs, arms, labels))))
    assert sizes[1] < sizes[0] + 200


def test_a_segment_says_how_many_runs_follow_the_first():
    runs, arms = planned(["lightcc", "taco"])
    (segment,) = segments.segments(runs, arms, ["first", *["other"] * 7])
    assert segment["label"] == "first, and 7 more"
    assert (segment["first"], segment["end"], segment["counted"], segment["place"]) == (0, 8, False, None)
    assert segment["settings"] == [f"{CASE} lightcc", f"{CASE} taco"]


def test_the_first_run_of_an_arm_whose_path_can_be_proved_is_counted_alone():
    runs, arms = planned(["harp", "taco"])
    found = segments.segments(runs, arms, ["run"] * 8)
    assert [(one["first"], one["end"], one["counted"]) for one in found] == [(0, 1, True), (1, 8, False)]
    warm, arms = planned(["tcp", "lightcc"], warmup_runs=1)
    found = segments.segments(warm, arms, ["run"] * len(warm))
    (place,) = [one["first"] for one in found if one["counted"]]
    assert (warm[place].arm, warm[place].warmup) == ("tcp", False)
    runs, arms = planned(["default", "topology"])
    assert not any(one["counted"] for one in segments.segments(runs, arms, ["run"] * 8))


def test_without_witnesses_no_run_is_a_segment_of_its_own():
    runs, arms = planned(["harp", "taco"])
    found = segments.segments(runs, arms, ["run"] * 8, witnesses=False)
    assert [(one["first"], one["end"], one["counted"]) for one in found] == [(0, 8, False)]


def test_no_run_of_a_workload_whose_bytes_nobody_knows_is_counted_alone():
    runs, arms = planned(["harp", "tcp"])
    unknown = [run._replace(case=run.case._replace(workload="command")) for run in runs]
    assert segments.counted(runs, arms) and not segments.counted(unknown, arms)


def test_rounds_that_are_added_need_no_counters_of_arms_that_were_counted():
    runs, arms = planned(["tcp", "harp"])
    found = segments.segments(runs, arms, ["run"] * len(runs), counted_before={"tcp"})
    assert [runs[one["first"]].arm for one in found if one["counted"]] == ["harp"]
    assert len(segments.segments(runs, arms, ["run"] * len(runs), counted_before={"tcp", "harp"})) == 1


def test_an_arm_that_took_another_path_is_refuted():
    def record(arm, verdict=None):
        return {"arm": arm, **({"witnesses": {"path": {"verdict": verdict}}} if verdict else {})}

    assert abandoned.refuted([record("a", "contradicted"), record("b", "proved"), record("c"), record("a")]) == {"a"}


ARMS = st.lists(
    st.builds(
        lambda plugin, place: {"plugin": plugin, "place": place},
        st.sampled_from(["on", "off", "keep"]),
        st.sampled_from(["default", "topology", None]),
    ),
    min_size=2,
    max_size=4,
)


@given(ARMS, st.integers(4, 7), st.integers(0, 2))
def test_segments_are_the_plan_in_its_order_and_neighbours_differ_in_place_or_have_counters(given_arms, repeats, warm):
    arms = [dict(arm, name=f"arm{number}") for number, arm in enumerate(given_arms)]
    runs, by_name = planned(arms, repeats=repeats, warmup_runs=warm)
    found = segments.segments(runs, by_name, ["run"] * len(runs))
    assert [run for one in found for run in runs[one["first"] : one["end"]]] == runs
    for one in found:
        assert {by_name[run.arm].place for run in runs[one["first"] : one["end"]]} == {one["place"]}
        assert not one["counted"] or one["end"] == one["first"] + 1
    assert all(
        one["place"] != next_one["place"] or one["counted"] or next_one["counted"]
        for one, next_one in zip(found, found[1:])
    )


def attempts(*outcomes):
    runs = {arm: run for run in planned(["tcp", "taco"])[0] for arm in [run.arm]}
    return [record(runs[arm], 1.0, outcome) for arm, outcome in outcomes]


def test_an_arm_is_given_up_after_two_failures_in_a_row_in_a_case():
    twice = attempts(("tcp", "failed"), ("taco", "ok"), ("tcp", "failed"))
    assert abandoned.given_up(twice[:2]) == []
    assert abandoned.given_up(twice) == [f"{CASE} tcp"]
    assert abandoned.given_up(attempts(("tcp", "failed"), ("tcp", "ok"), ("tcp", "failed"))) == []
    other = dict(twice[2], case=dict(twice[2]["case"], id="another"))
    assert abandoned.given_up([*twice[:2], other]) == []
    assert abandoned.given_up([dict(one, case=None) for one in twice]) == []
