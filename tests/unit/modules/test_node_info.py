# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""node_info observes a fake host completely, changes nothing, and says the same on every Python of this machine."""

import glob
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
from fake_host import FakeHost

from ansible_collections.taco.train.plugins.modules import node_info

ROOT = Path(__file__).parents[3]
PYTHONS = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3*/bin/python")) + [sys.executable])
KEYS = {
    "schema",
    "observed_at",
    "hostname",
    "os",
    "python",
    "kernel",
    "boot",
    "cpu",
    "memory",
    "hugepages",
    "gpus",
    "nics",
    "container_engine",
    "harp",
    "training_container",
    "ssh_trust",
    "disk",
    "metadata",
    "facets",
}
CORES = """
import json, sys
sys.path.insert(0, sys.argv[1])
from ansible_collections.taco.train.plugins.module_utils._node.engine import judge_engine
from ansible_collections.taco.train.plugins.module_utils._node.enis import find_enis, judge_enis
from ansible_collections.taco.train.plugins.module_utils._node.gpus import judge_gpus, pci_gpus
from ansible_collections.taco.train.plugins.module_utils._boot.pools import observe_hugepages
from ansible_collections.taco.train.plugins.module_utils._node.meminfo import cpu, memory
from ansible_collections.taco.train.plugins.module_utils._node.metadata import read_metadata
from ansible_collections.taco.train.plugins.module_utils._node.nics import observe_nics, parse_addresses
from ansible_collections.taco.train.plugins.module_utils._node.os_release import os_identity
from ansible_collections.taco.train.plugins.module_utils._process.timed import run_timed
root = sys.argv[2]
nics = observe_nics(root, parse_addresses("2: eth1    inet 10.0.1.5/24 scope global eth1"))
text = lambda path: open(root + path).read()
print(json.dumps([
    nics, find_enis(nics), judge_enis(find_enis(nics), 9, ["10.0.1.0/24"], nics),
    judge_gpus("0, GPU-1, 00000000:3B:00.0, 450, A100", pci_gpus(root)), observe_hugepages(root),
    cpu(text("/proc/cpuinfo")), memory(text("/proc/meminfo")), os_identity(text("/etc/os-release")),
    read_metadata({"instance-id": "ins-1"}.get), judge_engine("{}", "", "", ""), run_timed(["echo", "x"], 30).stdout,
]))
"""


@pytest.fixture
def host(tmp_path):
    host = FakeHost(tmp_path / "root").base().enis(8)
    for number in range(8):
        host.pci(f"0000:3b:{number:02x}.0", vendor="0x10de", kind="0x030200")
    return host


def tree(root):
    return sorted((str(path), path.lstat().st_mtime_ns) for path in root.rglob("*"))


def test_everything_is_observed_and_nothing_is_changed(run, host):
    before = tree(host.root)
    result = run(node_info.main, sysroot=str(host.root))
    assert tree(host.root) == before
    node = result["node"]
    assert result["changed"] is False and set(node) == KEYS and node["schema"] == 1
    assert node["hostname"] == "gpu1"
    assert (node["os"]["id"], node["os"]["version_id"]) == ("tencentos", "2.4")
    version = ".".join(map(str, sys.version_info[:3]))
    assert node["python"] == {"version": version, "executable": sys.executable, "requests": True}
    assert node["kernel"] == {
        "release": "5.4.119-1-tlinux4",
        "cmdline": "root=/dev/vda1 hugepagesz=1G hugepages=50",
        "boot_id": "7d0c1f2e-0000-4000-8000-000000000001",
    }
    assert set(node["boot"]) == {"layout", "firmware", "reason", "hugepages"} and node["boot"]["hugepages"] is None
    assert node["cpu"] == {"count": 4, "page_1g": True, "page_2m": True}
    assert node["memory"] == {"total_bytes": 1024000000, "available_bytes": 921600000}
    assert node["hugepages"]["pools"][0]["total"] == 50
    assert node["hugepages"]["mounts"] == [{"path": "/dev/hugepages", "page_size_bytes": 1024**3}]
    assert (node["gpus"]["count"], node["gpus"]["source"]) == (8, "pci")
    assert [nic["name"] for nic in node["nics"]] == [f"eth{n}" for n in range(9)] + ["lo"]
    assert node["disk"]["root_free_bytes"] > 0
    assert node["container_engine"] is node["ssh_trust"] is node["metadata"] is None


