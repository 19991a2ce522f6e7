# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The setup script runs where something changed since its last successful run, and each failure is an error."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harp_host import GOOD, node, sha256

from ansible_collections.taco.train.plugins.module_utils._harp import files


def test_a_good_script_runs_once(host):
    first = host(**host.script(GOOD))
    assert first["changed"] and first["ran"], first
    assert [os.path.basename(entry["path"]) for entry in first["files"]] == ["ztcp0.conf", "ztcp1.conf"]
    assert first["enis"] == ["eth1", "eth2"]
    assert first["sha256"] == sha256(GOOD)
    assert (host.state / "harp/setup.log").read_text() == "here: Set up HARP successfully\n"
    copy = host.state / f"harp/setup-{sha256(GOOD)[:12]}"
    assert copy.read_text() == GOOD
    assert copy.stat().st_mode & 0o777 == 0o700
    before = host.tree()
    second = host(**host.script(GOOD))
    assert (second["changed"], second["ran"]) == (False, False)
    assert host.tree() == before
    assert host.runs() == 1


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda host: (host.config / "ztcp0.conf").unlink(), "ztcp0.conf is gone"),
        (lambda host: (host.config / "ztcp0.conf").write_text(""), "ztcp0.conf is gone"),
        (lambda host: (host.config / "ztcp0.conf").write_text("edited"), "ztcp0.conf changed"),
        (lambda host: (host.state / "harp/state.json").write_text("{"), "not run before"),
    ],
    ids=["gone", "empty", "edited", "record damaged"],
)
def test_it_runs_again_when_its_files_differ(host, damage, reason):
    host(**host.script(GOOD))
    damage(host)
    again = host(**host.script(GOOD))
    assert again["ran"] and reason in again["reason"]
    assert host.runs() == 2


def test_it_runs_again_for_other_enis_and_for_another_script(host):
    host(**host.script(GOOD))
    more = host(node=node(3), **host.script(GOOD))
    assert "from 0000:00:01.0, 0000:00:02.0 to 0000:00:01.0, 0000:00:02.0, 0000:00:03.0" in more["reason"]
    assert len(more["files"]) == 3
    other = host(node=node(3), **host.script(GOOD + "# newer\n"))
    assert other["reason"] == "the script changed"


def replaced(nodes, **changes):
    nodes["nics"][2].update(changes)
    return nodes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (lambda host: {"node": replaced(node(2), mac="52:54:00:00:00:99")}, "the MAC address of ENI eth2"),
        (lambda host: {"environment": host.environment(TOKEN="hunter2")}, "harp_environment"),
        (lambda host: {"interpreter": ["bash", "-e"]}, "harp_interpreter"),
    ],
    ids=["replaced", "environment", "interpreter"],
)
def test_it_runs_again_for_an_eni_in_the_same_slot_and_for_other_settings_and_the_diff_has_the_reason(
    host, options, words
):
    script, options = host.script(GOOD), options(host)
    host(**script)
    before = host.tree()
    predicted = host(check=True, **dict(script, **options))
    assert host.tree() == before
    assert predicted["changed"] and words in predicted["reason"] and words in predicted["diff"][0]["prepared"]
    again = host(**dict(script, **options))
    assert again["ran"] and again["reason"] == predicted["reason"] and host.runs() == 2
    assert not host(**dict(script, **options))["changed"]
    assert "hunter2" not in (host.state / "harp/state.json").read_text()


def test_a_setup_that_failed_is_repeated_when_everything_is_set_to_what_it_was(host):
    fails = GOOD.replace("n=0", '[ -z "$FAIL" ] || exit 3')
    host(**host.script(fails))
    assert host(environment=host.environment(FAIL="1"), **host.script(fails))["failed"]
    assert host(**host.script(fails))["reason"] == "it has not run before"


