# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight finds a wrong value of every variable of every role, and names the variable, the value and what is expected."""

import jmespath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import NODE
from wrong_values import BAD, DEFAULTS, FREE, GOOD, OPTIONS, SPECS, wrong_values

from ansible_collections.taco.train.plugins.module_utils.cluster.names import VERSIONS
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import arm_of
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import PRESETS
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import LABEL
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LEAST_REPEATS
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import Host, judge
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import KINDS, RULES
from ansible_collections.taco.train.plugins.plugin_utils.variables.run_combinations import GROUPS
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import (
    FUNCTIONS,
    PARSERS,
    VALID,
    Validator,
)


def failures(name, value):
    """All that preflight finds on a host with one variable of another value."""
    variables = dict(GOOD, **{name: value})
    host = Host(NODE, variables, wrong=OPTIONS.problems(variables))
    return [
        check
        for check in judge({"gpu1": host}, jmespath.search)["hosts"]["gpu1"]["checks"]
        if check["status"] == "fail"
    ]


def test_the_defaults_and_the_good_values_pass():
    assert OPTIONS.problems(GOOD) == []
    assert OPTIONS.problems(DEFAULTS) == []


def test_every_variable_has_values_that_are_wrong_or_a_reason_why_it_has_none():
    loose = {name for name, spec in SPECS.items() if spec["type"] in ("str", "path", "list", "dict", "raw")}
    ruled = set(RULES) | {name for name, spec in SPECS.items() if spec.get("choices")}
    assert loose - ruled == set(FREE)
    assert set(RULES.values()) == set(BAD)
    assert all(FREE.values())


def test_the_rules_agree_with_the_code_that_reads_the_values():
    assert KINDS["preset"]["choices"] == list(PRESETS) and KINDS["API version"]["choices"] == list(VERSIONS)
    assert KINDS["label"]["pattern"] == LABEL.pattern and f"{LEAST_REPEATS} or more" in KINDS["repeats"]["expected"]
    assert {rule["function"] for rule in KINDS.values() if "function" in rule} == set(FUNCTIONS) | set(PARSERS)
    assert set(RULES) <= set(SPECS)


@pytest.mark.parametrize("name", sorted(SPECS))
@settings(max_examples=3, derandomize=True)
@given(data=st.data())
def test_a_wrong_value_fails_with_variable_value_and_expectation(name, data):
    for values in wrong_values(name):
        value = data.draw(values, label=name)
        found = [check for check in failures(name, value) if name in check["found"]]
        assert found, (name, value)
        assert all(check["expected"] and name in check["fix"] for check in found), found
        hidden = name.endswith(("_access", "_env", "_environment"))
        shown = "not shown" if hidden else str(value)[:40].strip()
        assert any(shown in check["found"] or repr(value)[:40] in check["found"] for check in found), found


# Not by chance alone: these ended preflight with a traceback, or needed all memory of the controller.
HUGE = (float("inf"), float("nan"), 10**400, "9" * 5000, "1e400", 2**64)
NUMBERS = [name for name, spec in SPECS.items() if {spec["type"], spec.get("elements")} & {"int", "float"}]


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_a_number_that_no_computer_has_is_a_wrong_value(name):
    for huge in HUGE:
        value = [huge] if SPECS[name]["type"] == "list" else huge
        # taco_gpus_per_node has checks of its own, such as of the GPUs that are there.
        found = [check for check in failures(name, value) if name in check["found"] + check["fix"]]
        assert found and all(check["expected"] and name in check["fix"] for check in found), (name, huge)


# All of them arrive as text from the command line.
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("benchmark_timeout", "60"),
        ("reboot_batch", "25%"),
        ("reboot_batch", "2"),
        ("hugepages_count", "50"),
        ("hugepages_max_memory_fraction", "0.9"),
        ("reboot_allowed", "yes"),
        ("eni_subnets", "10.0.1.0/24,10.0.2.0/24"),
        ("training_container_gpus", "0,1"),
        ("training_container_gpus", ["GPU-1", "0"]),
        ("benchmark_arm", {"name": "mine", "base": "tcp", "env": {"NCCL_DEBUG": "WARN"}}),
        ("harp_script_sha256", ""),
        ("harp_script", "setup.sh"),
        ("benchmark_options.script", "/mnt/train.py"),
        ("benchmark_options.script", "train.py"),
        ("benchmark_options.script_checksum", "none"),
        (
            "benchmark_options.script_checksum",
            "sha256:f759d9242096a662dc0181cdb18f03705a6804d4216fcef339f7110cace66498",
        ),
        ("benchmark_interface", "eth0,eth1"),
        ("eni_pattern", ""),
        ("hugepages_count", None),
        ("compare_arms", ["tcp", "taco"]),
        ("compare_node_counts", ["1", 2]),
        ("compare_repeats", "auto"),
        ("training_container_shm_size", ""),
        ("preflight_min_disk_gib", 0),
        ("mpijob_launcher_cpu", 0.5),
    ],
)
def test_right_values_pass_in_every_form(name, value):
    assert OPTIONS.problems(dict(GOOD, **{name: value})) == []


