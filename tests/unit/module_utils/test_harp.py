# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of the module don't reach."""

import pytest

from ansible_collections.taco.train.plugins.module_utils import _harp as harp


@pytest.mark.parametrize(
    ("script", "first_line", "chosen", "argv"),
    [
        ("http://x/harp_setup.sh", "#!/bin/zsh", None, ["bash"]),
        ("http://x/harp_setup.sh?v=1", "", None, ["bash"]),
        ("http://x/ztcp_setup.py", "#!/usr/bin/python", None, ["python3"]),
        ("http://x/setup", "#!/usr/bin/env perl", None, ["/usr/bin/env", "perl"]),
        ("http://x/setup.sh", "", ["sh", "-e"], ["sh", "-e"]),
    ],
)
def test_interpreter(script, first_line, chosen, argv):
    assert harp.interpreter_for(script, first_line, chosen) == argv


def test_no_interpreter_to_be_found():
    with pytest.raises(harp.HarpError, match="harp_interpreter"):
        harp.interpreter_for("/opt/setup", "<html>", None)


def test_a_record_of_another_version_counts_as_none():
    record = harp.new_record("s", "a" * 64, ["eth1"], {"/c/ztcp0.conf": "b"})
    same = ("s", "a" * 64, ["eth1"], {"/c/ztcp0.conf": "b"}, 1)
    assert harp.reason_to_run(record, *same) is None
    assert harp.reason_to_run(dict(record, version=2), *same) == "it has not run before"


@pytest.mark.parametrize("text", ["setup.sh", "/opt/setup.sh", "C:setup.sh"])
def test_paths_are_no_urls(text):
    assert not harp.is_url(text)


def test_files_outside_the_folder_do_not_count():
    written = {"/etc/ztcp0.conf": "a", "/c/ztcp1.conf": "b", "/c/ztcp.conf.bak": "c"}
    assert harp.merged_files(["/c/ztcp9.conf"], written, "/c", "ztcp*.conf") == ["/c/ztcp1.conf", "/c/ztcp9.conf"]


def test_another_order_of_the_same_enis_is_no_change():
    enis = [f"0000:00:{number:02x}.0" for number in range(6, 14)]
    record = harp.new_record("setup.sh", "0" * 64, enis, {})
    assert harp.reason_to_run(record, "setup.sh", "0" * 64, enis[4:] + enis[:4], {}, 0) is None


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
