# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of the module don't reach."""

import json

import pytest

from ansible_collections.taco.train.plugins.module_utils._harp import harp
from ansible_collections.taco.train.plugins.module_utils._harp.options import OPTIONS as OPTIONS_OF_MODULE
from ansible_collections.taco.train.plugins.module_utils._node.enis import AmbiguousError


@pytest.mark.parametrize(
    ("script", "first_line", "chosen", "argv"),
    [
        ("http://x/harp_setup.sh", "#!/bin/zsh", None, ["bash"]),
        ("http://x/harp_setup.sh?v=1", "", None, ["bash"]),
        ("http://x/ztcp_setup.py", "#!/usr/bin/python", None, ["python3"]),
        ("http://x/setup", "#!/usr/bin/env perl", None, ["/usr/bin/env", "perl"]),
        ("http://x/setup.sh", "", ["sh", "-e"], ["sh", "-e"]),
        ("http://x/setup.sh", "#!/bin/sh", [], []),
    ],
)
def test_interpreter(script, first_line, chosen, argv):
    assert harp.interpreter_for(script, first_line, chosen) == argv


def test_no_interpreter_to_be_found():
    with pytest.raises(harp.HarpError, match="harp_interpreter"):
        harp.interpreter_for("/opt/setup", "<html>", None)


OPTIONS = {
    "script": "setup.sh",
    "interpreter": None,
    "environment": {"TOKEN": "hunter2"},
    "source": "script",
    "enis": None,
    "eni_pattern": None,
    "minimum_files": 1,
}
FILES = {"/c/ztcp0.conf": "b"}


def nic(number, **changes):
    found = {
        "name": f"eth{number}",
        "mac": f"52:54:00:00:00:0{number}",
        "pci": f"0000:00:0{number}.0",
        "kind": "physical",
        "primary": False,
        "addresses": [f"10.0.{number}.5/24", f"2001:db8::{number}/64"],
    }
    return dict(found, **changes)


def reason(before, now, **changes):
    """Return why a script that ran for some interfaces has to run for those of now."""
    recorded = harp.target_of(dict(OPTIONS, node={"nics": before}))
    record = json.loads(json.dumps(harp.new_record(OPTIONS, "a" * 64, recorded, FILES)))
    options = dict(OPTIONS, node={"nics": now}, **changes)
    return harp.reason_to_run(record, options, "a" * 64, harp.target_of(options), FILES)


