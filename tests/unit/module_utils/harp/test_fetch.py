# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The setup script comes from the options, a file or a URL, and nothing else is taken for it."""

from http.client import IncompleteRead

import pytest
from fake_urls import FakeServer
from harp_host import GOOD, sha256

from ansible_collections.taco.train.plugins.module_utils._harp import configuration
from ansible_collections.taco.train.plugins.module_utils._harp.configuration import fetch_script
from ansible_collections.taco.train.plugins.module_utils._harp.harp import HarpError

SERVER = FakeServer(**{"setup.sh": b"of the server", "large.sh": b"0" * 21, "cut.sh": IncompleteRead(b"#!/bin", 12)})


def fetched(script, content=None):
    return fetch_script({"script": script, "script_content": content}, SERVER.open_url)


def test_the_script_is_that_of_the_options_of_the_host_or_of_a_server(tmp_path):
    path = tmp_path / "setup.sh"
    path.write_text("of the host")
    assert fetched(str(path), "of the options") == b"of the options"
    assert fetched(str(path)) == b"of the host"
    assert fetched(SERVER.url + "/setup.sh") == b"of the server"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("/nowhere/setup.sh", "there is no /nowhere/setup.sh on this host: set script .harp_script"),
        ("ftp://server.example/setup.sh", "use http or https"),
        ("http://other.example/setup.sh", "can't be downloaded: .*harp_script"),
        (SERVER.url + "/gone.sh", "/gone.sh can't be downloaded: .*404"),
        (SERVER.url + "/cut.sh", "can't be downloaded: IncompleteRead: .*6 bytes read, 12 more"),
        (SERVER.url + "/large.sh", "larger than 20 bytes"),
    ],
)
def test_anything_else_is_an_error(monkeypatch, script, words):
    monkeypatch.setattr(configuration, "LARGEST_SCRIPT", 20)
    with pytest.raises(HarpError, match=words):
        fetched(script)


def test_a_script_is_downloaded_only_where_it_runs(host):
    host.server.pages["setup.sh"] = GOOD.encode()
    download = {"script": host.server.url + "/setup.sh", "sha256": sha256(GOOD)}
    assert host(**download)["ran"] and not host(**download)["changed"]
    assert host.server.requests == ["setup.sh"]


@pytest.mark.parametrize(
    ("name", "trust"), [("gone.sh", {"allow_unverified": True}), ("setup.sh", {"sha256": "f" * 64})]
)
def test_an_error_page_or_another_script_is_neither_run_nor_stored(host, name, trust):
    host.server.pages["setup.sh"] = GOOD.encode()
    assert host(script=f"{host.server.url}/{name}", **trust)["failed"]
    assert host.tree() == {}
