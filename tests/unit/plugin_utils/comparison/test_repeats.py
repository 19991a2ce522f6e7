# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cases get more rounds, and why the others stop."""

import pytest
from measured import DEFAULTS, HOSTS, record

from ansible_collections.taco.train.plugins.plugin_utils.comparison import repeats
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.repeats import CaseRepeats
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError, read
from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Time
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LOOKS

FIRST, SECOND = (f"horovod_synthetic/{model}/2x2/64" for model in ("VGG16", "ResNet50"))


def comparison(arms=("tcp", "taco"), **spec):
    spec = dict(
        {"arms": list(arms), "repeats": "auto", "warmup_runs": 1, "workloads": [{"model": "VGG16"}, {}]}, **spec
    )
    return read(spec, HOSTS, DEFAULTS)


def case(name, *verdicts, unlike=()):
    found = [{"arm": f"arm{number}", "baseline": "tcp", "verdict": word} for number, word in enumerate(verdicts)]
    return {"id": name, "unlike": list(unlike), "comparisons": found}


def decided(first, second=("better",), now=None, time=repeats.NO_TIME, given_up=(), unlike=(), **spec):
    cases = [case(FIRST, *first, unlike=unlike), case(SECOND, *second)]
    now = now or {FIRST: CaseRepeats(4), SECOND: CaseRepeats(4)}
    return repeats.decide(comparison(**spec), cases, now, given_up, time)


def test_a_case_goes_on_until_every_verdict_in_it_is_decided():
    found = decided(("better", "inconclusive"), ("better", "equivalent"))
    assert found == {FIRST: CaseRepeats(6), SECOND: CaseRepeats(4, "decided")}
    assert decided(("worse", "equivalent"))[FIRST] == CaseRepeats(4, "decided")


def test_the_rounds_are_those_of_the_looks_and_the_last_is_the_end():
    case, seen = CaseRepeats(LOOKS[0]), []
    while case.stop is None:
        seen.append(case.rounds)
        case = decided(("inconclusive",), now={FIRST: case, SECOND: CaseRepeats(4, "decided")})[FIRST]
    assert tuple(seen) == LOOKS and case == CaseRepeats(32, "rounds")


def test_rounds_that_would_exceed_the_budget_are_not_added_and_those_that_fit_are():
    # Two more rounds of two arms in two cases, a minute each, after 20 minutes.
    time = Time(20 * 60, 60)
    both = {"first": ("inconclusive",), "second": ("inconclusive",), "time": time}
    assert decided(**both, budget_minutes=28) == {FIRST: CaseRepeats(6), SECOND: CaseRepeats(6)}
    assert decided(**both, budget_minutes=27) == {FIRST: CaseRepeats(6), SECOND: CaseRepeats(4, "budget")}
    assert decided(**both, budget_minutes=20) == {FIRST: CaseRepeats(4, "budget"), SECOND: CaseRepeats(4, "budget")}
    assert decided(**both) == {FIRST: CaseRepeats(6), SECOND: CaseRepeats(6)}


def test_what_more_rounds_cant_decide_gets_none():
    assert decided(("inconclusive",), given_up=[f"{FIRST} arm0"])[FIRST] == CaseRepeats(4, "failures")
    assert decided(("inconclusive",), given_up=[f"{FIRST} tcp"])[FIRST] == CaseRepeats(4, "failures")
    assert decided(("inconclusive", "inconclusive"), given_up=[f"{FIRST} arm0"])[FIRST] == CaseRepeats(6)
    assert decided(("inconclusive",), unlike=["another driver"])[FIRST] == CaseRepeats(4, "unlike")
    # A new play tries the arm again.
    assert decided(("inconclusive",), now={FIRST: CaseRepeats(4, "failures"), SECOND: CaseRepeats(4, "decided")})[
        FIRST
    ] == CaseRepeats(6)


def test_a_case_goes_on_that_other_limits_leave_undecided():
    for stop in ("decided", "unlike"):
        assert decided(("inconclusive",), now={FIRST: CaseRepeats(4, stop), SECOND: CaseRepeats(4, "decided")})[
            FIRST
        ] == CaseRepeats(6)


