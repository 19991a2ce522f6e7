# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arms that differ in where their workers are placed: the order of their runs, and what placement explains."""

import json
from pathlib import Path

import jsonschema
import pytest
from measured import DEFAULTS, record
from rendered import of_comparison, shown_of_comparison, text_of_comparison

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan, remaining
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read
from ansible_collections.taco.train.plugins.plugin_utils.comparison.store import fingerprint
from ansible_collections.taco.train.plugins.plugin_utils.report import rows as comparison_rows

ROOT = Path(__file__).parents[4]
SCHEMA = json.loads((ROOT / "collections/ansible_collections/taco/train/docs/schemas/comparison-1.json").read_text())
PODS = [{"name": f"j-worker-{number}", "slots": 1} for number in range(4)]
# As in ACK's document: with topology all workers are on one node, as usual they are spread over two.
NODES = {"topology": ["n2"] * 4, "default": ["n1", "n2", "n1", "n2"]}
FIXTURES = {"VGG16": {"default": 200.47, "topology": 991.92}, "ResNet50": {"default": 745.38, "topology": 1471.55}}


def placement(nodes):
    return {pod["name"]: node for pod, node in zip(PODS, nodes)}


def compared(**spec):
    defaults = dict(DEFAULTS, workload="tf_cnn_benchmarks")
    return read(dict({"arms": ["default", "topology"], "repeats": 4, "warmup_runs": 0}, **spec), PODS, defaults)


def measured(comparison, nodes=None, speeds=None, **other):
    """Return a record of each run; nodes and speeds are by arm, or functions of a run."""
    found = []
    for run in plan(comparison):
        arm = next(one for one in comparison.arms if one.name == run.arm)
        where = nodes(run) if nodes else NODES[arm.place]
        speed = speeds(run) if speeds else FIXTURES[run.case.options["model"]][arm.place]
        place = {"placement": placement(where)} if where else {}
        found.append(record(run, speed * (1 + run.round / 1000), arm_spec=arm._asdict(), **place, **other))
    return found


def assembled(comparison, records, **options):
    result = assemble(comparison, records, "test", **options)
    jsonschema.validate(json.loads(json.dumps(result)), SCHEMA)
    return result


def test_runs_of_one_place_are_together_and_rounds_meet_in_it():
    runs = plan(compared(workloads=[{"model": "VGG16"}, {}]))
    places = [run.arm for run in runs]
    switches = sum(one != other for one, other in zip(places, places[1:]))
    assert len(runs) == 16 and switches == 4
    assert [run.round for run in runs] == sorted(run.round for run in runs)


@pytest.mark.parametrize(
    "arms", [["default", "topology"], ["topology", "default", {"name": "x", "base": "tcp", "place": "default"}]]
)
def test_a_linear_drift_costs_every_arm_of_every_block_the_same(arms):
    costs = {}
    for number, run in enumerate(plan(compared(arms=arms, workloads=[{"model": "VGG16"}, {}]))):
        costs[run.case.id, run.arm] = costs.get((run.case.id, run.arm), 0) + number
    assert len(set(costs.values())) == 1


def test_a_comparison_that_was_killed_goes_on_in_the_same_order():
    comparison = compared()
    records = measured(comparison)
    assert [run.key for run in remaining(comparison, records[:3])] == [run.key for run in plan(comparison)][3:]


def test_arms_without_a_place_are_what_they_were():
    assert "place" not in str(read({"arms": ["tcp", "taco"]}, PODS, DEFAULTS).arms[0].place)
    one, other = compared(), compared(arms=["default", {"name": "topology2", "base": "topology"}])
    assert fingerprint(one) != fingerprint(other)


def test_placement_alone_explains_the_difference():
    comparison = compared(workloads=[{"model": "VGG16"}, {"model": "ResNet50"}])
    found = assembled(comparison, measured(comparison))
    assert found["unlike"] == []
    assert found["placement"]["said"] == ["Placement alone explains the difference between topology and default."]
    for text in (text_of_comparison(found, []), shown_of_comparison(found, []), of_comparison(found, [])):
        assert "Placement alone explains the difference between topology and default." in text[:100000]
    assert "Placement alone" in "\n".join(text_of_comparison(found, []).splitlines()[:8])


def test_the_table_of_the_document():
    comparison = compared(workloads=[{"model": "VGG16"}, {"model": "ResNet50"}])
    found = assembled(comparison, measured(comparison))
    head, rows, *_details = comparison_rows.by_placement(found)
    assert head == ("Model", "Whose", "Without topology", "With topology", "Speed-up", "Unit", "Ranks")
    published = [row for row in rows if row[1].startswith("PUBLISHED")]
    assert [(row[0], *row[2:5]) for row in published] == [
        ("VGG16", "200.47", "991.92", "4.95x"),
        ("ResNet50", "745.38", "1471.55", "1.97x"),
    ]
    own = [row for row in rows if row[1] == "measured here"]
    assert [(row[0], row[4]) for row in own] == [("VGG16", "4.95x"), ("ResNet50", "1.97x")]
    in_lab = assembled(comparison, measured(comparison, lab=True))
    assert [row[1] for row in comparison_rows.by_placement(in_lab).rows] == ["measured here, in a lab"] * 2


