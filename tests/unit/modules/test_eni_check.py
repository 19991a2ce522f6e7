# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""eni_check counts what the host has and fails with names."""

import pytest
from fake_host import FakeHost

from ansible_collections.taco.train.plugins.modules import eni_check


@pytest.fixture
def host(tmp_path):
    host = FakeHost(tmp_path / "root").base().enis(4)
    host.nic("docker0", "02:42:00:00:00:01", bridge__bridge_id="8000\n")
    host.nic("veth1", "02:42:00:00:00:02")
    return host


@pytest.mark.parametrize("check", [False, True])
def test_as_many_as_expected_pass(run, host, check):
    result = run(eni_check.main, check=check, expected=4, sysroot=str(host.root))
    assert result["changed"] is False and result["problems"] == [] and "failed" not in result
    assert [eni["name"] for eni in result["enis"]] == ["eth1", "eth2", "eth3", "eth4"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"expected": 8}, ["4 of 8", "4 missing", "eth4 (52:54:00:00:00:04, 0000:00:09.0)", "eth0 (primary)", "veth1"]),
        ({"expected": 2}, ["4 of 2", "2 too many"]),
        ({"expected": 1, "pattern": "^eth1$"}, []),
        ({"expected": 1, "pattern": "^veth"}, []),
        ({"expected": 2, "pattern": "^docker"}, ["0 of 2"]),
        ({"expected": 4, "pattern": "("}, ["'(' is not a regular expression"]),
        ({"expected": 4, "subnet": ["10.0.1.0/24"]}, ["eth1 (", "have no address; expected one in 10.0.1.0/24"]),
        ({"expected": 4, "subnet": ["nonsense"]}, ["'nonsense' is not a network"]),
    ],
)
def test_what_is_wrong_is_said_by_name(run, host, options, words):
    result = run(eni_check.main, sysroot=str(host.root), **options)
    assert result.get("failed", False) is bool(words)
    for word in words:
        assert word in result["msg"]
    assert len(result["problems"]) >= bool(words)


def test_what_was_found_is_returned_on_failure_too(run, host):
    result = run(eni_check.main, expected=8, sysroot=str(host.root))
    assert len(result["enis"]) == 4


def test_no_expectation_is_refused(run, host):
    assert "expected" in run(eni_check.main, sysroot=str(host.root))["msg"]
