# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the script of a run comes from, and which path the workers then have it at."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparability import of_runs
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.variables.runs import absent_scripts
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import (
    delivered,
    delivery,
    read_checksum,
    source_of,
    with_delivered,
)

SHA256 = "f759d9242096a662dc0181cdb18f03705a6804d4216fcef339f7110cace66498"
URL = "https://example.com/v0.21.3/train.py?raw=1"


@pytest.mark.parametrize(
    ("script", "checksum", "found", "kind", "file"),
    [
        (URL, f"sha256:{SHA256}", None, "url", f"/d/{SHA256[:12]}/train.py"),
        (URL, "none", None, "url", "/d/unverified-623044def49f/train.py"),
        ("train.py", None, "/play/files/train.py", "controller", "/play/files/train.py"),
        ("~/train.py", None, "/root/train.py", "controller", "/root/train.py"),
        ("/srv/train.py", None, "/srv/train.py", "controller", "/srv/train.py"),
    ],
)
def test_a_url_and_a_file_of_the_controller_are_delivered(script, checksum, found, kind, file):
    source = source_of(script, checksum, found, "/d")
    assert (source.kind, source.source, source.file) == (kind, script, file)


def test_an_absolute_path_that_the_controller_lacks_is_one_in_the_training_image():
    assert source_of("/mnt/train.py", None, None, "/d") is None


@pytest.mark.parametrize(
    ("script", "checksum", "words"),
    [
        (URL, None, "benchmark_options.script_checksum is not set: set it to sha256:"),
        ("ftp://example.com/train.py", "none", "https:// or http://"),
        ("https://example.com/", "none", "name a file"),
        ("https://example.com/a/%2e%2e", "none", "name a file"),
        ("train.py", None, "no such file on the controller"),
        ("~/train.py", None, "no such file on the controller"),
        (URL, SHA256, "sha256:<64 hexadecimal digits>"),
        (URL, "sha256:" + "0" * 64, "a placeholder"),
        (URL, "md5:0123456789abcdef", "sha256:<64 hexadecimal digits>"),
        ("https://example.com/a%00.py", "none", "name a file"),
        ("https://example.com/a%0a.py", "none", "name a file"),
        ("https://[::1/a.py", "none", "name a file"),
        ("https://example.com/" + "a" * 256, "none", "name a file"),
    ],
)
def test_what_cannot_be_delivered_names_the_variable(script, checksum, words):
    with pytest.raises(InvalidValueError, match="benchmark_options.script") as caught:
        source_of(script, checksum, None, "/d")
    assert words in str(caught.value)


def test_the_waiver_and_capital_letters_are_read():
    assert read_checksum("none") is None
    assert read_checksum("SHA256:" + SHA256.upper()) == SHA256


def test_the_end_of_the_line_of_a_checksum_is_no_part_of_it():
    assert read_checksum(f"sha256:{SHA256}\n") == SHA256
    assert read_checksum("none\n") is None


def test_the_folder_of_a_script_is_named_after_its_content():
    source = source_of("train.py", None, "/play/train.py", "/d")
    one = delivery("train.py", None, source, SHA256, "/state")
    assert one["path"] == f"/state/horovod/scripts/{SHA256[:12]}/train.py"
    assert one["present"] and one["sha256"] == SHA256
    other = delivery("train.py", None, source, "1" * 64, "/state")
    assert other["folder"] != one["folder"]


def test_a_file_of_the_controller_with_another_checksum_is_refused():
    checksum = f"sha256:{SHA256}"
    source = source_of("train.py", checksum, "/play/train.py", "/d")
    with pytest.raises(
        InvalidValueError, match=f"expected SHA-256 {SHA256}, found 1+; correct benchmark_options.script_checksum"
    ):
        delivery("train.py", checksum, source, "1" * 64, "/state")


def test_a_download_that_is_not_there_yet_has_a_path_where_its_checksum_is_known():
    for checksum, folder in ((f"sha256:{SHA256}", SHA256[:12]), ("none", "unknown")):
        one = delivery(URL, checksum, source_of(URL, checksum, None, "/d"), None, "/state")
        assert (one["present"], one["path"]) == (False, f"/state/horovod/scripts/{folder}/train.py")


def test_a_run_has_its_own_script_of_several():
    scripts = [
        {"script": "a.py", "checksum": None, "path": "/s/a.py"},
        {"script": "b.py", "checksum": None, "path": "/s/b.py"},
    ]
    options = {"script": "b.py", "script_checksum": None, "scripts": scripts}
    assert delivered(options, scripts) == scripts[1]
    assert with_delivered(options)["script"] == "/s/b.py"
    assert with_delivered(dict(options, script="/mnt/c.py"))["script"] == "/mnt/c.py"


def record(arm, script, sha256):
    return {"arm": arm, "parameters": {"script": script}, "script": {"sha256": sha256}, "hosts": []}


def test_runs_with_different_scripts_are_not_alike_and_those_with_the_same_content_are():
    assert of_runs([record("tcp", "/home/me/train.py", SHA256), record("taco", URL, SHA256)], "case") == []
    (said,) = of_runs([record("tcp", "train.py", SHA256), record("taco", "train.py", "1" * 64)], "case")
    assert said.startswith("case: the script was not the same in all runs") and SHA256 in said


def test_preflight_refuses_a_script_that_only_the_controller_can_have_and_lacks():
    variables = {
        "benchmark_options": {"script": "~/a.py"},
        "compare_workloads": [{"script": "files/b.py"}, {"script": "/mnt/c.py"}, 3],
    }
    found = {check.fix: check.found for check in absent_scripts(variables, lambda script: None)}
    assert found == {
        "correct benchmark_options.script": "benchmark_options.script: ~/a.py, which is no file on the controller",
        "correct compare_workloads": "compare_workloads: files/b.py, which is no file on the controller",
    }
    assert absent_scripts(variables, lambda script: "/x") == []
    assert absent_scripts({"benchmark_options": {"script": URL}}, lambda script: None) == []
