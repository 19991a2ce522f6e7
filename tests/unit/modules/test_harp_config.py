# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module on folders of its own, with scripts that fail each way they can and a server that serves them."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.module_utils._harp import files as _harp_files
from ansible_collections.taco.train.plugins.module_utils._observation.harp import harp
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.modules import harp_config
from ansible_collections.taco.train.plugins.plugin_utils.convergence.harp import KNOWN

GOOD = """#!/bin/bash
n=0
for name in ${TACO_ENI_INTERFACES//,/ }; do echo "$name" > "$FOLDER/ztcp$n.conf"; n=$((n + 1)); done
echo ran >> "$FOLDER/ran"
echo "$EXTRA: Set up HARP successfully"
"""


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def nic(name, primary=False):
    return {
        "name": name,
        "mac": "52:54:00:00:00:0" + name[-1],
        "pci": f"0000:00:0{name[-1]}.0",
        "numa_node": None,
        "driver": "virtio_net",
        "kind": "physical",
        "up": True,
        "primary": primary,
        "addresses": [],
    }


def node(count):
    return {
        "hostname": "node-0",
        "nics": [nic("eth0", primary=True)] + [nic(f"eth{number}") for number in range(1, count + 1)],
        "gpus": {"devices": []},
        "cpu": {"count": 2},
        "hugepages": {
            "default_size_bytes": 2097152,
            "pools": [{"size_bytes": 2097152, "total": 1, "free": 1, "nodes": [{"node": 0, "total": 1, "free": 1}]}],
        },
    }


class Folders:
    """The folders of one host and the options every task on it has."""

    def __init__(self, root, run):
        self.config = root / "config"
        self.state = root / "state"
        self.root = root
        self.config.mkdir()
        self.state.mkdir()
        self.runner = run

    def __call__(self, check=False, **options):
        common = {
            "config_dir": str(self.config),
            "state_dir": str(self.state),
            "environment": self.environment(),
            "node": node(2),
        }
        common.update(options)
        return self.runner(harp_config.main, check=check, **common)

    def environment(self, **more):
        return dict({"FOLDER": str(self.config), "EXTRA": "here"}, **more)

    def script(self, text, name="setup.sh"):
        path = self.root / name
        path.write_text(text)
        return {"script": str(path), "sha256": sha256(text)}

    def runs(self):
        ran = self.config / "ran"
        return len(ran.read_text().splitlines()) if ran.exists() else 0

    def tree(self):
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for folder in (self.config, self.state)
            for path in sorted(folder.rglob("*"))
        }


@pytest.fixture
def host(tmp_path, run):
    return Folders(tmp_path, run)


@pytest.fixture
def server():
    """Serve what pages holds: path -> (status, bytes)."""
    pages = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = pages.get(self.path, (404, b"echo Set up HARP successfully\n"))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pages.setdefault("asked", []).append(self.path)

    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    pages["url"] = f"http://127.0.0.1:{served.server_port}"
    yield pages
    served.shutdown()
    served.server_close()
    thread.join()


def test_a_good_script_runs_once(host):
    first = host(**host.script(GOOD))
    assert first["changed"] and first["ran"], first
    assert [os.path.basename(entry["path"]) for entry in first["files"]] == ["ztcp0.conf", "ztcp1.conf"]
    assert first["enis"] == ["eth1", "eth2"]
    assert first["sha256"] == sha256(GOOD)
    assert (host.state / "harp/setup.log").read_text() == "here: Set up HARP successfully\n"
    kept = host.state / f"harp/setup-{sha256(GOOD)[:12]}"
    assert kept.read_text() == GOOD
    assert kept.stat().st_mode & 0o777 == 0o700
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


def test_it_does_not_run_again_when_user_space_took_the_interfaces(host):
    host(**host.script(GOOD))
    taken = node(2)
    for entry in taken["nics"][1:]:
        entry.update(name=entry["pci"], mac="", driver="vfio-pci")
    assert not host(node=taken, **host.script(GOOD))["ran"]


