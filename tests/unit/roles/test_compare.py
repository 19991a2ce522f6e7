# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role compare: how often it goes to the hosts, and comparisons played over two hosts that are this machine."""

import json

import played

PLAY = """
- hosts: all
  gather_facts: false
  any_errors_fatal: true
  roles: [taco.train.compare]
"""
MPIRUN = """#!/bin/sh
echo run >> {folder}/order
case "$*" in *without-plugin*) net=Socket ;; *) net=HARP ;; esac
echo "a:1:1 [0] NCCL INFO Using network $net"
echo "step 1: 100.0 steps/s"
"""
COUNTING = '''
DOCUMENTATION = """
name: counting
short_description: The local connection, which counts the modules that it sends to each host
description: For tests.
author: Taco Team (@taco)
extends_documentation_fragment: [connection_pipelining]
"""
import os
from ansible.plugins.connection import local

class Connection(local.Connection):
    transport = "counting"
    has_pipelining = True
    def exec_command(self, cmd, in_data=None, sudoable=True):
        if in_data:
            with open(os.environ["SENT"], "a") as stream:
                print(self._play_context.remote_addr, file=stream)
        return super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
'''


def lab(tmp_path):
    for name, text in (("mpirun", MPIRUN), ("connection_plugins/counting.py", COUNTING)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("{folder}", str(tmp_path)))
    (tmp_path / "mpirun").chmod(0o755)
    hosts = {}
    for name in ("node-a", "node-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "libnccl-net.so").write_text("the plugin")
        own = {
            "taco_state_dir": str(tmp_path / "state"),
            "benchmark_plugin_path": str(tmp_path / name / "libnccl-net.so"),
        }
        hosts[name] = dict(own, ansible_connection="counting", ansible_pipelining=True)
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
        "compare_repeats": 4,
        "compare_warmup_runs": 0,
    }
    return hosts, options


def records(tmp_path):
    return [json.loads(line) for line in (tmp_path / "results/latest/records.jsonl").read_text().splitlines()]


def tree(tmp_path):
    folders = [tmp_path / name for name in ("node-a", "node-b", "state")]
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_hosts_are_visited_once_and_their_plugins_stay_as_they_are(tmp_path):
    hosts, options = lab(tmp_path)
    before = tree(tmp_path)
    arms = [{"name": "without", "plugin": "off"}, {"name": "with", "plugin": "on"}]
    rc, output = played.run(tmp_path, PLAY, hosts, dict(options, compare_arms=arms), SENT=str(tmp_path / "sent"))
    assert rc == 0, output
    kept = records(tmp_path)
    assert [one["outcome"] for one in kept] == 8 * ["ok"]
    assert [one["arm"] for one in kept][:4] == ["without", "with", "with", "without"]
    # For the preparation. Nobody knows the bytes of a command, so no counters are read.
    assert (tmp_path / "sent").read_text().split().count("node-b") == 1
    assert not any(one.get("witnesses") for one in kept)
    assert {one["system"]["node-b"]["hostname"] for one in kept} != {None}
    assert "with, command on 2x2, run 2 of 8: iteration 1, 100.0 steps/s" in output
    assert [("without-plugin" in str(one["argv"]), one["arm"]) for one in kept[:2]] == [
        (True, "without"),
        (False, "with"),
    ]
    logs = {path for path in tree(tmp_path) if path.parent.name == "logs"}
    created = set(tree(tmp_path)) - set(before) - logs
    assert created == {tmp_path / "state/without-plugin/libnccl-net.so"}
    assert all(tree(tmp_path)[path] == content for path, content in before.items())


