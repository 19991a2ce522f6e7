# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The control of a comparison: the baseline again, which must not differ from itself."""

import json
from pathlib import Path

import jsonschema
import pytest
from measured import DEFAULTS, HOSTS, records
from rendered import of_comparison

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import arm_of
from ansible_collections.taco.train.plugins.plugin_utils.comparison import repeats, segments
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError, read

ROOT = Path(__file__).parents[4]
SCHEMA = json.loads((ROOT / "collections/ansible_collections/taco/train/docs/schemas/comparison-1.json").read_text())
MINE = {"name": "mine", "label": "My arm", "base": "taco", "env": {"NCCL_DEBUG": "INFO"}}


def compared(arms=("tcp", "taco"), **spec):
    return read(dict({"arms": list(arms), "control": True}, **spec), HOSTS, DEFAULTS)


def assembled(speeds, **options):
    comparison = compared()
    result = assemble(comparison, records(comparison, speeds), "test", **options)
    jsonschema.validate(json.loads(json.dumps(result)), SCHEMA)
    return result


def verdicts(result):
    return {one["arm"]: one["verdict"] for one in result["cases"][0]["comparisons"]}


@pytest.mark.parametrize("baseline", ["tcp", "mine"])
def test_the_control_is_the_baseline_again_and_reaches_the_runs_as_an_arm(baseline):
    comparison = compared(["tcp", MINE], baseline=baseline)
    control, of = comparison.arms[-1], next(arm for arm in comparison.arms if arm.name == baseline)
    assert control.label == f"{baseline} again, as the control"
    assert control._replace(name=of.name, label=of.label) == of
    runs = plan(comparison)
    assert {run.arm for run in runs} == {"tcp", "mine", "control"} and len(runs) == 3 * 7
    steps = segments.remaining_runs(comparison, runs, True)["runs"]
    assert [arm_of(step["arm"]) for step in steps if step["arm"]["name"] == "control"] == 7 * [control]


def test_without_it_nothing_changes():
    comparison = compared(control=False)
    assert comparison.control is None and comparison == compared(control=None)
    assert "control" not in assemble(comparison, records(comparison, {"tcp": 100, "taco": 210}), "test")


def test_an_arm_of_that_name_is_refused():
    with pytest.raises(ComparisonError, match="compare_arms has an arm control.*rename yours"):
        compared(["tcp", {"name": "control", "base": "harp"}])


def test_a_control_that_does_not_differ_leaves_the_verdicts_and_shows_how_much_equal_arms_differ():
    result = assembled({"tcp": 100, "taco": 210, "control": 100})
    assert verdicts(result) == {"taco": "better", "control": "equivalent"}
    assert result["question"] == "Does taco train faster than tcp?"
    assert result["sentence"].endswith(
        "; the control, tcp again, has 1.00 times (95% interval 1.00 to 1.00) the speed of tcp on ResNet50."
    )
    assert "tcp again, as the control" in of_comparison(result, [])


def test_a_control_that_differs_refuses_the_verdicts_of_its_case():
    speeds = {"tcp": 100, "taco": 210, "control": 110}
    result = assembled(speeds)
    assert verdicts(result) == {"taco": "refused", "control": "refused"}
    (said,) = result["unlike"]
    assert "the control, tcp again, is better than tcp by a ratio of 1.100" in said
    assert said in of_comparison(result, [])
    allowed = assembled(speeds, refuse_unlike=False)
    assert verdicts(allowed) == {"taco": "better", "control": "better"} and allowed["unlike"] == [said]


def test_no_rounds_are_added_for_the_control_alone():
    comparison = compared(repeats="auto")
    (case,) = comparison.cases
    judged = [{"arm": "taco", "baseline": "tcp", "verdict": "better"}]
    judged.append({"arm": "control", "baseline": "tcp", "verdict": "inconclusive"})
    found = {"id": case.id, "unlike": [], "comparisons": judged}
    decided = repeats.decide(comparison, [found], {case.id: repeats.CaseRepeats(4)})
    assert decided[case.id] == repeats.CaseRepeats(4, "decided")
    assert "tcp a second time in each round as the control" in repeats.planned_text(comparison, 15)
