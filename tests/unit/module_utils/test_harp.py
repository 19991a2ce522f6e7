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
