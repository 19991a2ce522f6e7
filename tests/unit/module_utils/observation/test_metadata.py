# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metadata service is read where the option says, under a time limit."""

import http.server
import threading

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.metadata import MetadataError
from ansible_collections.taco.train.plugins.module_utils._observation import metadata as _metadata
from ansible_collections.taco.train.plugins.module_utils._observation.metadata import metadata
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root


class Metadata(http.server.BaseHTTPRequestHandler):
    answers = {"/meta/instance-id": "ins-1", "/meta/instance/instance-type": "GT4.41XLARGE948"}

    def do_GET(self):
        answer = self.answers.get(self.path)
        self.send_response(200 if answer else 404)
        self.end_headers()
        self.wfile.write((answer or "").encode())

    def log_message(self, *_arguments):
        """Stay silent."""


@pytest.fixture
def service():
    pytest.importorskip("ansible.module_utils.urls")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_service_at_a_url_is_read(tmp_path, service):
    answer = metadata(Root(str(tmp_path)), service + "/meta/")
    assert (answer["instance_id"], answer["instance_type"]) == ("ins-1", "GT4.41XLARGE948")
    assert (answer["region"], answer["interfaces"], answer["url"]) == (None, [], service + "/meta/")


def test_the_service_at_a_url_must_answer(tmp_path, service):
    with pytest.raises(MetadataError, match="elsewhere/: expected an instance ID .*option metadata"):
        metadata(Root(str(tmp_path)), service + "/elsewhere")
    with pytest.raises(MetadataError, match="http://127.0.0.1:9/: "):
        metadata(Root(str(tmp_path)), "http://127.0.0.1:9/")


@pytest.fixture
def instance(tmp_path):
    """The root of an instance of the vendor."""
    vendor = tmp_path / "sys/class/dmi/id/sys_vendor"
    vendor.parent.mkdir(parents=True)
    vendor.write_text("Tencent Cloud\n")
    return Root(str(tmp_path))


@pytest.mark.parametrize(
    ("running", "folder", "instance_id"), [(True, "/meta/", "ins-1"), (True, "/", None), (False, "/meta/", None)]
)
def test_auto_reads_the_service_of_the_running_system_and_needs_no_answer(
    monkeypatch, instance, service, running, folder, instance_id
):
    monkeypatch.setattr(_metadata, "BASE", service + folder)
    instance.is_running_system = running
    assert (metadata(instance, "auto") or {}).get("instance_id") == instance_id


def test_slow_answers_are_limited_together(monkeypatch, tmp_path, service):
    monkeypatch.setattr(_metadata, "TOTAL_SECONDS", -1)
    with pytest.raises(MetadataError, match="not all answers came within"):
        metadata(Root(str(tmp_path)), service + "/meta/")


@pytest.mark.parametrize("source", ["off", "False", "no", ""])
def test_off_reads_nothing(source):
    assert metadata(Root("/"), source) is None