FAILURES = {
    "exit status": (GOOD + "exit 3\n", {}, ["exit status 3", "Set up HARP successfully", "setup.log"]),
    "no success text": (GOOD.replace("successfully", "somehow"), {}, ["'setup successfully'", "somehow"]),
    "no files": (
        "echo Set up HARP successfully\n",
        {},
        ["at least 1 file ztcp*.conf in ", "found 0 (none)", "harp_minimum_files"],
    ),
    "a file fewer than ENIs": (
        'echo x > "$FOLDER/ztcp0.conf"; echo Set up HARP successfully\n',
        {"minimum_files": "per_eni"},
        ["at least 2 files", "found 1 (ztcp0.conf)"],
    ),
    "empty files": (GOOD.replace('echo "$name"', "true"), {}, ["found 0"]),
    "hangs": ("echo begun\nsleep 60\n", {"timeout": 1}, ["did not end within 1 s", "harp_timeout", "begun"]),
    "no interpreter": (
        GOOD,
        {"interpreter": ["no-such-shell"]},
        ["no-such-shell is not installed", "harp_interpreter"],
    ),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_script_that_fails_is_an_error_and_is_not_recorded(host, how):
    text, options, words = FAILURES[how]
    result = host(**host.script(text), **options)
    assert result["failed"]
    for word in words:
        assert word in result["msg"]
    assert not (host.state / "harp/state.json").exists()


def test_one_file_is_a_configuration_also_for_several_enis(host):
    result = host(**host.script('echo x > "$FOLDER/ztcp0.conf"; echo Set up HARP successfully\n'))
    assert result["ran"] and result["enis"] == ["eth1", "eth2"] and len(result["files"]) == 1


def test_a_checksum_is_required(host):
    options = dict(host.script(GOOD), sha256=None)
    result = host(**options)
    assert result["failed"]
    assert "sha256 (harp_script_sha256) is not set" in result["msg"] and "allow_unverified: true" in result["msg"]
    assert host.runs() == 0
    allowed = host(allow_unverified=True, **options)
    assert allowed["ran"]
    assert not host(allow_unverified=True, **options)["changed"]


@pytest.mark.parametrize("as_content", [False, True])
def test_a_script_with_another_checksum_is_neither_run_nor_stored(host, as_content):
    options = dict(host.script(GOOD), sha256="0" * 64)
    if as_content:
        options["script_content"] = GOOD
    result = host(**options)
    assert result["failed"]
    for word in ("0" * 64, sha256(GOOD), "harp_script_sha256"):
        assert word in result["msg"]
    assert host.tree() == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [({"sha256": "d41d8"}, "64 hexadecimal digits"), ({"script": None}, "set script (harp_script)")],
)
def test_a_checksum_looks_like_one_and_a_script_has_a_name(host, options, words):
    result = host(**dict(host.script(GOOD), **options))
    assert result["failed"] and words in result["msg"] and host.tree() == {}


def test_a_script_from_the_controller(host):
    result = host(script="/nowhere/setup.sh", script_content=GOOD, sha256=sha256(GOOD))
    assert result["ran"] and result["sha256"] == sha256(GOOD)


def test_python_scripts_run_under_python3(host):
    text = (
        "import os, sys\n"
        "for number in range(2):\n"
        "    open(os.environ['FOLDER'] + '/ztcp%d.conf' % number, 'w').write('x')\n"
        "print('setup successfully', sys.version_info[0])\n"
    )
    assert host(**host.script(text, "ztcp_setup.py"))["ran"]
    assert "setup successfully 3" in (host.state / "harp/setup.log").read_text()


SLOW = GOOD.replace("n=0", 'touch "$FOLDER/begun"; while [ ! -e "$FOLDER/go" ]; do sleep 0.05; done; n=0')
CONFIGURE = """
import json, sys
from ansible_collections.taco.train.plugins.module_utils._harp.configuration import configure
print(json.dumps(configure(json.loads(sys.argv[1]), False, print, None)))
"""


def test_a_second_controller_is_refused_while_the_script_runs(host, monkeypatch):
    """Two real processes: the first is in the middle of the vendor's script."""
    monkeypatch.setattr(files, "LOCK_SECONDS", 1)
    script = host.script(SLOW)
    argv = [sys.executable, "-c", CONFIGURE, json.dumps(host.options(**script))]
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parents[4] / "collections"))
    with subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as first:
        deadline = time.monotonic() + 60
        while not (host.config / "begun").exists():
            assert time.monotonic() < deadline and first.poll() is None
            time.sleep(0.05)
        second = host(**script)
        predicted = host(check=True, **script)
        (host.config / "go").touch()
        output = first.communicate()[0]
    assert second["failed"] and "another run has been changing this host" in second["msg"]
    assert predicted["changed"]
    assert json.loads(output.decode())["ran"] and host.runs() == 1
    assert not host(**script)["changed"]
