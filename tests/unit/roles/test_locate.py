# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role locate: searches played over hosts that are this machine, whose benchmark knows which host is slow."""

import json

import played
import yaml

PLAY = """
- hosts: all
  gather_facts: false
  roles: [taco.train.locate]
"""
# The value is lower with SLOW among the hosts, and there is none with BROKEN.
MPIRUN = """#!/bin/sh
echo run >> {folder}/order
case "$*" in *BROKEN*) echo "no route to host"; exit 1 ;; esac
noise=$(($$ % 3))
case "$*" in *SLOW*) echo "step 1: 7$noise.0 steps/s" ;; *) echo "step 1: 10$noise.0 steps/s" ;; esac
"""
NAMES = ["node-a", "node-b", "node-c", "node-d", "node-e", "node-f"]
FORKS = ["--forks", "6"]


def lab(tmp_path, slow="nobody", broken="nobody"):
    text = MPIRUN.replace("{folder}", str(tmp_path)).replace("SLOW", slow).replace("BROKEN", broken)
    (tmp_path / "mpirun").write_text(text)
    (tmp_path / "mpirun").chmod(0o755)
    hosts = {}
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "libnccl-net.so").write_text("the plugin")
        own = str(tmp_path / name)
        hosts[name] = {"taco_state_dir": own, "benchmark_plugin_path": own + "/libnccl-net.so", "rack": "r1"}
    options = {
        "taco_gpus_per_node": 2,
        "taco_lab": True,
        "taco_results_dir": str(tmp_path / "results"),
        "taco_interrupt_running_work": True,
        "benchmark_exec_prefix": [],
        "benchmark_mpirun": str(tmp_path / "mpirun"),
        "benchmark_device": "CPU",
        "benchmark_workload": "command",
        "benchmark_options": {
            "command": ["train"],
            "pattern": "step [0-9]+: (?P<value>[0-9.]+) steps/s",
            "unit": "steps/s",
        },
        "locate_arm": {"name": "plain"},
    }
    return hosts, options


def document(tmp_path):
    return json.loads((tmp_path / "results/latest/locate.json").read_text())


def test_a_slow_host_is_located_and_left_out_of_the_inventory(tmp_path):
    hosts, options = lab(tmp_path, slow="node-c")
    rc, output = played.run(tmp_path, PLAY, hosts, options, FORKS)
    assert rc == 0, output
    kept = document(tmp_path)
    (finding,) = kept["answer"]["findings"]
    assert (finding["kind"], finding["hosts"], finding["proved"]) == ("host", ["node-c"], True), output
    assert "node-c is 3" in output or "node-c is 2" in output
    inventory = yaml.safe_load((tmp_path / "results/latest/locate_inventory.yml").read_text())
    assert sorted(inventory["locate_hosts"]["hosts"]) == [name for name in NAMES if name != "node-c"]
    assert "node-c is" in (tmp_path / "results/latest/report.html").read_text()
    # The counters around a round are those of the hosts of each run.
    records = [json.loads(line) for line in (tmp_path / "results/latest/records.jsonl").read_text().splitlines()]
    assert {len(record["hosts"]) for record in records} == {1, 2}
    for record in records:
        known = {host: one["seconds"] > 0 for host, one in record["witnesses"]["hosts"].items()}
        assert known == {host["name"]: True for host in record["hosts"]}
    assert all((tmp_path / name / "libnccl-net.so").read_text() == "the plugin" for name in NAMES)


def test_an_interrupted_search_continues_although_the_runs_of_a_host_fail(tmp_path):
    hosts, options = lab(tmp_path, broken="node-b")
    # mpirun knows the hosts by other names than the inventory.
    options["benchmark_hosts"] = [{"name": f"{name}.example.com", "slots": 2} for name in NAMES]
    rc, output = played.run(tmp_path, PLAY, hosts, dict(options, locate_max_rounds=1), FORKS)
    assert rc == 0, output
    first = document(tmp_path)
    assert first["answer"]["kind"] == "undecided" and len(first["search"]["rounds"]) == 1
    assert (tmp_path / "order").read_text().split().count("run") == 6
    rc, output = played.run(tmp_path, PLAY, hosts, options, FORKS)
    assert rc == 0, output
    second = document(tmp_path)
    assert second["search"]["rounds"][0] == first["search"]["rounds"][0]
    # A host whose runs fail doesn't end the search.
    (finding,) = second["answer"]["findings"]
    assert (finding["kind"], finding["hosts"], second["answer"]["undecided"]) == ("failing", ["node-b"], []), output
    assert len([one for one in (tmp_path / "results").iterdir() if not one.is_symlink()]) == 1


def test_check_mode_runs_and_writes_nothing(tmp_path):
    hosts, options = lab(tmp_path)
    rc, output = played.run(tmp_path, PLAY, hosts, options, [*FORKS, "--check"])
    assert rc == 0 and "Round 1: 6 runs at the same time, each host alone" in output, output
    assert not (tmp_path / "results").exists() and not (tmp_path / "order").exists()


# Ansible's ssh, which runs the command here until the host is dead.
SSH = """#!/bin/sh
[ -e {folder}/dead ] && { echo "No route to host" >&2; exit 255; }
for command; do :; done
exec sh -c "$command"
"""
# node-b dies during its second run, and answers its last one still.
DIES = """#!/bin/sh
echo run >> {folder}/order
case "$*" in *node-b*) [ -e {folder}/node-b/ran ] && touch {folder}/dead; touch {folder}/node-b/ran ;; esac
case "$*" in *node-b*) [ -e {folder}/dead ] && exit 1 ;; esac
echo "step 1: 10$(($$ % 3)).0 steps/s"
"""


def test_a_host_that_dies_is_named_and_the_search_goes_on(tmp_path):
    hosts, options = lab(tmp_path)
    (tmp_path / "mpirun").write_text(DIES.replace("{folder}", str(tmp_path)))
    (tmp_path / "ssh").write_text(SSH.replace("{folder}", str(tmp_path)))
    (tmp_path / "ssh").chmod(0o755)
    hosts["node-b"].update(
        ansible_connection="ssh", ansible_ssh_executable=str(tmp_path / "ssh"), ansible_ssh_transfer_method="piped"
    )
    rc, output = played.run(tmp_path, PLAY, hosts, dict(options, locate_max_rounds=6), FORKS)
    assert rc == 0, output
    kept = document(tmp_path)
    (finding,) = kept["answer"]["findings"]
    assert (finding["kind"], finding["hosts"], kept["answer"]["undecided"]) == ("failing", ["node-b"], []), output
