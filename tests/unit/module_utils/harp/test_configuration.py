# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rendered files and the host manifest are written where they differ, and check mode predicts it."""

import contextlib
import json

import pytest
from harp_host import GOOD, node, rendered

from ansible_collections.taco.train.plugins.module_utils._harp import configuration, files


def test_a_template_is_written_as_it_is(host):
    (host.config / "other.conf").write_text("kept")
    first = host(source="template", rendered=rendered("a\n", "b"))
    assert first["changed"] and not first["ran"]
    assert (host.config / "ztcp0.conf").read_text() == "a\n"
    assert (host.config / "ztcp1.conf").read_text() == "b"
    assert (host.config / "other.conf").read_text() == "kept"
    assert not host(source="template", rendered=rendered("a\n", "b"))["changed"]
    third = host(source="template", rendered=rendered("a\n", "c"))
    assert [(entry["before"], entry["after"]) for entry in third["diff"]] == [("b", "c")]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "has no file"),
        (rendered("a", " \n"), "has nothing for"),
        (rendered("a"), "expected at least 2 files"),
        ([{"dest": "ztcp.conf", "content": "a"}, {"dest": "./ztcp.conf", "content": "b"}], "for two ENIs"),
    ],
)
def test_a_template_that_is_no_configuration_is_refused(host, files, words):
    result = host(source="template", rendered=files, minimum_files="per_eni")
    assert result["failed"] and words in result["msg"]
    assert host.tree() == {}


def test_files_that_another_run_writes_meanwhile_are_written_again(host, monkeypatch):
    host(source="template", rendered=rendered("a", "b"))

    @contextlib.contextmanager
    def late(*arguments, **options):
        with files.alone(*arguments, **options):
            (host.config / "ztcp0.conf").write_text("of another run")
            yield

    monkeypatch.setattr(configuration, "alone", late)
    result = host(source="template", rendered=rendered("a", "c"))
    assert [(host.config / f"ztcp{number}.conf").read_text() for number in range(2)] == ["a", "c"]
    assert [(entry["before"], entry["after"]) for entry in result["diff"]] == [("of another run", "a"), ("b", "c")]


def test_the_manifest_is_not_named_like_a_configuration_and_holds_nothing_that_changes_by_itself(host):
    result = host(source="none")
    path = host.state / "host-manifest.json"
    assert result["manifest"] == str(path) and result["changed"]
    written = json.loads(path.read_text())
    assert written["version"] == 1
    assert [(entry["name"], entry["eni"]) for entry in written["interfaces"]] == [
        ("eth0", False),
        ("eth1", True),
        ("eth2", True),
    ]
    later = node(2)
    later["hugepages"]["pools"][0]["free"] = 0
    later["hugepages"]["pools"][0]["nodes"][0]["free"] = 0
    assert not host(source="none", node=later)["changed"]
    assert list(host.config.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        lambda host: host.script(GOOD),
        lambda host: {"source": "template", "rendered": rendered("a", "b")},
        lambda host: {"source": "none"},
    ],
    ids=["script", "template", "none"],
)
def test_check_mode_predicts_and_writes_nothing(host, options):
    predicted = host(check=True, **options(host))
    assert host.tree() == {}
    done = host(**options(host))
    for key in ("changed", "ran", "diff", "sha256", "reason", "manifest"):
        assert predicted.get(key) == done.get(key), key
    before = host.tree()
    assert not host(check=True, **options(host))["changed"]
    assert host.tree() == before