OWN_PROGRAM = {
    "benchmark_workload": "command",
    "benchmark_options": {"command": ["train"], "pattern": "(?P<value>x)"},
    "benchmark_arm": "tcp",
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"compare_node_counts": [5]}, ["compare_node_counts", "2 hosts"]),
        ({"benchmark_options": {"model": "vgg16"}}, ["benchmark_options.model", "VGG16"]),
        ({"benchmark_workload": "command"}, ["benchmark_options.command", "a list of words"]),
        ({"benchmark_workload": "nccl_tests", "benchmark_device": "CPU"}, ["benchmark_device", "GPU"]),
        (
            {"benchmark_options": {"script": "https://a.b/train.py"}},
            ["benchmark_options.script_checksum", "sha256sum", "none"],
        ),
        (
            {"compare_workloads": [{"script": "https://a.b/c.py"}]},
            ["https://a.b/c.py", "benchmark_options.script_checksum"],
        ),
        ({"benchmark_options": {"binary": "x"}}, ["benchmark_options has binary", "horovod_synthetic", "num_iters"]),
        ({"benchmark_options": {"timeout": 5}}, ["benchmark_options has timeout"]),
        ({"benchmark_options": {"batch_size": "many"}}, ["benchmark_options", "batch_size", "many"]),
        (
            {"benchmark_workload": "nccl_tests", "benchmark_lightcc": {"topk_ratio": 0.1}},
            ["benchmark_lightcc has no effect"],
        ),
        (
            {"benchmark_workload": "ttf_dynamic_embedding", "benchmark_mca": {"btl": "tcp"}},
            ["benchmark_mca has no effect"],
        ),
        ({"compare_batch_sizes": [32], **OWN_PROGRAM}, ["compare_batch_sizes has no effect on workload command"]),
        ({"benchmark_arm": "topology"}, ["benchmark_arm", "ack.yml"]),
        ({"compare_baseline": "nope"}, ["compare_baseline", "nope"]),
        ({"compare_budget_minutes": 60}, ["compare_budget_minutes", "compare_repeats: auto"]),
        ({"compare_workloads": [{"modl": "VGG16"}]}, ["compare_workloads", "modl"]),
        ({"compare_workloads": [{"batch_size": "x"}]}, ["compare_workloads", "batch_size"]),
        ({"training_container_mounts_extra": ["/a:/dev"]}, ["training_container_mounts_extra", "/dev"]),
        ({"taco_platform": "tke", "mpijob_memory": "1Gi"}, ["mpijob_shm_size is 32g", "1Gi"]),
        ({"harp_source": "template"}, ["harp_template", "not set"]),
        ({"hugepages_trial": True, "hugepages_runtime": "yes"}, ["hugepages_trial", "hugepages_runtime"]),
    ],
)
def test_values_that_do_not_go_together_fail(changes, words):
    found = OPTIONS.problems(dict(GOOD, **changes))
    assert [wrong.check.id for wrong in found] == [VALID]
    for word in words:
        assert word in found[0].check.found + found[0].check.fix, found


def test_a_wrong_value_is_named_once_and_not_again_where_it_is_used():
    found = OPTIONS.problems(dict(GOOD, benchmark_arm="nope", benchmark_timeout="abc", compare_repeats="x"))
    assert sorted(wrong.variable for wrong in found) == ["benchmark_arm", "benchmark_timeout", "compare_repeats"]


@pytest.mark.parametrize("variable", ["benchmark_arm", "locate_arm"])
def test_a_wrong_arm_is_refused_with_the_error_of_the_function_that_reads_it(variable):
    mine = {"name": "mine", "env": {"A": [1]}}
    with pytest.raises(InvalidValueError) as error:
        arm_of(mine, variable)
    (found,) = failures(variable, mine)
    said = str(error.value)
    assert found["fix"] + "." == said[0].lower() + said[1:]


def test_a_variable_that_cannot_be_computed_is_left_to_its_own_check():
    assert OPTIONS.problems(dict(GOOD, benchmark_timeout=None), ["benchmark_timeout"]) == []


def test_a_secret_is_not_shown():
    assert "SECRET" not in str(OPTIONS.problems(dict(GOOD, mpijob_access="api_key SECRET")))
    (found,) = OPTIONS.problems(dict(GOOD, mpijob_access=["SECRET"]))
    assert "SECRET" not in str(found) and "mpijob_access: a list, not shown" in found.check.found


def test_equal_values_of_many_hosts_are_checked_once():
    calls = []
    groups = [
        group._replace(check=lambda *given, group=group: calls.append(given) or group.check(*given)) for group in GROUPS
    ]
    validator = Validator(SPECS, tuple((f"gpu{number}", 8) for number in range(200)), groups)
    for number in range(200):
        assert validator.problems(dict(GOOD, taco_node_name=f"gpu{number}", benchmark_timeout=60)) == []
    assert len(calls) <= len(GROUPS)
