# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Searches for real faults on a lab of 6 nodes: limits of a network and of CPUs, lost packets, a slow trunk, and none."""

import contextlib
import json
import sys

import pytest

INVENTORY = "inventories/lab"
FAULT = (sys.executable, "labs/docker/fault.py")
SLOW = "taco-lab-node-2"
NODES = [f"taco-lab-node-{number}" for number in range(6)]


@pytest.fixture(scope="module", autouse=True)
def prepared(command):
    done = command("ansible-playbook", "playbooks/prepare.yml", "playbooks/deploy.yml", "-i", INVENTORY, timeout=600)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def fault(command):
    """Return a context in which the lab has a fault."""

    @contextlib.contextmanager
    def made(*arguments):
        done = command(*FAULT, "set", *arguments)
        assert done.returncode == 0, done.stdout
        try:
            yield
        finally:
            done = command(*FAULT, "clear")
            assert done.returncode == 0, done.stdout

    return made


@pytest.fixture
def search(command, tmp_path):
    """Return a function that searches and returns what locate.json holds, and what the terminal showed."""

    def run(*arguments, status=0):
        done = command(
            *["ansible-playbook", "playbooks/locate.yml", "-i", INVENTORY, "--forks", "12"],
            *["-e", "@labs/docker/locate.yml", "-e", json.dumps({"taco_results_dir": str(tmp_path)}), *arguments],
            timeout=900,
        )
        assert done.returncode == status, done.stdout
        (path,) = tmp_path.glob("*-locate/locate.json")
        return json.loads(path.read_text(encoding="utf-8")), done.stdout

    return run


def test_nobody_is_accused_without_a_fault(search):
    result, _output = search()
    assert result["answer"]["kind"] == "nobody", result["sentence"]


@pytest.mark.parametrize(
    "kind, percent, cause",
    [("egress", "50", "its network"), ("ingress", "50", "its network"), ("cpu", "30", "also alone")],
)
def test_a_slow_host_is_named_with_its_proof(fault, search, kind, percent, cause):
    with fault(kind, SLOW, "--percent", percent):
        result, output = search()
    (finding,) = result["answer"]["findings"]
    assert (finding["kind"], finding["hosts"], finding["proved"]) == ("host", [SLOW], True), result["sentence"]
    assert cause in finding["text"]
    assert result["sentence"] in output


def test_a_slow_trunk_between_two_racks_is_named_and_none_of_the_hosts(fault, search, tmp_path):
    racks = {"gpu_nodes": {"hosts": {node: {"rack": "ab"[place // 3]} for place, node in enumerate(NODES)}}}
    (tmp_path / "racks.json").write_text(json.dumps(racks), encoding="utf-8")
    with fault("trunk", SLOW, "--percent", "30"):
        result, _output = search("-i", tmp_path / "racks.json", "-e", json.dumps({"locate_boundaries": ["rack"]}))
    (finding,) = result["answer"]["findings"]
    assert (finding["kind"], finding["boundary"], finding["proved"]) == ("boundary", "rack", True), result["sentence"]


def test_a_host_whose_runs_fail_is_named_and_the_other_hosts_are_searched(command, search):
    def container(action):
        done = command(
            *["ansible", SLOW, "-i", INVENTORY, "--become", "-m", "ansible.builtin.command"],
            *["-a", f"docker {action} taco-train"],
        )
        assert done.returncode == 0, done.stdout

    container("pause")
    try:
        # The arm can't be restored in a container that is paused, so the playbook fails on this host.
        result, output = search("-e", "benchmark_timeout=60", status=2)
    finally:
        container("unpause")
    (finding,) = result["answer"]["findings"]
    assert (finding["kind"], finding["hosts"]) == ("failing", [SLOW]), result["sentence"]
    assert result["unrestored"] == [SLOW]
    assert result["sentence"] in output
