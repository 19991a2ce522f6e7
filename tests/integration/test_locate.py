# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Searches for real faults on a lab of 6 nodes: of their network, of their CPUs, of their software, several, and none."""

import contextlib
import json
import sys

import pytest

INVENTORY = "inventories/lab"
FAULT = (sys.executable, "labs/docker/fault.py")
SLOW, OTHER = "taco-lab-node-2", "taco-lab-node-4"
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


def accused(result):
    return {host for one in result["answer"]["findings"] for host in one["hosts"]}


def test_nobody_is_accused_without_a_fault(search):
    result, _output = search()
    assert result["answer"]["kind"] == "nobody", result["sentence"]


@pytest.mark.parametrize(
    "kind, percent, cause",
    [
        ("egress", "50", "its network"),
        ("ingress", "50", "its network"),
        ("cpu", "30", "GPUs, CPUs or memory"),
        ("nice", "10", ""),
    ],
)
def test_a_slow_host_is_named_with_its_proof(fault, search, kind, percent, cause):
    with fault(kind, SLOW, "--percent", percent):
        result, output = search()
    (finding,) = result["answer"]["findings"]
    assert (finding["kind"], finding["hosts"], finding["proved"]) == ("host", [SLOW], True), result["sentence"]
    assert cause in finding["text"]
    assert result["sentence"] in output


def test_two_slow_hosts_of_six_are_named_with_their_proofs(fault, search):
    with fault("egress", SLOW, "--percent", "50"), fault("cpu", OTHER, "--percent", "30"):
        result, _output = search()
    findings = result["answer"]["findings"]
    assert [one["kind"] for one in findings] == ["host", "host"] and accused(result) == {SLOW, OTHER}, result[
        "sentence"
    ]
    assert all(one["proved"] for one in findings), result["sentence"]


def test_the_slow_direction_of_a_link_is_named(fault, search):
    # Without the round of each host alone the first pairs are always the same ones.
    sender, receiver = "taco-lab-node-1", "taco-lab-node-2"
    with fault("link", sender, "--to", receiver, "--percent", "30"):
        result, output = search("-e", json.dumps({"locate_alone": False}))
    assert [sender, receiver] in [run["hosts"] for run in result["search"]["rounds"][0]["runs"]]
    (finding,) = result["answer"]["findings"]
    assert (finding["kind"], finding["hosts"]) == ("link", [sender, receiver]), result["sentence"]
    assert (finding["sender"], finding["proved"]) == (sender, True), result["sentence"]
    assert f"the direction from {sender} to {receiver}" in output


def test_hosts_whose_cpus_have_other_work_at_random_times_are_accused_of_nothing(fault, search):
    with fault("jitter", SLOW):
        result, _output = search("-e", "locate_max_rounds=8")
    assert not result["answer"]["findings"], result["sentence"]


def test_lost_packets_accuse_no_other_host(fault, search):
    # Without latency TCP hides half a percent of them.
    with fault("loss", SLOW, "--percent", "0.5"):
        result, _output = search("-e", "locate_max_rounds=6")
    assert accused(result) <= {SLOW}, result["sentence"]


def test_another_mtu_is_an_odd_fact_and_accuses_no_other_host(fault, search):
    with fault("mtu", SLOW):
        result, output = search("-e", "locate_max_rounds=3")
    (odd,) = [one for one in result["odd"] if "mtu" in one["facet"]]
    assert (odd["usual"], odd["hosts"]) == ("1500", {SLOW: "1400"})
    assert odd["facet"] in output
    assert accused(result) <= {SLOW}, result["sentence"]


@pytest.mark.parametrize(
    "kind, arguments, reason",
    [
        ("plugin", {"locate_arm": "harp"}, "libnccl-net.so"),
        ("interface", {"benchmark_interface": "eth1"}, "It was still running after 60 s"),
    ],
)
def test_a_host_without_what_the_runs_need_is_named_with_the_reason(fault, search, kind, arguments, reason):
    with fault(kind, SLOW):
        result, output = search("-e", json.dumps({"benchmark_timeout": 60, **arguments}))
    (finding,) = result["answer"]["findings"]
    assert (finding["kind"], finding["hosts"]) == ("failing", [SLOW]), result["sentence"]
    assert reason in finding["text"]
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
        result, output = search("-e", "benchmark_timeout=60")
    finally:
        container("unpause")
    (finding,) = result["answer"]["findings"]
    assert (finding["kind"], finding["hosts"]) == ("failing", [SLOW]), result["sentence"]
    assert result["sentence"] in output
