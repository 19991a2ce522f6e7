# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arms that differ in an option of the run, such as static and dynamic embedding, and the batch size that a workload has by itself."""

import json

import pytest
from measured import HOSTS, records
from rendered import of_comparison, shown_of_comparison, text_of_comparison

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import OPTIONS as ARM_OPTIONS
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import arm_of
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import checked_comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.regression import regression
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.comparison.store import fingerprint
from ansible_collections.taco.train.plugins.plugin_utils.run.json_schema import load, problems
from ansible_collections.taco.train.plugins.plugin_utils.run.options import effective, with_overrides
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OPTIONS, PLACES, plan
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

STATIC = {"name": "static", "options": {"is_dynamic": False}}
DYNAMIC = {"name": "dynamic", "options": {"is_dynamic": "yes"}, "env": {"TF_CPP_MIN_LOG_LEVEL": 1}}
DEMO = "ttf_dynamic_embedding"


def options(**given):
    defaults = {name: spec.get("default") for name, spec in {**OPTIONS, **PLACES}.items()}
    return dict(defaults, hosts=HOSTS, run_dir="results/x", **given)


def command(**given):
    return " ".join(plan(effective(options(**given))).argv)


def demos(arms=(STATIC, DYNAMIC), **given):
    spec = {"arms": list(arms), "workloads": [], "node_counts": [], "batch_sizes": [], "repeats": 6, **given}
    return checked_comparison(spec, HOSTS, {"workload": DEMO}, False)[0]


def effective_records(comparison, speeds):
    """Return records as the action benchmark leaves them: with the options that the arm sets."""
    arms = {arm.name: arm for arm in comparison.arms}
    found = records(comparison, speeds)
    for one in found:
        one["parameters"].update(arms[one["arm"]].options or {})
        one["result"]["unit"] = "steps/s"
    return found


@pytest.mark.parametrize("demo", ["benchmark", "ps", "estimator"])
def test_the_demos_run_with_their_own_batch_size(demo):
    found = plan(effective(options(workload=DEMO, demo=demo)))
    assert "batch_size" not in " ".join(found.argv) and len(found.notes) == 1
    assert "--batch_size=256" in command(workload=DEMO, batch_size=256)


def test_horovods_script_and_tf_cnn_benchmarks_run_with_256():
    assert command().endswith("--batch-size=256")
    assert "--batch_size=256" in command(
        workload="tf_cnn_benchmarks", script="/b/tf_cnn_benchmarks.py", model="resnet50"
    )
    assert with_overrides(options(), {})["batch_size"] == 256


@pytest.mark.parametrize("workload", ["nccl_tests", DEMO, "command"])
def test_a_workload_without_a_model_has_none_in_its_record(workload):
    assert with_overrides(options(), {"workload": workload})["model"] is None
    assert with_overrides(options(), {"workload": workload})["batch_size"] is None


def test_the_option_of_an_arm_wins_over_that_of_the_run():
    found = with_overrides(options(arm=DYNAMIC), {"workload": DEMO, "is_dynamic": False})
    assert found["is_dynamic"] is True
    assert " ".join(plan(found).argv).endswith("env TF_CPP_MIN_LOG_LEVEL=1 python train.py --is_dynamic=True")
    mixed = {"name": "mixed", "base": "taco", "options": {"mixed_precision": True, "xla": True}}
    said = command(arm=mixed)
    assert "TF_ENABLE_AUTO_MIXED_PRECISION=1" in said and "TF_XLA_FLAGS=" in said and "LIGHT_2D_ALLREDUCE=1" in said


def test_an_arm_without_options_is_the_arm_that_it_was():
    assert arm_of({"name": "mine"}).options is None
    assert arm_of({"name": "mine", "options": {}}).options is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"is_dynamic": "maybe"}, "is_dynamic 'maybe'; it must be true or false"),
        ({"dnn_layer_num": 0}, "dnn_layer_num 0; it must be a whole number, 1 or more"),
        ({"dnn_layer_num": True}, "dnn_layer_num True"),
        ({"batch_size": 8}, "'batch_size'; an arm can set is_dynamic, dnn_layer_num, mixed_precision, xla"),
        (["xla"], "no mapping"),
    ],
)
def test_a_wrong_option_names_the_arm_and_the_variable(given, said):
    with pytest.raises(InvalidValueError, match=said) as error:
        arm_of({"name": "mine", "options": given}, "compare_arms")
    assert "Arm mine of compare_arms" in str(error.value)


def test_an_option_that_the_workload_does_not_read_is_refused():
    with pytest.raises(
        InvalidValueError, match="arm dynamic sets the option is_dynamic, which workload horovod_synthetic"
    ):
        effective(options(arm=DYNAMIC))
    with pytest.raises(ComparisonError, match="xla, which workload nccl_tests doesn't read"):
        demos(arms=[{"name": "on", "options": {"xla": True}}, "tcp"], workloads=[{"workload": "nccl_tests"}])
    assert set(ARM_OPTIONS) <= {name for kind in WORKLOADS.values() for name in kind.options}


def test_static_and_dynamic_embedding_are_arms_of_one_case_with_a_verdict():
    comparison = demos()
    assert [case.id for case in comparison.cases] == [f"{DEMO}/-/1x1/-"]
    found = assemble(comparison, effective_records(comparison, {"static": 10.0, "dynamic": 14.0}), "embedding")
    assert found["unlike"] == []
    assert [one["verdict"] for one in found["cases"][0]["comparisons"]] == ["better"]
    assert found["sentence"].startswith("dynamic is faster than static on TTF demo benchmark: 1.40 times")
    assert [arm.get("options") for arm in found["arms"]] == [{"is_dynamic": False}, {"is_dynamic": True}]
    assert "benchmark_options.is_dynamic" not in found["cases"][0]["settings"]


def test_arms_that_differ_in_another_option_are_still_refused():
    comparison = demos()
    found = effective_records(comparison, {"static": 10.0, "dynamic": 14.0})
    for one in found[:4]:
        one["parameters"]["dnn_layer_num"] = 12
    assert any("dnn_layer_num" in said for said in assemble(comparison, found, "embedding")["unlike"])


def test_the_pages_of_a_comparison_of_demos_name_the_demo_and_no_model():
    comparison = demos()
    measured = effective_records(comparison, {"static": 10.0, "dynamic": 14.0})
    found = assemble(comparison, measured, "embedding")
    for page in (of_comparison(found, measured), text_of_comparison(found, measured)):
        assert "TTF demo benchmark" in page and "benchmark_options.is_dynamic=true" in page
        assert "ResNet50" not in page and "images/s" not in page and "2 nodes" not in page
    assert "TTF demo benchmark" in shown_of_comparison(found, measured)


def test_two_comparisons_with_other_options_of_an_arm_are_two():
    assert fingerprint(demos()) != fingerprint(demos([STATIC, dict(DYNAMIC, options={"dnn_layer_num": 3})]))
    now, then = (
        assemble(one, effective_records(one, {"static": 10.0, "dynamic": 14.0}), "embedding")
        for one in (demos(), demos([STATIC, dict(DYNAMIC, options={"is_dynamic": True, "dnn_layer_num": 3})]))
    )
    said = regression(now, [("earlier", then)], 0.1, refuse_unlike=True)["unlike"]
    assert any("the options of dynamic" in one for one in said)


def test_what_is_written_has_the_form_of_the_schema():
    comparison = demos()
    found = assemble(comparison, effective_records(comparison, {"static": 10.0, "dynamic": 14.0}), "embedding")
    assert problems(json.loads(json.dumps(found)), load("comparison-1")) == []
