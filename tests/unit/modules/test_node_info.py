# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module returns the observation, in check mode too, and reports why it has none."""

import http.server
import threading

import pytest

from ansible_collections.taco.train.plugins.modules import node_info


@pytest.mark.parametrize("check", [True, False])
def test_the_observation_is_returned(run, tmp_path, check):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hostname").write_text("gpu1\n")
    result = run(node_info.main, check=check, sysroot=str(tmp_path))
    assert (result["changed"], result["node"]["schema"], result["node"]["hostname"]) == (False, 1, "gpu1")


def test_a_url_that_does_not_answer_fails(run, tmp_path):
    result = run(node_info.main, sysroot=str(tmp_path), metadata="http://127.0.0.1:9/")
    assert result["failed"] and "http://127.0.0.1:9/" in result["msg"] and "option metadata" in result["msg"]


class Metadata(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/meta/instance-id" else 404)
        self.end_headers()
        self.wfile.write(b"ins-1")

    def log_message(self, *_arguments):
        """Stay silent."""


def test_a_metadata_service_is_read(run, tmp_path):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metadata) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = run(node_info.main, sysroot=str(tmp_path), metadata=f"http://127.0.0.1:{server.server_port}/meta")
        server.shutdown()
    assert (result["node"]["metadata"]["instance_id"], result["node"]["metadata"]["region"]) == ("ins-1", None)
