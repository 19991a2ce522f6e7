# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The setup script comes from the options, a file or a URL, and nothing else is taken for it."""

import http.server
import threading

import pytest
from harp_host import GOOD, sha256

from ansible_collections.taco.train.plugins.module_utils._harp import fetch
from ansible_collections.taco.train.plugins.module_utils._harp.fetch import fetch_script
from ansible_collections.taco.train.plugins.module_utils._harp.harp import HarpError


@pytest.fixture
def server():
    """Serve what pages holds: path -> (status, bytes)."""
    pytest.importorskip("ansible.module_utils.urls")
    pages = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = pages.get(self.path, (404, b"echo HARP"))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pages.setdefault("requests", []).append(self.path)

    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    pages["url"] = f"http://127.0.0.1:{served.server_port}"
    yield pages
    served.shutdown()
    served.server_close()
    thread.join()


def options(script, content=None):
    return {"script": script, "script_content": content}


def test_the_script_is_that_of_the_options_of_the_host_or_of_a_server(tmp_path, server):
    path = tmp_path / "setup.sh"
    path.write_text("of the host")
    server["/setup.sh"] = (200, b"of the server")
    assert fetch_script(options(str(path), "of the options")) == b"of the options"
    assert fetch_script(options(str(path))) == b"of the host"
    assert fetch_script(options(server["url"] + "/setup.sh")) == b"of the server"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("/nowhere/setup.sh", "there is no /nowhere/setup.sh, .*harp_script"),
        ("ftp://127.0.0.1/setup.sh", "use http or https"),
        ("http://127.0.0.1:9/setup.sh", "can't be downloaded: .*harp_script"),
        ("{url}/gone.sh", "/gone.sh can't be downloaded: .*404"),
        ("{url}/large.sh", "larger than 4 bytes"),
    ],
)
def test_anything_else_is_an_error(monkeypatch, server, script, words):
    monkeypatch.setattr(fetch, "LARGEST_SCRIPT", 4)
    server["/large.sh"] = (200, b"12345")
    with pytest.raises(HarpError, match=words):
        fetch_script(options(script.format(**server)))


def test_a_script_is_downloaded_only_where_it_runs(host, server):
    server["/setup.sh"] = (200, GOOD.encode())
    download = {"script": server["url"] + "/setup.sh", "sha256": sha256(GOOD)}
    assert host(**download)["ran"] and not host(**download)["changed"]
    assert server["requests"] == ["/setup.sh"]


@pytest.mark.parametrize(
    ("name", "trust"), [("gone.sh", {"allow_unverified": True}), ("setup.sh", {"sha256": "f" * 64})]
)
def test_an_error_page_or_another_script_is_neither_run_nor_stored(host, server, name, trust):
    server["/setup.sh"] = (200, GOOD.encode())
    assert host(script=f"{server['url']}/{name}", **trust)["failed"]
    assert host.tree() == {}