TWO = [nic(1), nic(2)]
CHANGES = {
    "name": ({"name": "ens7"}, "the name of ENI eth2 (0000:00:02.0) changed from eth2 to ens7"),
    "mac": ({"mac": "52:54:00:00:00:99"}, "the MAC address of ENI eth2 (0000:00:02.0) changed from 52:54:00:00:00:02 to"),
    "address": ({"addresses": ["10.0.2.6/24"]}, "the addresses of ENI eth2 (0000:00:02.0) changed from 10.0.2.5 to 10.0.2.6"),
    "slot": ({"pci": "0000:00:09.0"}, "the ENIs changed from 0000:00:01.0, 0000:00:02.0 to 0000:00:01.0, 0000:00:09.0"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_an_eni_that_was_replaced_or_renamed_in_its_slot_is_configured_again(what):
    change, words = CHANGES[what]
    assert reason(TWO, TWO) is None
    assert reason(TWO, [nic(1), nic(2, **change)]).startswith(words)


TAKEN = {
    "the device": {"name": "0000:00:02.0", "mac": "", "addresses": []},
    "the addresses": {"addresses": []},
    "the IPv6 address only": {"addresses": ["10.0.2.5/24", "2001:db8::9/64"]},
}


@pytest.mark.parametrize("what", TAKEN)
def test_what_user_space_took_from_an_eni_does_not_count_as_changed(what):
    assert reason(TWO, [nic(1), nic(2, **TAKEN[what])]) is None
    # Nor when it is released again.
    assert reason([nic(1), nic(2, **TAKEN[what])], TWO) is None


def test_a_taken_eni_that_is_another_one_counts_by_what_can_be_observed():
    assert "the MAC address of ENI" in reason(TWO, [nic(1), nic(2, addresses=[], mac="52:54:00:00:00:99")])


def test_the_addresses_of_the_metadata_are_compared_where_the_host_has_none():
    bare = nic(2, addresses=[], vpc_addresses=["10.0.2.5/24"])
    assert reason([nic(1), bare], TWO) is None
    assert "from 10.0.2.5 to 10.0.2.6" in reason(TWO, [nic(1), dict(bare, vpc_addresses=["10.0.2.6/24"])])


@pytest.mark.parametrize(
    "change", [{"environment": {"TOKEN": "hunter3"}}, {"environment": {}}, {"interpreter": ["sh"]}]
)
def test_another_environment_or_interpreter_runs_the_script_again(change):
    assert "harp_environment" in reason(TWO, TWO, **change)


def test_the_same_environment_in_other_types_or_order_is_no_change():
    same = harp.settings(dict(OPTIONS, environment={"A": 1, "B": "x"}))
    assert same == harp.settings(dict(OPTIONS, environment={"B": "x", "A": "1"}))
    # What the name of the script says anyway.
    assert reason(TWO, TWO, interpreter=["bash"]) is None


def test_a_record_holds_no_secret_of_the_environment_and_differs_by_host():
    target = harp.target_of(dict(OPTIONS, node={"nics": TWO}))
    records = [json.dumps(harp.new_record(OPTIONS, "a" * 64, target, FILES)) for _ in range(2)]
    assert "hunter2" not in records[0] and "TOKEN" not in records[0]
    assert records[0] != records[1]


def test_a_record_of_another_version_or_a_damaged_one_runs_the_script_again():
    target = harp.target_of(dict(OPTIONS, node={"nics": TWO}))
    record = harp.new_record(OPTIONS, "a" * 64, target, FILES)
    found = [
        harp.reason_to_run(one, OPTIONS, "a" * 64, target, FILES)
        for one in (dict(record, version=1), dict(record, interfaces=[{}]), dict(record, settings=None), [], None)
    ]
    assert found[0] == "the record of its last run has version 1, expected 2"
    assert found[1:] == ["the record of its last run is damaged"] * 2 + ["it has not run before"] * 2


def test_another_order_of_the_same_enis_is_no_change():
    many = [nic(number) for number in range(1, 9)]
    assert reason(many, many[4:] + many[:4]) is None


@pytest.mark.parametrize(
    ("wanted", "enis", "count"), [("1", 8, 1), (1, 0, 1), ("3", 8, 3), ("per_eni", 8, 8), ("per_eni", 0, 1)]
)
def test_one_configuration_file_is_enough_unless_more_are_demanded(wanted, enis, count):
    assert harp.minimum_files(wanted, enis) == count


@pytest.mark.parametrize("wanted", ["0", "-1", "eni", "", None, "1.5"])
def test_a_number_of_configuration_files_that_is_none_is_refused(wanted):
    with pytest.raises(harp.HarpError, match="minimum_files .harp_minimum_files. is .* or per_eni"):
        harp.minimum_files(wanted, 8)


def test_the_default_demands_one_file_of_a_host_with_many_enis():
    minimum = OPTIONS_OF_MODULE["argument_spec"]["minimum_files"]["default"]
    many = dict(OPTIONS, node={"nics": [nic(number) for number in range(1, 9)]}, minimum_files=minimum)
    assert harp.target_of(many).minimum == 1


def test_an_ambiguous_primary_interface_gets_no_configuration_unless_somebody_else_sees_to_it():
    unclear = [nic(1, primary=None), nic(2, primary=None)]
    with pytest.raises(AmbiguousError, match="eth1 .*, eth2 "):
        harp.target_of(dict(OPTIONS, node={"nics": unclear}))
    assert harp.target_of(dict(OPTIONS, node={"nics": unclear}, source="none")).enis == []


@pytest.mark.parametrize("text", ["setup.sh", "/opt/setup.sh", "C:setup.sh"])
def test_paths_are_no_urls(text):
    assert not harp.is_url(text)


def test_files_outside_the_folder_do_not_count():
    written = {"/etc/ztcp0.conf": "a", "/c/ztcp1.conf": "b", "/c/ztcp.conf.bak": "c"}
    assert harp.merged_files(["/c/ztcp9.conf"], written, "/c", "ztcp*.conf") == ["/c/ztcp1.conf", "/c/ztcp9.conf"]


def test_a_script_without_a_known_success_text():
    harp.check_run(0, "whatever", [], 600, "/log")
    with pytest.raises(harp.HarpError):
        harp.check_run(0, "whatever", ["done"], 600, "/log")


def test_the_manifest_leaves_out_what_engines_add_by_themselves():
    nic = {"mac": "", "pci": None, "numa_node": None, "driver": "", "primary": False, "addresses": []}
    kinds = {"eth0": "physical", "docker0": "bridge", "lab0": "veth"}
    node = {
        "hostname": "a",
        "nics": [dict(nic, name=name, kind=kind) for name, kind in kinds.items()],
        "hugepages": {"pools": [], "default_size_bytes": 2097152},
        "gpus": {"devices": []},
        "cpu": {"count": 1},
    }
    found = harp.manifest(node, ["lab0"])
    assert [entry["name"] for entry in found["interfaces"]] == ["eth0", "lab0"]