def test_the_plan_has_the_rounds_of_each_case():
    found = repeats.with_rounds(comparison(), {FIRST: CaseRepeats(6), SECOND: CaseRepeats(4)})
    runs = plan(found)
    assert [sum(run.case.id == name for run in runs) for name in (FIRST, SECOND)] == [2 * 7, 2 * 5]
    placed = repeats.with_rounds(comparison(["default", "topology"]), {FIRST: CaseRepeats(6), SECOND: CaseRepeats(4)})
    assert sorted((run.case.id, run.round) for run in plan(placed)) == sorted((run.case.id, run.round) for run in runs)


def test_added_runs_are_those_of_the_new_rounds_alone():
    found = repeats.with_rounds(comparison(), {FIRST: CaseRepeats(6), SECOND: CaseRepeats(4)})
    before = {FIRST: CaseRepeats(4), SECOND: CaseRepeats(4)}
    kept = [record(run, 1.0, "failed" if run.round == 1 else "ok") for run in plan(found) if run.round < 4]
    assert [(run.case.id, run.round) for run in repeats.added(found, before, kept)] == [
        (FIRST, 4),
        (FIRST, 4),
        (FIRST, 5),
        (FIRST, 5),
    ]


def test_cases_are_taken_up_as_they_were_left_and_another_budget_lets_them_go_on():
    wanted = comparison(budget_minutes=10)
    kept = repeats.part(wanted, {FIRST: CaseRepeats(8, "budget"), SECOND: CaseRepeats(6, "decided")})
    assert kept["said"] == [
        f"{FIRST}: 8 rounds; the next rounds would exceed compare_budget_minutes, 10.",
        f"{SECOND}: 6 rounds; every verdict is decided.",
    ]
    assert repeats.case_repeats(wanted, kept, []) == {
        FIRST: CaseRepeats(8, "budget"),
        SECOND: CaseRepeats(6, "decided"),
    }
    assert repeats.case_repeats(comparison(budget_minutes=20), kept, [])[FIRST] == CaseRepeats(8)
    assert repeats.case_repeats(comparison(), None, []) == {FIRST: CaseRepeats(4), SECOND: CaseRepeats(4)}
    six = [record(run, 1.0) for run in plan(comparison(repeats=6))]
    assert repeats.case_repeats(comparison(), None, six) == {FIRST: CaseRepeats(6), SECOND: CaseRepeats(6)}


def test_a_verdict_that_an_earlier_look_decided_stays():
    wanted = repeats.with_rounds(comparison(workloads=[]), {SECOND: CaseRepeats(4)})
    speeds = {"tcp": [100, 101, 100, 101], "taco": [105, 108.5, 106, 107]}
    kept = [record(run, speeds[run.arm][run.round]) for run in plan(wanted) if not run.warmup]
    first = assemble(wanted, kept, "known")
    (better,) = first["cases"][0]["comparisons"]
    assert better["verdict"] == "better" and better["p"] > 0.001
    again = {"looks": [1, 2, 3, 4], "decided": repeats.kept_verdicts(first, 0.03, 0.95)}
    assert assemble(wanted, kept, "known", **again)["cases"][0]["comparisons"] == [better]
    without = assemble(wanted, kept, "known", looks=again["looks"])["cases"][0]["comparisons"]
    assert without[0]["verdict"] == "inconclusive"
    assert repeats.kept_verdicts(first, 0.05, 0.95) == repeats.kept_verdicts(None, 0.03, 0.95) == {}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"repeats": "often"}, "compare_repeats is 'often'; it must be a whole number, 4 or more, or auto"),
        ({"budget_minutes": 0}, "compare_budget_minutes is 0; it must be a number above 0"),
        ({"budget_minutes": "soon"}, "compare_budget_minutes is 'soon'"),
        ({"budget_minutes": 5, "repeats": 6}, "compare_budget_minutes needs compare_repeats: auto"),
    ],
)
def test_what_is_no_number_of_rounds_or_minutes_is_refused(spec, words):
    with pytest.raises(ComparisonError, match=words):
        comparison(**spec)
