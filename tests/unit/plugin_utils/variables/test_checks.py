# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of variables: what is missing, misspelt, or no name of an image."""

import hashlib

import pytest
from observed import VARIABLES
from preflight_checks import assert_says

from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import (
    Unknown,
    declared,
    harp_checksum,
    image_set,
    known,
    unknown_variables,
)


@pytest.mark.parametrize(("value", "status"), [(1, "pass"), ("8", "pass"), (0, "fail"), (-1, "fail"), (None, "fail")])
def test_a_gpu_count_must_be_declared(value, status):
    assert_says(declared({"taco_gpus_per_node": value}), status, ["taco_gpus_per_node"] if status == "fail" else [])


@pytest.mark.parametrize("value", ["", "eight", True, [8], 8.5])
def test_a_gpu_count_must_be_a_whole_number(value):
    assert_says(declared({"taco_gpus_per_node": value}), "fail", ["taco_gpus_per_node"])


@pytest.mark.parametrize(
    ("variables", "status", "words"),
    [
        ({"harp_script_sha256": VARIABLES["harp_script_sha256"]}, "pass", []),
        ({"harp_script_sha256": "0" * 64}, "fail", ["0" * 64, "sha256sum"]),
        ({"harp_script_sha256": "A" * 64}, "fail", ["sha256sum"]),
        ({"harp_script_sha256": "0123456789abcdef" * 4}, "fail", ["sha256sum"]),
        ({"harp_script_sha256": hashlib.sha256(b"").hexdigest()}, "fail", ["sha256sum"]),
        (
            {"harp_script_sha256": None, "harp_script": "https://x/y.sh"},
            "fail",
            ["harp_script_sha256", "https://x/y.sh"],
        ),
        ({"harp_script_sha256": ""}, "fail", ["harp_allow_unverified: true"]),
        ({"harp_script_sha256": "sha256:abc"}, "fail", ["sha256:abc"]),
        ({"harp_allow_unverified": True}, "warn", ["harp_allow_unverified"]),
        ({"harp_allow_unverified": "yes"}, "warn", []),
        ({"harp_source": "template"}, "skip", []),
        ({"harp_source": "none"}, "skip", []),
    ],
)
def test_a_script_that_root_runs_needs_a_checksum(variables, status, words):
    assert_says(harp_checksum(dict({"harp_source": "script"}, **variables)), status, words)


@pytest.mark.parametrize(
    ("image", "status"),
    [
        ("ccr.ccs.tencentyun.com/qcloud/taco-training:cu112-cudnn81-py3-0.3.2", "pass"),
        ("taco-lab/training:1", "pass"),
        ("localhost:5000/a/b@sha256:" + "0" * 64, "pass"),
        ("localhost:5000/a/b", "warn"),
        ("training", "warn"),
        ("", "fail"),
        (None, "fail"),
        ("Training:1", "fail"),
        ("a b:1", "fail"),
        ("a:1:2", "fail"),
        ("a@sha256:123", "fail"),
        ("{{ image }}", "fail"),
    ],
)
def test_the_image_can_be_the_name_of_one(image, status):
    assert_says(image_set({"taco_image": image}), status, [])


@pytest.mark.parametrize("platform", ["tke", "ack"])
def test_the_image_of_a_pod_is_that_of_the_job(platform):
    of_pods = {"taco_platform": platform, "taco_image": "B"}
    assert_says(image_set(dict(of_pods, mpijob_image="A b")), "fail", ["mpijob_image: A b", "correct mpijob_image"])
    assert_says(image_set(dict(of_pods, mpijob_image="a/b")), "warn", ["a tag or a digest to mpijob_image"])
    # Without one it is the vendor's.
    assert_says(image_set(of_pods), "pass", ["taco-train:ttf115-cu112-cvm-0.4.1"])


def test_the_image_of_the_container_comes_before_that_of_the_cluster():
    check = image_set({"taco_image": "a:1", "training_container_image": "B"})
    assert_says(check, "fail", ["training_container_image: B"])


PREFIXES = ("taco_", "hugepages_", "report_", "reboot_")
DECLARED = ("taco_image", "hugepages_count", "hugepages_page_size", "report_title", "reboot_timeout")


@pytest.mark.parametrize(
    ("name", "closest", "is_wrong"),
    [
        ("hugepages_cuont", "hugepages_count", True),
        ("hugepages_counts", "hugepages_count", True),
        ("taco_imgae", "taco_image", True),
        ("report_email", None, False),
        ("taco_zzz", None, False),
        ("taco_api_key", None, False),
        # A word of the name is missing, or the prefix is misspelt.
        ("hugepages_size", "hugepages_page_size", False),
        ("hugepages_page", "hugepages_page_size", False),
        ("hugepage_count", "hugepages_count", False),
        ("reboots_timeout", "reboot_timeout", False),
        # More than a slip of the fingers: it can be a variable of somebody else's role.
        ("hugepages_count_now", "hugepages_count", False),
    ],
)
def test_unknown_variables_come_with_the_closest_known_one(name, closest, is_wrong):
    (unknown,) = unknown_variables([name, *DECLARED], PREFIXES, DECLARED)
    assert (unknown.name, unknown.closest, unknown.is_wrong) == (name, closest, is_wrong)
    check = known([unknown], {})
    meant = [f"{name} (did you mean {closest}?)"] if closest else []
    assert_says(check, "fail" if is_wrong else "warn", [name, "preflight_known_variables", *meant])


@pytest.mark.parametrize("permitted", [["hugepages_counts"], ["hugepages_*"], ["x", "*_counts"]])
def test_a_variable_declared_as_somebody_elses_is_no_finding(permitted):
    assert unknown_variables(["hugepages_counts"], PREFIXES, DECLARED, permitted) == []


def test_a_pattern_permits_no_other_variable():
    found = unknown_variables(["hugepages_counts", "taco_imgae"], PREFIXES, DECLARED, ["hugepages_*"])
    assert [unknown.name for unknown in found] == ["taco_imgae"]


@pytest.mark.parametrize("name", ["taco_node", "taco_run_dir", "taco_boot", "__taco_x", "other", "tacos", *DECLARED])
def test_what_is_known_or_not_ours_is_not_reported(name):
    assert unknown_variables([name], PREFIXES, DECLARED) == []


def test_a_name_that_shares_only_a_prefix_is_a_warning():
    assert_says(known([Unknown("report_email", None, False)], {}), "warn", ["report_email"])
    assert known([], {}).status == "pass"


def test_misspelt_and_broken_variables_are_all_named():
    unknown = [
        Unknown("hugepages_cuont", "hugepages_count", True),
        Unknown("taco_imgae", "taco_image", True),
        Unknown("report_email", None, False),
    ]
    check = known(unknown, {"taco_image": "'x' is\nundefined"})
    words = [
        "hugepages_cuont (did you mean hugepages_count?); taco_imgae (did you mean taco_image?)",
        "correct taco_image",
    ]
    assert_says(check, "fail", [*words, "taco_image can't be computed: 'x' is undefined"])
    assert "report_email" not in check.found
    many = known([Unknown(f"taco_x{n}", None, False) for n in range(300)], {f"taco_y{n}": "x" * 999 for n in range(9)})
    assert "taco_x4 and 304 more" in many.found and len(many.found + many.fix) < 1000