def replaced(nodes, **changes):
    nodes["nics"][2].update(changes)
    return nodes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (lambda host: {"node": replaced(node(2), name="ens7")}, "the name of ENI eth2"),
        (lambda host: {"node": replaced(node(2), mac="52:54:00:00:00:99")}, "the MAC address of ENI eth2"),
        (lambda host: {"environment": host.environment(TOKEN="hunter2")}, "harp_environment"),
        (lambda host: {"interpreter": ["bash", "-e"]}, "harp_interpreter"),
    ],
    ids=["renamed", "replaced", "environment", "interpreter"],
)
def test_it_runs_again_for_an_eni_in_the_same_slot_and_for_other_settings_and_the_diff_says_why(host, options, words):
    script, options = host.script(GOOD), options(host)
    host(**script)
    assert known(host, **dict(script, **options)) is None
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
    "one file short": (GOOD, {"minimum_files": 3}, ["at least 3", "found 2 (ztcp0.conf, ztcp1.conf)"]),
    "empty files": (GOOD.replace('echo "$name"', "true"), {}, ["found 0"]),
    "hangs": ("echo begun\nsleep 60\n", {"timeout": 1}, ["did not end within 1 s", "harp_timeout", "begun"]),
    "no interpreter": (
        GOOD,
        {"interpreter": ["no-such-shell"]},
        ["no-such-shell is not installed", "harp_interpreter"],
    ),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_script_that_fails_is_an_error_and_is_not_remembered(host, how):
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
    assert "harp_script_sha256 is not set" in result["msg"] and "harp_allow_unverified: true" in result["msg"]
    assert host.runs() == 0
    allowed = host(allow_unverified=True, **options)
    assert allowed["ran"]
    assert not host(allow_unverified=True, **options)["changed"]


@pytest.mark.parametrize("as_content", [False, True])
def test_another_script_than_promised_is_not_run_and_not_kept(host, as_content):
    options = dict(host.script(GOOD), sha256="0" * 64)
    if as_content:
        options["script_content"] = GOOD
    result = host(**options)
    assert result["failed"]
    for word in ("0" * 64, sha256(GOOD), "harp_script_sha256"):
        assert word in result["msg"]
    assert host.tree() == {}


def test_a_checksum_must_look_like_one(host):
    result = host(**dict(host.script(GOOD), sha256="d41d8"))
    assert "64 hexadecimal digits" in result["msg"]


def test_a_script_from_the_controller(host):
    result = host(script="/nowhere/setup.sh", script_content=GOOD, sha256=sha256(GOOD))
    assert result["ran"] and result["sha256"] == sha256(GOOD)


def test_a_script_that_is_nowhere(host):
    result = host(script="/nowhere/setup.sh", sha256="0" * 64)
    assert "there is no /nowhere/setup.sh" in result["msg"] and "harp_script" in result["msg"]


def test_a_script_is_downloaded_once(host, server):
    server["/setup.sh"] = (200, GOOD.encode())
    options = {"script": server["url"] + "/setup.sh", "sha256": sha256(GOOD)}
    assert host(**options)["ran"]
    assert not host(**options)["changed"]
    assert server["asked"] == ["/setup.sh"]


def test_an_error_page_is_not_run(host, server):
    result = host(script=server["url"] + "/gone.sh", allow_unverified=True)
    assert result["failed"]
    assert "404" in result["msg"] and "/gone.sh" in result["msg"] and "harp_script" in result["msg"]
    assert host.tree() == {}


def test_a_download_of_another_script_is_not_run(host, server):
    server["/setup.sh"] = (200, GOOD.encode())
    result = host(script=server["url"] + "/setup.sh", sha256="f" * 64)
    assert result["failed"] and sha256(GOOD) in result["msg"]
    assert host.tree() == {}


def test_a_server_that_does_not_answer(host):
    result = host(script="http://127.0.0.1:9/setup.sh", sha256="f" * 64)
    assert result["failed"] and "can't be downloaded" in result["msg"]


def test_other_kinds_of_urls_are_refused(host):
    result = host(script="ftp://127.0.0.1/setup.sh", sha256="f" * 64)
    assert "use http or https" in result["msg"]


def test_python_scripts_run_under_python3(host):
    text = (
        "import os, sys\n"
        "for number in range(2):\n"
        "    open(os.environ['FOLDER'] + '/ztcp%d.conf' % number, 'w').write('x')\n"
        "print('setup successfully', sys.version_info[0])\n"
    )
    assert host(**host.script(text, "ztcp_setup.py"))["ran"]
    assert "setup successfully 3" in (host.state / "harp/setup.log").read_text()


def rendered(*contents):
    return [{"dest": f"ztcp{number}.conf", "content": content} for number, content in enumerate(contents)]


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
        ([], "rendered no file"),
        (rendered("a", " \n"), "rendered nothing for"),
        (rendered("a"), "expected at least 2 files"),
        ([{"dest": "ztcp.conf", "content": "a"}, {"dest": "./ztcp.conf", "content": "b"}], "for two ENIs"),
    ],
)
def test_a_template_that_is_no_configuration_is_refused(host, files, words):
    result = host(source="template", rendered=files, minimum_files="per_eni")
    assert result["failed"] and words in result["msg"]
    assert host.tree() == {}


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