def test_an_arm_that_a_worker_is_not_prepared_for_stops_only_itself(tmp_path):
    hosts, options = lab(tmp_path)
    renamed = tmp_path / "node-b/bak.libnccl-net.so"
    (tmp_path / "node-b/libnccl-net.so").rename(renamed)
    foreign = tmp_path / "state/without-plugin/libnccl-net.so"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("mine")
    arms = [{"name": "calm"}, {"name": "harped", "plugin": "on"}, {"name": "without", "plugin": "off"}]
    rc, output = played.run(tmp_path, PLAY, hosts, dict(options, compare_arms=arms), SENT=str(tmp_path / "sent"))
    kept = records(tmp_path)
    assert [one["outcome"] for one in kept if one["arm"] == "calm"] == 4 * ["ok"], output
    problems = {arm: [one["problems"][0] for one in kept if one["arm"] == arm] for arm in ("harped", "without")}
    assert [len(found) for found in problems.values()] == [2, 2], output
    assert f"not active on node-b: NCCL's plugin was renamed to {renamed}" in problems["harped"][0]
    assert "not active on node-a, node-b: this host: " in problems["without"][0]
    assert "this collection did not make it" in problems["without"][0]
    assert "harped, command on 2x2, run 2 of 12: The benchmark on launcher node-a failed" in output
    assert renamed.exists() and foreign.read_text() == "mine"


# Values of the arm two that decide nothing, and from its fifth run on no value.
NOISY = """#!/bin/sh
case "$*" in
  *ARM=two*) echo x >> {folder}/two; value=$(echo 80 130 90 120 | cut -s -d' ' -f $(wc -l < {folder}/two)) ;;
  *) value=100 ;;
esac
echo "step 1: $value.0 steps/s"
"""


def test_rounds_are_added_until_nothing_more_can_be_decided_and_the_report_says_why(tmp_path):
    hosts, options = lab(tmp_path)
    (tmp_path / "mpirun").write_text(NOISY.replace("{folder}", str(tmp_path)))
    options.update(compare_arms=[{"name": "one"}, {"name": "two", "env": {"ARM": "two"}}], compare_repeats="auto")
    rc, output = played.run(tmp_path, PLAY, hosts, options, SENT=str(tmp_path / "sent"))
    assert rc == 0, output
    made = [(one["arm"], one["case"]["repeat"], one["outcome"]) for one in records(tmp_path)]
    assert len(made) == 12 and made[8:] == [
        *(("one", 4, "ok"), ("two", 4, "failed"), ("two", 5, "failed"), ("one", 5, "ok")),
    ], output
    case = "command/-/2x2/-"
    assert f"{case}: 6 rounds; it goes on." in output
    why = f"{case}: 6 rounds; an arm failed too often."
    for name in ("report.html", "comparison.md"):
        assert why in (tmp_path / "results/latest" / name).read_text()
    assert json.loads((tmp_path / "results/latest/comparison.json").read_text())["looks"] == [8, 10]


PLACER = """
- name: Note where the workers are to be placed
  ansible.builtin.shell: echo {{ placement_policy }} >> {{ playbook_dir }}/placed
  run_once: true

- name: Fail where there is no room
  ansible.builtin.fail:
    msg: no node has room
  when: placement_policy == 'topology'
"""


def test_workers_are_placed_for_the_runs_of_an_arm_and_runs_of_one_that_has_no_room_are_recorded_as_failed(tmp_path):
    hosts, options = lab(tmp_path)
    role = tmp_path / "roles/placer/tasks/main.yml"
    role.parent.mkdir(parents=True)
    role.write_text(PLACER)
    arms = [{"name": "spread", "place": "default"}, {"name": "packed", "place": "topology"}]
    options.update(compare_arms=arms, compare_placement_role="placer")
    rc, output = played.run(tmp_path, PLAY, hosts, options, SENT=str(tmp_path / "sent"))
    assert rc == 0, output
    kept = records(tmp_path)
    assert [one["outcome"] for one in kept if one["arm"] == "spread"] == 4 * ["ok"], output
    problems = [one["problems"][0] for one in kept if one["arm"] == "packed"]
    assert len(problems) == 2 and all("could not be placed (topology): no node has room" in one for one in problems)
    assert (tmp_path / "placed").read_text().split() == ["default", "topology", "default"]