def test_check_mode_observes_the_same(run, host):
    real, checked = (run(node_info.main, check=check, sysroot=str(host.root))["node"] for check in (False, True))
    for node in (real, checked):
        node.pop("disk"), node.pop("observed_at")
    assert real == checked


def test_files_of_harp_are_those_with_its_name_and_their_size_is_told(run, host):
    host.write("opt/harp/ztcp0.conf", "[dpdk]\n")
    host.write("opt/harp/ztcp1.conf", "")
    host.write("opt/harp/ztcp0.conf.old", "x")
    host.write("opt/state/host-manifest.json", "{}")
    node = run(node_info.main, sysroot=str(host.root), harp_config_dir="/opt/harp", state_dir="/opt/state")["node"]
    assert node["harp"] == {
        "config_dir": "/opt/harp",
        "config_files": [
            {"path": "/opt/harp/ztcp0.conf", "size": 7, "sha256": None},
            {"path": "/opt/harp/ztcp1.conf", "size": 0, "sha256": None},
        ],
        "manifest": "/opt/state/host-manifest.json",
        "manifest_sha256": None,
        "record": None,
    }


IDENTITY = {"public_key": "ssh-ed25519 A", "host_key": "ssh-ed25519 B", "port": 2222}
ITSELF = dict(IDENTITY, name="node-0", address="10.0.2.8")
UNKNOWN = {"name": None, "address": None, "peers": 0, "peers_sha256": None, "proven": False, "active_in": None}


@pytest.mark.parametrize(
    ("text", "trust"),
    [
        (json.dumps(dict(IDENTITY, x=1)), dict(IDENTITY, **UNKNOWN)),
        ('{"public_key": "ssh-ed25519 A"}', None),
        ("{", None),
        ("[]", None),
        ("", None),
    ],
)
def test_the_identity_is_whole_or_none(run, host, text, trust):
    host.write("var/lib/taco-train/ssh/identity.json", text)
    assert run(node_info.main, sysroot=str(host.root))["node"]["ssh_trust"] == trust


@pytest.mark.parametrize(
    ("peers", "found"),
    [
        (
            [dict(ITSELF, name="other", host_key="ssh-ed25519 C"), ITSELF],
            {"name": "node-0", "address": "10.0.2.8", "peers": 2},
        ),
        ([dict(ITSELF, port=22)], {"name": None, "address": None, "peers": 1}),
        (["node-0", None], {"name": None, "address": None, "peers": 0}),
        ({"node-0": ITSELF}, {"name": None, "address": None, "peers": 0}),
    ],
)
def test_a_host_is_known_to_its_peers_by_what_its_own_list_of_them_says(run, host, peers, found):
    host.write("var/lib/taco-train/ssh/identity.json", json.dumps(IDENTITY))
    host.write("var/lib/taco-train/ssh/peers.json", json.dumps(peers))
    trust = run(node_info.main, sysroot=str(host.root))["node"]["ssh_trust"]
    assert trust == dict(IDENTITY, peers_sha256=None, proven=False, active_in=None, **found)


