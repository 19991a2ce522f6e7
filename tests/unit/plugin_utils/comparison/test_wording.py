# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The words of a comparison, and which hosts share a column."""

import compared
import pytest
from rendered import text_of_comparison

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.report import systems

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5504.04, "5504.0"),
        (0, "0.0"),
        (0.00885, "0.00885"),
        (1.5, "1.5"),
        (None, "not known"),
        (NAN, "not known"),
        (True, "not known"),
    ],
)
def test_numbers(value, said):
    assert wording.number(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.0079, "0.008"), (0.00001, "< 0.001"), (1, "1.000"), (None, "none"), (NAN, "none")]
)
def test_chances(value, said):
    assert wording.chance(value) == said


@pytest.mark.parametrize(("value", "said"), [(0, "none"), (7, "7"), (None, "can't be estimated")])
def test_more_repeats(value, said):
    assert wording.more_repeats(value) == said


@pytest.mark.parametrize("ends", [(None, 1.0), (1.0, None), (NAN, 1.0), (1.0, INFINITE)])
def test_an_interval_with_no_end_is_not_known(ends):
    assert wording.interval(*ends) == "not known"


def test_cases_are_told_apart_by_what_differs_and_the_rest_is_said_once():
    cases = compared.comparison()["cases"]
    larger = dict(cases[0], id="larger", batch_size=16)
    comparison = {"cases": [*cases, larger]}
    assert wording.case_labels(comparison) == {
        compared.VGG: "VGG16, batch size 8",
        compared.RESNET: "ResNet50, batch size 8",
        "larger": "VGG16, batch size 16",
    }
    assert wording.shared_parts(comparison) == ["2 nodes", "4 ranks", "horovod_synthetic"]


def test_a_workload_without_a_model_is_its_own_name():
    case = {"id": "x", "workload": "nccl_tests", "model": None, "nodes": 1, "ranks": 1, "batch_size": None}
    assert wording.case_parts(case) == ["nccl_tests", "1 node", "1 rank"]


def test_only_lossy_arms_are_marked():
    comparison = compared.comparison()
    assert wording.marked(comparison, "zebra") == "zebra (lossy: top-k compression)"
    assert wording.marked(comparison, "tcp") == "tcp"
    assert wording.marked(comparison, "of nobody") == "of nobody"


@pytest.mark.parametrize(
    ("path", "local"),
    [("logs/a.log", True), ("a..b/c", True), ("logs/a:b.log", True)]
    + [(path, False) for path in ("", None, "/a", "../a", "a/../../b", "javascript:x", "https://x", "//x/y")],
)
def test_a_path_that_leads_away_is_not_local(path, local):
    assert wording.is_local(path) is local


def test_equal_hosts_share_a_column_and_a_host_that_changed_has_two():
    newer = {"gpu1": dict(compared.SYSTEM, kernel="6.6"), "gpu3": None}
    records = [compared.record("a", "tcp"), compared.record("b", "tcp"), compared.record("c", "tcp", system=newer)]
    head, rows, *_details = systems.hosts(records)
    assert head == ("Property", "gpu1 (in 2 runs), gpu2", "gpu1 (in 1 run)", "gpu3")
    assert ("Kernel", "6.1", "6.6", "not known") in rows
    assert ("GPUs", "2 (V100)", "2 (V100)", "not known") in rows
    assert not [row for row in rows if row[0] in ("Hostname", "Gpu names")]


def test_what_a_newer_record_says_of_a_system_is_shown_too():
    system = dict(compared.SYSTEM, instance_type="GT4.41XLARGE948", nested={"a": [1, None], "b": {}}, on=True)
    assert systems.hosts([compared.record("a", "tcp", system={"gpu1": system})]).rows[-4:] == [
        ("Packages", "light-horovod 0.1"),
        ("Instance type", "GT4.41XLARGE948"),
        ("Nested", "a 1, not known, b none"),
        ("On", "yes"),
    ]


def test_records_without_systems_give_no_rows():
    assert systems.hosts([{"id": "a"}]).rows == []


def test_a_case_in_which_every_run_failed_still_has_its_command():
    failed = compared.record("a3", "zebra", outcome="failed")
    text = text_of_comparison(compared.comparison(), [failed])
    assert "### On gpu1, as root: VGG16, zebra (lossy: top-k compression)" in text and "RUN=a3" in text
