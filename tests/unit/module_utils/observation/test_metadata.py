# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metadata service is read where the option says, under a time limit."""

from http.client import IncompleteRead

import pytest
from fake_urls import FakeServer

from ansible_collections.taco.train.plugins.module_utils._node.metadata import MetadataError
from ansible_collections.taco.train.plugins.module_utils._observation import node as _metadata
from ansible_collections.taco.train.plugins.module_utils._observation.node import metadata
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root

CUT = {"cut/instance-id": IncompleteRead(b"ins", 2)}
SERVER = FakeServer(**CUT, **{"meta/instance-id": b"ins-1\n", "meta/instance/instance-type": b"GT4.41XLARGE948"})


def answer_of(root, source):
    return metadata(root, source, SERVER.open_url)


def test_the_service_at_a_url_is_read(tmp_path):
    answer = answer_of(Root(str(tmp_path)), SERVER.url + "/meta/")
    assert (answer["instance_id"], answer["instance_type"]) == ("ins-1", "GT4.41XLARGE948")
    assert (answer["region"], answer["interfaces"], answer["url"]) == (None, [], SERVER.url + "/meta/")


def test_the_service_at_a_url_must_answer(tmp_path):
    with pytest.raises(MetadataError, match="elsewhere/: expected an instance ID .*option metadata"):
        answer_of(Root(str(tmp_path)), SERVER.url + "/elsewhere")
    with pytest.raises(MetadataError, match="http://other.example/: "):
        answer_of(Root(str(tmp_path)), "http://other.example/")


def test_an_answer_that_ends_early_is_no_answer(tmp_path, instance, monkeypatch):
    with pytest.raises(MetadataError, match="cut/: IncompleteRead.*set it to off"):
        answer_of(Root(str(tmp_path)), SERVER.url + "/cut")
    monkeypatch.setattr(_metadata, "BASE", SERVER.url + "/cut/")
    instance.is_running_system = True
    assert answer_of(instance, "auto") is None


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
    monkeypatch, instance, running, folder, instance_id
):
    monkeypatch.setattr(_metadata, "BASE", SERVER.url + folder)
    instance.is_running_system = running
    assert (answer_of(instance, "auto") or {}).get("instance_id") == instance_id


def test_slow_answers_are_limited_together(monkeypatch, tmp_path):
    monkeypatch.setattr(_metadata, "TOTAL_SECONDS", -1)
    with pytest.raises(MetadataError, match="not all answers came within"):
        answer_of(Root(str(tmp_path)), SERVER.url + "/meta/")


@pytest.mark.parametrize("source", ["off", "False", "no", ""])
def test_off_reads_nothing(source):
    assert answer_of(Root("/"), source) is None