@pytest.mark.parametrize(
    ("note", "proven"),
    [
        (hashlib.sha256(b"[]").hexdigest() + "\n", True),
        # From a container, and none was named here.
        (hashlib.sha256(b"[]").hexdigest() + " 4c01\n", False),
        ("0", False),
        (None, False),
    ],
)
def test_peers_were_reached_when_that_was_noted_of_just_these(run, tmp_path, note, proven):
    (tmp_path / "ssh").mkdir()
    for name, text in (("identity.json", json.dumps(IDENTITY)), ("peers.json", "[]"), ("proven", note)):
        if text is not None:
            (tmp_path / "ssh" / name).write_text(text)
    trust = run(node_info.main, state_dir=str(tmp_path))["node"]["ssh_trust"]
    assert (trust["peers_sha256"], trust["proven"]) == (hashlib.sha256(b"[]").hexdigest(), proven)


def test_an_empty_root_is_observed_as_one_that_has_nothing(run, tmp_path):
    node = run(node_info.main, sysroot=str(tmp_path))["node"]
    assert set(node) == KEYS
    assert (node["hostname"], node["nics"], node["gpus"]["count"], node["memory"]["total_bytes"]) == ("", [], 0, None)


def test_the_running_system_is_observed(run):
    node = run(node_info.main)["node"]
    assert node["kernel"]["release"] == os.uname().release
    assert node["memory"]["total_bytes"] > 0 and node["cpu"]["count"] > 0
    loopback = next(nic for nic in node["nics"] if nic["name"] == "lo")
    assert loopback["kind"] == "loopback"


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
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_metadata_service_is_asked_where_it_is_said_to_be(run, host, service):
    metadata = run(node_info.main, sysroot=str(host.root), metadata=service + "/meta/")["node"]["metadata"]
    assert (metadata["instance_id"], metadata["instance_type"]) == ("ins-1", "GT4.41XLARGE948")
    assert (metadata["region"], metadata["interfaces"], metadata["url"]) == (None, [], service + "/meta/")


def test_a_metadata_service_that_was_named_must_answer(run, host, service):
    result = run(node_info.main, sysroot=str(host.root), metadata=service + "/elsewhere")
    assert result["failed"] and "expected an instance ID" in result["msg"] and "option metadata" in result["msg"]
    result = run(node_info.main, sysroot=str(host.root), metadata="http://127.0.0.1:9/")
    assert result["failed"] and "http://127.0.0.1:9/" in result["msg"]


def test_auto_asks_nobody_for_another_root(run, host):
    host.write("sys/class/dmi/id/sys_vendor", "Tencent Cloud\n")
    assert run(node_info.main, sysroot=str(host.root), metadata="auto")["node"]["metadata"] is None


def cores(python, root):
    arguments = [python, "-c", CORES, str(ROOT / "collections"), str(root)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.decode())


@pytest.mark.parametrize("python", PYTHONS)
def test_what_is_observed_does_not_depend_on_the_python(python, host):
    found = cores(python, host.root)
    assert len(found[1]) == 8 and "8 of 9" in found[2][0] and found[-1] == "x\n"
    assert found == cores(sys.executable, host.root)


WEDGED = """#!/bin/sh
setsid sleep 60 &
exec sleep 60
"""


def test_a_wedged_nvidia_smi_ends_with_the_details_of_the_manifest(run, monkeypatch, tmp_path):
    """nvidia-smi hangs and what it started holds its pipes; the next observation has what the manifest keeps of the same GPUs."""
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(WEDGED)
    program.chmod(0o755)
    device = {"index": 0, "pci": "0000:3b:00.0", "name": "A100", "uuid": "GPU-0"}
    (tmp_path / "host-manifest.json").write_text(json.dumps({"gpus": [device]}))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(node_info, "QUERY_SECONDS", 1)
    monkeypatch.setattr(node_info, "pci_gpus", lambda root: [dict(device, index=None, name=None, uuid=None)])
    started = time.monotonic()
    gpus = run(node_info.main, state_dir=str(tmp_path))["node"]["gpus"]
    assert time.monotonic() - started < 40
    assert gpus["devices"] == [device] and gpus["problem"] == "nvidia-smi took longer than 1 s"