def known(host, **options):
    """Return what the controller knows of a host from one observation, when it is asked for this configuration."""
    asked = dict(config_dir=str(host.config), state_dir=str(host.state), environment=host.environment())
    asked.update(options)
    observed = dict(harp=harp(Root("/"), str(host.config), str(host.state)), observed_at="now")
    return KNOWN.answer(asked, dict(asked.pop("node", node(2)), **observed))


SOURCES = pytest.mark.parametrize(
    "options",
    [
        lambda host: host.script(GOOD),
        lambda host: dict(host.script(GOOD), script_content=GOOD),
        lambda host: dict(host.script(GOOD), sha256=None, allow_unverified=True),
        lambda host: {"source": "template", "rendered": rendered("a", "b")},
        lambda host: {"source": "none"},
    ],
    ids=["script", "content", "unverified", "template", "none"],
)


@SOURCES
def test_what_is_known_of_a_configured_host_is_what_the_module_answers(host, options):
    options = options(host)
    assert known(host, **options) is None
    host(**options)
    (host.config / "ztcp9.conf").write_text("")
    before = host.tree()
    found, answer = known(host, **options), host(**options)
    assert host.tree() == before and not answer["changed"]
    assert found == {name: value for name, value in answer.items() if name != "invocation"}


@SOURCES
@pytest.mark.parametrize(
    "change",
    [
        lambda host: (host.state / "host-manifest.json").write_text("{}"),
        lambda host: (host.state / "host-manifest.json").unlink(),
        lambda host: {"state": "absent"},
        lambda host: {"manifest": False},
        lambda host: {"config_glob": "*.conf"},
        lambda host: {"config_dir": str(host.state)},
        lambda host: {"state_dir": str(host.root / "other")},
        lambda host: {"node": node(3)},
        lambda host: {"eni_pattern": "("},
    ],
)
def test_a_host_where_anything_is_otherwise_has_to_be_asked(host, options, change):
    options = options(host)
    host(**options)
    options.update(change(host) if isinstance(change(host), dict) else {})
    assert known(host, **options) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda host: (host.config / "ztcp0.conf").write_text("other"),
        lambda host: (host.config / "ztcp1.conf").unlink(),
        lambda host: (host.config / "ztcp0.conf").write_text(""),
    ],
)
@pytest.mark.parametrize(
    "options", [lambda host: host.script(GOOD), lambda host: {"source": "template", "rendered": rendered("a", "b")}]
)
def test_files_that_changed_have_to_be_mended_there(host, options, change):
    options = options(host)
    host(**options)
    change(host)
    assert known(host, **options) is None


@pytest.mark.parametrize(
    "options",
    [{"script": "other.sh", "sha256": "0" * 64}, {"sha256": None}, {"sha256": "x"}, {"minimum_files": 3}, {"script": None},
     {"script_content": "other"}, {"environment": {}}, {"interpreter": ["sh"]}],
)  # fmt: skip
def test_another_script_and_what_would_be_refused_goes_to_the_host(host, options):
    asked = host.script(GOOD)
    host(**asked)
    assert known(host, **dict(asked, **options)) is None


SLOW = GOOD.replace("n=0", 'touch "$FOLDER/begun"; while [ ! -e "$FOLDER/go" ]; do sleep 0.05; done; n=0')
MAIN = "from ansible_collections.taco.train.plugins.modules import harp_config; harp_config.main()"


def test_a_second_controller_is_refused_while_the_script_runs(host, tmp_path, monkeypatch):
    """Two real processes: the first is in the middle of the vendor's script."""
    monkeypatch.setattr(_harp_files, "LOCK_SECONDS", 1)
    script = dict(host.script(SLOW), node=node(2), config_dir=str(host.config), state_dir=str(host.state))
    arguments = dict(
        script, environment=host.environment(), _ansible_remote_tmp=str(tmp_path), _ansible_check_mode=False
    )
    given = tmp_path / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}))
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parents[3] / "collections"))
    argv = [sys.executable, "-c", MAIN, str(given)]
    with subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as first:
        deadline = time.monotonic() + 60
        while not (host.config / "begun").exists():
            assert time.monotonic() < deadline and first.poll() is None
            time.sleep(0.05)
        second = host(**script)
        predicted = host(check=True, **script)
        (host.config / "go").touch()
        output = first.communicate()[0]
    assert second["failed"] and "another run has been changing HARP's configuration" in second["msg"]
    assert predicted["changed"]
    assert json.loads(output)["ran"] and host.runs() == 1
    assert not host(**script)["changed"]
