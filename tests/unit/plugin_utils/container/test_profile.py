# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps and arms that a profile of the training container needs, in preflight and in the playbooks alike."""

import jmespath
import pytest
from observed import NODE, VARIABLES

from ansible_collections.taco.train.plugins.filter.profile_needs import FilterModule
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import needs_of
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import DOCKER_PROFILES
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import Host, judge
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options
from ansible_collections.taco.train.plugins.plugin_utils.variables.run_combinations import GROUPS
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import Validator

PROFILE_NEEDS = FilterModule().filters()["profile_needs"]
SPECS = all_options()
DEFAULTS = {name: spec.get("default") for name, spec in SPECS.items()}
FLEET = (("gpu1", 8), ("gpu2", 8))
# Nothing of HARP: no pages, no room for them, no ENI, no script; and a boot loader that nobody knows.
BARE = dict(
    NODE,
    boot=dict(NODE["boot"], layout="unknown", reason="no GRUB"),
    cpu=dict(NODE["cpu"], page_1g=False),
    memory={"total_bytes": 1 << 30, "available_bytes": 1 << 30},
    hugepages=dict(NODE["hugepages"], pools=[]),
    nics=NODE["nics"][:1],
)
OF_HARP = (
    "boot.layout",
    "cpu.page_size",
    "memory.hugepages",
    "hugepages.sysctl",
    "hugepages.running",
    "eni.count",
    "harp.checksum",
)


def problems(fleet=FLEET, **changes):
    found = Validator(SPECS, fleet, GROUPS).problems(dict(DEFAULTS, **VARIABLES, **changes))
    return [wrong.check.found + "; " + wrong.check.fix for wrong in found]


def test_only_the_profile_harp_needs_pages_enis_and_a_configuration():
    assert {profile: needs_of(profile, "cvm").harp for profile in DOCKER_PROFILES} == {
        "harp": True,
        "lightcc": False,
        "ttf": False,
    }


@pytest.mark.parametrize(("hosts", "ssh"), [(1, False), (2, True)])
def test_a_container_with_a_network_of_its_own_needs_no_ssh_on_one_host(hosts, ssh):
    found = needs_of("ttf", "cvm", hosts)
    assert (found.ssh_trust, found.local) == (ssh, not ssh)
    for profile in ("harp", "lightcc"):
        assert needs_of(profile, "cvm", hosts).ssh_trust and not needs_of(profile, "cvm", hosts).local


def test_no_profile_without_harp_has_an_arm_with_its_plugin_by_default():
    for profile in DOCKER_PROFILES:
        found = needs_of(profile, "cvm")
        assert found.harp or not [name for name in (found.arm, *found.arms) if ARMS[name].plugin == "on"]
    assert [needs_of(profile).arm for profile in ("harp", "lightcc", "ttf")] == ["taco", "lightcc", "tcp"]


def test_a_profile_has_no_effect_in_pods():
    assert needs_of("ttf", "tke") == needs_of("harp", "tke") and needs_of(None, "tke").arm == "taco"
    assert needs_of("lightcc", "ack").arm == "tcp" and not needs_of(None, "ack").ssh_trust


@pytest.mark.parametrize("profile", [None, "", "nope", ["ttf"]])
def test_a_profile_that_is_missing_or_wrong_leaves_out_no_step(profile):
    assert needs_of(profile, "cvm") == needs_of("harp", "cvm")


def test_playbooks_get_the_needs_as_a_mapping():
    found = PROFILE_NEEDS("lightcc", "cvm", "2")
    assert found == {"harp": False, "ssh_trust": True, "local": False, "arm": "lightcc", "arms": ["tcp", "lightcc"]}


@pytest.mark.parametrize("profile", ["lightcc", "ttf"])
def test_preflight_demands_nothing_of_harp_from_a_host_without_it(profile):
    variables = dict(VARIABLES, harp_script_sha256=None, training_container_profile=profile)
    verdict = judge({"gpu1": Host(BARE, variables)}, jmespath.search)
    checks = {check["id"]: check["status"] for check in verdict["hosts"]["gpu1"]["checks"]}
    assert {name: checks[name] for name in OF_HARP} == dict.fromkeys(OF_HARP, "skip")
    assert verdict["summary"]["fail"] == 0, verdict
    harp = judge({"gpu1": Host(BARE, dict(variables, training_container_profile="harp"))}, jmespath.search)
    assert harp["summary"]["fail"] >= 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"benchmark_arm": "taco"}, ("benchmark_arm has the arm taco, which uses HARP", "tcp, lightcc")),
        ({"benchmark_arm": {"name": "mine", "base": "harp"}}, ("the arm mine",)),
        ({"compare_arms": ["tcp", "harp"]}, ("compare_arms has the arm harp", "leave compare_arms out")),
        ({"training_container_require_harp": True}, ("training_container_require_harp is true",)),
    ],
)
def test_preflight_refuses_harp_in_a_container_without_it(changes, words):
    (found,) = problems(training_container_profile="lightcc", **changes)
    for word in (*words, "training_container_profile is lightcc"):
        assert word in found, found
    assert problems(training_container_profile="harp", **changes) == []


@pytest.mark.parametrize("changes", [{}, {"benchmark_arm": "lightcc"}, {"compare_repeats": 8}])
def test_a_profile_without_harp_passes_with_its_own_arms(changes):
    assert problems(training_container_profile="lightcc", **changes) == []
    assert problems((("gpu1", 8),), training_container_profile="ttf", **changes) == []


def test_containers_of_several_hosts_need_the_network_of_their_host():
    (found,) = problems(training_container_profile="ttf")
    for word in ("training_container_profile is ttf", "2 hosts", "--limit", "lightcc"):
        assert word in found, found
    assert problems(training_container_profile="ttf", taco_platform="tke") == []
