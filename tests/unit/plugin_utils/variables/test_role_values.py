# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The check of one role's variables refuses nothing that preflight passes."""

import pytest
from observed import VARIABLES

from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options, role_options
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import (
    COUNTS,
    message,
    specs_of,
    validator_of,
    wrong_values,
)

GOOD = {**{name: spec.get("default") for name, spec in all_options().items()}, **VARIABLES}
FLEET = (("gpu1", 8), ("gpu2", 8))


def refused(role, changes=(), unknown=(), skip=()):
    """Return the refusal of the good values with these changes, empty when there is none."""
    values = {name: value for name, value in {**GOOD, **dict(changes)}.items() if name in specs_of(role)}
    found = wrong_values(role, validator_of(role, FLEET), values, list(unknown), skip)
    return message(["gpu1"], role, found) if found else ""


@pytest.mark.parametrize("role", role_options())
@pytest.mark.parametrize("platform", ["cvm", "tke", "ack"])
def test_good_values_pass_in_every_role(role, platform):
    assert refused(role, {"taco_platform": platform}) == ""


@pytest.mark.parametrize(("role", "count"), COUNTS.items())
def test_a_number_of_its_own_replaces_that_of_the_gpus(role, count):
    own = [{"name": "gpu1", "slots": 8}] if count == "benchmark_hosts" else 4
    assert refused(role, {"taco_gpus_per_node": None, count: own}) == ""
    assert "taco_gpus_per_node is not set" in refused(role, {"taco_gpus_per_node": ""})


def test_zero_enis_are_a_number():
    assert refused("eni", {"taco_gpus_per_node": None, "eni_count": 0}) == ""


@pytest.mark.parametrize("role", COUNTS)
def test_a_variable_that_cannot_be_computed_yet_is_not_called_missing(role):
    assert refused(role, {"taco_gpus_per_node": None}, unknown=["taco_gpus_per_node"]) == ""


def test_a_check_that_preflight_skips_is_skipped():
    changes = {"harp_script_sha256": None}
    assert "harp_script_sha256 is not set" in refused("harp", changes)
    assert refused("harp", changes, skip=["harp.checksum"]) == ""
    assert refused("harp", {"harp_script_sha256": None, "harp_allow_unverified": True}) == ""


def test_variables_of_other_roles_are_left_to_them():
    assert refused("eni", {"reboot_batch": "many", "harp_script_sha256": None}) == ""


# Wrong values of shared variables, with the roles that read them.
SHARED = {
    "taco_image": ("B", {"container_engine", "training_container"}),
    "taco_ssh_port": (99999, {"ssh_trust"}),
    "taco_interface": ("eth0:1", {"benchmark", "compare", "locate", "ssh_trust"}),
    "taco_kube_namespace": ("A b", {"mpijob", "placement"}),
}


@pytest.mark.parametrize(("name", "value", "roles"), [(name, *row) for name, row in SHARED.items()])
def test_a_wrong_shared_variable_is_refused_by_the_roles_that_read_it_and_by_no_other(name, value, roles):
    # A plan is of all roles, and the playbooks check all shared variables before the first role.
    of_all = {"common", "plan"}
    assert {role for role in role_options() if name + ": " in refused(role, {name: value})} - of_all == roles
    assert all(name in refused(role, {name: value}) for role in of_all)


def test_values_that_do_not_go_together_name_the_variables():
    text = refused("hugepages", {"hugepages_trial": True, "hugepages_runtime": True})
    assert "hugepages_trial and hugepages_runtime are both true" in text and "expected" not in text


@pytest.mark.parametrize("role", ["benchmark", "locate"])
def test_the_options_of_runs_are_checked(role):
    assert "no option of workload horovod_synthetic; expected one of framework, script" in refused(
        role, {"benchmark_options": {"nonsense": 1}}
    )
    assert "batch_size" in refused(role, {"benchmark_options": {"batch_size": 0}})


def test_the_arm_of_a_search_replaces_that_of_the_runs():
    assert refused("locate", {"locate_arm": "tcp"}) == ""
    assert "locate_arm has the arm harp" in refused(
        "locate", {"locate_arm": "harp", "training_container_profile": "lightcc"}
    )


def test_a_null_is_called_null_where_other_values_are_not_shown():
    assert "training_container_environment: null; expected a mapping" in refused(
        "training_container", {"training_container_environment": None}
    )


# Values of every kind, as files and templates give them by mistake.
STRANGE = [
    None,
    "",
    [],
    {},
    True,
    -1,
    float("nan"),
    10**30,
    "a" * 5000,
    "\x00\u202e",
    [None],
    [{}],
    {1: 2},
    {"a": None},
]


@pytest.mark.parametrize("role", role_options())
def test_a_refusal_is_at_most_2000_printable_characters_whatever_the_value_is(role):
    validator, specs = validator_of(role, FLEET), specs_of(role)
    good = {name: value for name, value in GOOD.items() if name in specs}
    for changes in [{name: value} for name in specs for value in STRANGE] + [dict.fromkeys(specs, "\x07")]:
        found = wrong_values(role, validator, {**good, **changes}, [])
        text = message(["gpu1"], role, found)
        assert len(text) <= 2000 and text.replace("\n", "").isprintable(), text


def test_values_that_do_not_fit_into_a_refusal_are_counted():
    text = refused("benchmark", dict.fromkeys(specs_of("benchmark"), {"a": "b" * 90}))
    assert " more, which the playbook taco.train.preflight lists" in text


@pytest.mark.parametrize("role", ["benchmark", "compare", "locate"])
def test_a_variable_that_has_no_effect_on_the_workload_is_refused_by_each_role_that_runs_it(role):
    text = refused(role, {"benchmark_workload": "nccl_tests", "benchmark_lightcc": {"topk_ratio": 0.1}})
    assert "benchmark_lightcc has no effect on workload nccl_tests" in text


def test_a_comparison_without_variables_of_its_own_is_checked_too():
    assert "benchmark_options.script is None" in refused("compare", {"benchmark_workload": "tf_cnn_benchmarks"})
