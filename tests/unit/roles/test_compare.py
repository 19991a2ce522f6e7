# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role compare: how often it goes to the hosts, and a comparison played over two hosts that are this machine."""

import json
from pathlib import Path

import played
import pytest
import yaml

ROLES = Path(__file__).parents[3] / "collections/ansible_collections/taco/train/roles"
PLAY = """
- hosts: all
  gather_facts: false
  any_errors_fatal: true
  roles: [taco.train.compare]
"""
MPIRUN = """#!/bin/sh
echo run >> {folder}/order
case "$*" in *NET=HARP*) net=HARP ;; *) net=Socket ;; esac
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


def tasks(role, name):
    return yaml.safe_load((ROLES / role / "tasks" / name).read_text())


def test_between_two_runs_the_hosts_have_one_task_and_the_launcher_one():
    (segment,) = tasks("compare", "segment_plain.yml")
    arm, run = segment["block"]
    imported = [one["ansible.builtin.import_role"] for one in (*arm["block"], run)]
    assert [one["name"] for one in imported] == 2 * ["taco.train.benchmark"]
    (worker,) = tasks("benchmark", imported[0]["tasks_from"] + ".yml")
    assert "taco.train.acceleration" in worker
    (launcher,) = tasks("benchmark", imported[1]["tasks_from"] + ".yml")
    assert launcher["run_once"] is True and "taco.train.benchmark" in launcher
    # What is known of all hosts is put together once, where it is noted.
    told = launcher["taco.train.benchmark"]
    assert "hostvars" not in str({name: value for name, value in told.items() if name != "workers"})


@pytest.mark.parametrize("path", sorted((ROLES / "compare/tasks").glob("*.yml")), ids=lambda path: path.name)
def test_what_always_ends_a_block_does_not_depend_on_arms_that_fail_in_it(path):
    """A condition of a block is evaluated again for each of its tasks."""
    for block in yaml.safe_load(path.read_text()):
        assert not ("always" in block and "given_up" in str(block.get("when")))


def lab(tmp_path):
    for name, text in (("mpirun", MPIRUN), ("connection_plugins/counting.py", COUNTING)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("{folder}", str(tmp_path)))
    (tmp_path / "mpirun").chmod(0o755)
    hosts = {}
    for name in ("node-a", "node-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "libnccl-net.so").write_text("the plugin")
        own = {"taco_state_dir": str(tmp_path / name), "benchmark_plugin_path": str(tmp_path / name / "libnccl-net.so")}
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


def test_a_host_is_visited_once_for_each_change_of_its_state(tmp_path):
    hosts, options = lab(tmp_path)
    arms = [{"name": "without", "plugin": "off"}, {"name": "with", "plugin": "on", "env": {"NET": "HARP"}}]
    rc, output = played.run(tmp_path, PLAY, hosts, dict(options, compare_arms=arms), SENT=str(tmp_path / "sent"))
    assert rc == 0, output
    assert [one["outcome"] for one in records(tmp_path)] == 8 * ["ok"]
    assert [one["arm"] for one in records(tmp_path)][:4] == ["without", "with", "with", "without"]
    # without, with with, without, with, without without, with: six states, and the restoring at the end. Nobody knows the bytes of a
    # command, so no counters are read.
    assert (tmp_path / "sent").read_text().split().count("node-b") == 6 + 1
    assert not any(one.get("witnesses") for one in records(tmp_path))
    assert {one["system"]["node-b"]["hostname"] for one in records(tmp_path)} != {None}
    assert "with, command on 2x2, run 2 of 8: iteration 1, 100.0 steps/s" in output
    assert (tmp_path / "node-b/libnccl-net.so").read_text() == "the plugin"


def test_commands_are_of_each_run_and_an_arm_that_cant_be_put_in_force_stops_only_itself(tmp_path):
    hosts, options = lab(tmp_path)
    (tmp_path / "node-b/libnccl-net.so").unlink()
    note = ["sh", "-c", f"echo $0 >> {tmp_path}/order"]
    # The second of the two hosts that comes to it in a run fails.
    second = f"cd {tmp_path} && if mkdir first; then sleep 1; rmdir first; else echo no clocks >&2; exit 3; fi"
    arms = [
        {"name": "calm", "before": [[*note, "before"]], "after": [[*note, "after"]]},
        {"name": "broken", "plugin": "on"},
        {"name": "clocked", "before": [["sh", "-c", second]]},
    ]
    rc, output = played.run(tmp_path, PLAY, hosts, dict(options, compare_arms=arms), SENT=str(tmp_path / "sent"))
    kept = records(tmp_path)
    assert [one["outcome"] for one in kept if one["arm"] == "calm"] == 4 * ["ok"], output
    broken = [one for one in kept if one["arm"] == "broken"]
    assert len(broken) == 2 and all("not active on node-b" in one["problems"][0] for one in broken), output
    assert (tmp_path / "order").read_text().split() == 4 * ["before", "before", "run", "after", "after"]
    assert "broken, command on 2x2, run 2 of 12: The benchmark on launcher node-a failed" in output
    clocked = [one for one in kept if one["arm"] == "clocked"]
    assert [one["outcome"] for one in clocked] == 2 * ["failed"], output
    assert all("not active on node-" in one["problems"][0] and "no clocks" in one["problems"][0] for one in clocked)


# The last planned run takes the plan away, which the decision on more rounds needs.
UNPLANNED = (
    MPIRUN
    + """[ $(wc -l < {folder}/order) -lt 8 ] || rm {folder}/results/latest/comparison-plan.json
"""
)


def test_a_failed_decision_on_more_rounds_restores_the_workers(tmp_path):
    hosts, options = lab(tmp_path)
    (tmp_path / "mpirun").write_text(UNPLANNED.replace("{folder}", str(tmp_path)))
    arms = [{"name": "on", "plugin": "on", "env": {"NET": "HARP"}}, {"name": "off", "plugin": "off"}]
    options.update(compare_arms=arms, compare_repeats="auto")
    rc, output = played.run(tmp_path, PLAY, hosts, options, SENT=str(tmp_path / "sent"))
    assert rc == 2 and "comparison-plan.json" in output, output
    assert records(tmp_path)[-1]["arm"] == "off", output
    assert (tmp_path / "node-b/libnccl-net.so").read_text() == "the plugin"


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