def test_published_figures_stand_beside_measurements_of_their_own_workload_only():
    spec = {"arms": ["default", "topology"], "repeats": 4, "warmup_runs": 0, "workloads": [{"model": "VGG16"}]}
    comparison = read(spec, PODS, DEFAULTS)
    rows = comparison_rows.by_placement(assembled(comparison, measured(comparison)))[1]
    assert [row[1] for row in rows] == ["measured here"]


def test_through_arena_it_is_not_placement_alone():
    comparison = compared()
    interfaces = {"default": ["eth0"], "topology": ["eth0", "eth1"]}
    records = measured(comparison)
    for one in records:
        for system in one["system"].values():
            system["interfaces"] = interfaces[one["arm"]]
    found = assembled(comparison, records, place_changes=["--gputopology"])
    assert found["placement"]["said"] == [
        "Placement explains the difference between topology and default, together with what else --gputopology changes."
    ]
    assert assembled(comparison, records)["unlike"]


@pytest.mark.parametrize(
    ("nodes", "speeds", "said"),
    [
        (lambda run: ["n1"] * 4, None, "not of all is known which GPUs they had, so placement is not proved"),
        (lambda run: [{"node": "n1", "gpu_visible": "0,1"}] * 4, None, "ran in the same places"),
        (lambda run: None, None, "was not recorded for every run"),
        (None, lambda run: 100, "makes no difference"),
    ],
)
def test_what_placement_does_not_explain(nodes, speeds, said):
    comparison = compared()
    found = assembled(comparison, measured(comparison, nodes, speeds))
    (sentence,) = found["placement"]["said"]
    assert said in sentence


def test_a_difference_in_software_too_is_said():
    comparison = compared(arms=["default", {"name": "fast", "base": "taco", "place": "topology"}])
    (said,) = assembled(comparison, measured(comparison))["placement"]["said"]
    assert (
        said == "fast and default differ in their software too, so placement alone does not explain their difference."
    )


def test_arms_of_one_place_that_ran_on_other_nodes_are_unlike():
    arms = ["default", {"name": "tcp2", "base": "tcp", "place": "default"}]
    comparison = compared(arms=arms)
    found = assembled(comparison, measured(comparison, lambda run: ["n1"] * 4 if run.arm == "tcp2" else ["n2"] * 4))
    (said,) = found["unlike"]
    assert (
        "the nodes of the workers were not the same in all runs: j-worker-0, j-worker-1, j-worker-2, j-worker-3 on"
        in said
    )
    assert {one["verdict"] for one in found["cases"][0]["comparisons"]} == {"refused"}


def test_arms_without_a_place_must_stay_where_they_are():
    comparison = read({"arms": ["tcp", "taco"], "repeats": 4}, PODS, DEFAULTS)
    records = [
        record(run, 100 + run.round, placement=placement(["n1"] * 4 if run.round < 2 else ["n2"] * 4))
        for run in plan(comparison)
    ]
    assert "the nodes of the workers were not the same" in assembled(comparison, records)["unlike"][0]


def test_where_the_usual_scheduler_puts_them_may_change_each_time():
    comparison = compared()
    spread = [["n1", "n2"] * 2, ["n1"] * 4]
    found = assembled(
        comparison, measured(comparison, lambda run: spread[run.round % 2] if run.arm == "default" else ["n2"] * 4)
    )
    assert found["unlike"] == []
    rows = comparison_rows.layouts(found).rows
    assert [row[3] for row in rows] == ["2", "2", "4"]
    assert rows[2][2] == "j-worker-0, j-worker-1, j-worker-2, j-worker-3 on n2"


def test_nodes_that_differ_make_runs_unlike():
    comparison = compared()
    records = measured(comparison)
    for one in records:
        for pod, system in one["system"].items():
            system["driver"] = "418" if one["placement"][pod] == "n1" else "535"
    (said,) = assembled(comparison, records)["unlike"]
    assert "the GPU driver of the nodes was not the same in all runs: 418 and 535 in default; 535 in topology" in said


def test_gpus_within_a_node_are_part_of_where_a_worker_is():
    comparison = compared()
    records = measured(comparison, lambda run: ["n1"] * 4)
    for one in records:
        for number, pod in enumerate(sorted(one["placement"])):
            shown = {"node": "n1", "gpu_group": "0", "gpu_visible": str(number + 4 * (one["arm"] == "default"))}
            one["placement"][pod] = shown
    assert assembled(comparison, records)["placement"]["said"][0].startswith("Placement alone explains")


def test_a_comparison_without_places_says_nothing_of_placement():
    assert wording.placed({}) is None
    comparison = read({"arms": ["tcp", "taco"]}, PODS, DEFAULTS)
    assert "placement" not in assembled(comparison, [])
