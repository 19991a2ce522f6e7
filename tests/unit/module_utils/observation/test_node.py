# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A fake host is observed completely, nothing on it changes, and the result is the same on every Python of this machine."""

import functools
import glob
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_host import FakeHost

from ansible_collections.taco.train.plugins.module_utils._observation.node import observe
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root

ROOT = Path(__file__).parents[4]
PYTHONS = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3*/bin/python")) + [sys.executable])
OPTIONS = {"metadata": "off", "state_dir": "/var/lib/taco-train", "harp_config_dir": "/opt/harp", "container": None}
KEYS = set(
    """schema observed_at hostname identity os python kernel boot cpu memory hugepages gpus nics container_engine harp
    package_candidates training_container ssh_trust disk metadata facets""".split()
)
CORES = """
import json, sys
sys.path.insert(0, sys.argv[1])
from ansible_collections.taco.train.plugins.module_utils._node.engine import judge_engine
from ansible_collections.taco.train.plugins.module_utils._node.enis import find_enis, judge_enis
from ansible_collections.taco.train.plugins.module_utils._node.gpus import judge_gpus
from ansible_collections.taco.train.plugins.module_utils._node.metadata import read_metadata
from ansible_collections.taco.train.plugins.module_utils._node.nics import parse_addresses
from ansible_collections.taco.train.plugins.module_utils._observation.node import observe
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._process.timed import run_timed
node = observe(Root(sys.argv[2]), json.loads(sys.argv[3]), None)
for name in ("observed_at", "python", "disk"):
    node.pop(name)
enis = find_enis(node["nics"])
print(json.dumps([
    node, judge_enis(enis, 9, ["10.0.1.0/24"], node["nics"]), judge_gpus("0, GPU-1, 00000000:3B:00.0, 450, A100", []),
    parse_addresses("2: eth1    inet 10.0.1.5/24 scope global eth1"), judge_engine("{}", "", "", ""),
    read_metadata({"instance-id": "ins-1"}.get), run_timed(["echo", "x"], 30).stdout,
]))
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = FakeHost(tmp_path_factory.mktemp("host") / "root").base().enis(8)
    for number in range(8):
        host.pci(f"0000:3b:{number:02x}.0", vendor="0x10de", kind="0x030200")
    identity = {"etc/machine-id": "4f0c9d2b8e7a4c61b3d5e8f7a6b9c0d1\n", "sys/class/dmi/id/board_serial": "5VX2M13\n"}
    for name, text in identity.items():
        path = host.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return host


def tree(root):
    return sorted((str(path), path.lstat().st_mtime_ns) for path in root.rglob("*"))


def test_everything_is_observed_and_nothing_is_changed(host):
    before = tree(host.root)
    node = observe(Root(str(host.root)), OPTIONS, None)
    assert tree(host.root) == before
    assert set(node) == KEYS and node["schema"] == 1
    assert node["hostname"] == "gpu1"
    assert node["identity"] == {"machine_id": "4f0c9d2b8e7a4c61b3d5e8f7a6b9c0d1", "board_serial": "5VX2M13"}
    assert (node["os"]["id"], node["os"]["version_id"]) == ("tencentos", "2.4")
    version = ".".join(map(str, sys.version_info[:3]))
    requests = importlib.util.find_spec("requests") is not None
    assert node["python"] == {"version": version, "executable": sys.executable, "requests": requests}
    assert node["kernel"] == {
        "release": "5.4.119-1-tlinux4",
        "cmdline": "root=/dev/vda1 hugepagesz=1G hugepages=50",
        "boot_id": "7d0c1f2e-0000-4000-8000-000000000001",
    }
    assert set(node["boot"]) == {"layout", "firmware", "reason"}
    assert node["cpu"] == {"count": 4, "page_1g": True, "page_2m": True}
    assert node["memory"] == {"total_bytes": 1024000000, "available_bytes": 921600000}
    assert node["hugepages"]["pools"][0]["total"] == 50
    (mount,) = node["hugepages"]["mounts"]
    assert mount["path"] == "/dev/hugepages" and mount["page_size_bytes"] == 1024**3
    assert (node["gpus"]["count"], node["gpus"]["source"]) == (8, "pci")
    assert [nic["name"] for nic in node["nics"]] == [f"eth{n}" for n in range(9)] + ["lo"]
    assert node["disk"]["root_free_bytes"] > 0
    assert node["container_engine"] is node["ssh_trust"] is node["metadata"] is None


def test_an_empty_root_has_nothing(tmp_path):
    node = observe(Root(str(tmp_path)), OPTIONS, None)
    assert set(node) == KEYS and node["identity"] == {"machine_id": None, "board_serial": None}
    assert (node["hostname"], node["nics"], node["gpus"]["count"], node["memory"]["total_bytes"]) == ("", [], 0, None)


def test_the_running_system_is_observed():
    node = observe(Root("/"), OPTIONS, None)
    assert node["kernel"]["release"] == os.uname().release
    assert node["memory"]["total_bytes"] > 0 and node["cpu"]["count"] > 0
    loopback = next(nic for nic in node["nics"] if nic["name"] == "lo")
    assert loopback["kind"] == "loopback"


@functools.lru_cache(maxsize=None)
def cores(python, root):
    arguments = [python, "-c", CORES, str(ROOT / "collections"), str(root), json.dumps(OPTIONS)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.decode())


@pytest.mark.parametrize("python", PYTHONS)
def test_the_observation_does_not_depend_on_the_python(python, host):
    results = cores(python, host.root)
    assert set(results[0]) == KEYS - {"observed_at", "python", "disk"}
    assert "8 of 9" in results[1][0] and results[-1] == "x\n"
    assert results == cores(sys.executable, host.root)
