# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whole searches through the module, from the first round to the page, on a simulated fleet."""

import html
import json
import random

import action_run
import pytest
import yaml
from simulated_fleet import Fault, Fleet, TrunkFleet

from ansible_collections.taco.train.plugins.action import locate, report

SIZE = 16
RACKS = {f"node{number:03d}": "r1" if number <= SIZE // 2 else "r2" for number in range(1, SIZE + 1)}
ZONE = "topology.kubernetes.io/zone"


class LinkFleet(Fleet):
    """The network between two hosts is slow."""

    def value(self, hosts):
        return super().value(hosts) * (0.6 if {"node001", "node004"} == set(hosts) else 1)


def record(number, hosts, value):
    return {
        "schema": 1,
        "case": {"id": f"round {number}"},
        "hosts": [{"name": host, "slots": 8} for host in hosts],
        "result": {"value": value, "higher_is_better": True},
        "problems": [],
        "duration_s": 60.0,
    }


def searched(folder, fleet, labels=False, **options):
    """The results of the module, one for each decision, of a search whose runs are those of the fleet."""
    hosts = [{"name": host, "slots": 8} for host in fleet.hosts]
    known = {host: {"rack": RACKS.get(host)} for host in fleet.hosts}
    if labels:
        known = {host: {"taco_pod": {"node_labels": {ZONE: rack}}} for host, rack in RACKS.items()}
    planned = {"state": "planned", "results_dir": str(folder), "hosts": hosts, **options}
    results = [action_run.run(locate, planned, hostvars=known, ansible_play_hosts_all=fleet.hosts)]
    while results[-1]["answer"] is None:
        fleet.next_round()
        with open(f"{results[-1]['run_dir']}/records.jsonl", "a", encoding="utf-8") as stream:
            for group in results[-1]["groups"].values():
                assert [host["name"] for host in group["hosts"]] == sorted(group["names"])
                made = record(results[-1]["round"], group["names"], fleet.value(group["names"]))
                stream.write(json.dumps(made) + "\n")
        continued = {"state": "continued", "run_dir": results[-1]["run_dir"], "hosts": hosts}
        results.append(action_run.run(locate, continued))
    return results


CASES = {
    "a slow host": (
        Fleet(random.Random(1), SIZE, 0.02, [Fault("node005", 0.25, True)]),
        {},
        [("host", ["node005"], True)],
        "node005 is 25% slower than its peers, with partners only: its network (proved by swap).",
        6,
    ),
    "a host with slow GPUs": (
        Fleet(random.Random(2), SIZE, 0.02, [Fault("node005", 0.25, False)]),
        {},
        [("host", ["node005"], True)],
        "node005 is 23% slower than its peers, also alone: probably GPUs, CPUs or memory (proved by swap).",
        6,
    ),
    "two slow hosts of eight": (
        Fleet(random.Random(3), 8, 0.01, [Fault("node002", 0.4, True), Fault("node007", 0.3, False)]),
        {},
        [("host", ["node007"], True), ("host", ["node002"], True)],
        "node002 is 39% slower than its peers",
        12,
    ),
    "a slow trunk between racks": (
        TrunkFleet(random.Random(3), SIZE, 0.02),
        {"boundaries": ["rack"]},
        [("boundary", [], True)],
        "runs that cross rack are 29% slower.",
        8,
    ),
    "a slow trunk between zones of a cluster": (
        TrunkFleet(random.Random(3), SIZE, 0.02),
        {"labels": True},
        [("boundary", [], True)],
        f"runs that cross {ZONE} are 29% slower.",
        8,
    ),
    "a slow link": (
        LinkFleet(random.Random(4), SIZE, 0.02),
        {"alone": False},
        [("link", ["node001", "node004"], True)],
        "the link between node001 and node004 is 41% slower; each of them is not, with other partners;",
        12,
    ),
    "slower than expected": (
        Fleet(random.Random(5), SIZE, 0.02),
        {"expected": 300.0},
        [],
        "All hosts are alike, and runs over two of them are below the expected value of 300",
        4,
    ),
    "nothing slow": (
        Fleet(random.Random(6), SIZE, 0.02),
        {},
        [],
        "No host is slower than its peers by 10% or more, alone or with another one.",
        3,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_search_ends_with_its_answer_in_the_files_the_page_and_the_inventory(tmp_path, name):
    fleet, options, findings, sentence, most_rounds = CASES[name]
    results = searched(tmp_path, fleet, **options)
    answer = results[-1]["answer"]
    assert [(one["kind"], sorted(one["hosts"]), one["proved"]) for one in answer["findings"]] == findings
    assert sentence in results[-1]["msg"] and len(results) - 1 <= most_rounds, results[-1]["msg"]
    assert (answer["undecided"], answer["reason"], answer["minutes_of_a_round"]) == ([], "", 1.0)
    run_dir = tmp_path / "latest"
    kept = json.loads((run_dir / "locate.json").read_text())
    assert (kept["answer"], kept["sentence"]) == (answer, results[-1]["msg"])
    culprits = [host for kind, hosts, _proved in findings if kind == "host" for host in hosts]
    inventory = yaml.safe_load((run_dir / "locate_inventory.yml").read_text())["locate_hosts"]["hosts"]
    assert sorted(inventory) == [host for host in fleet.hosts if host not in culprits]
    shown = action_run.run(report, {"run_dir": str(run_dir)})
    page = html.unescape((run_dir / "report.html").read_text())
    assert kept["sentence"] in page and kept["sentence"] in shown["table"]
    cells = [line.split("|")[1:3] for line in shown["table"].splitlines() if line.startswith("|")]
    rows = [(host, verdict) for host, verdict in cells if host.strip() in fleet.hosts]
    slow = [host.strip() for host, verdict in rows if verdict.strip() == "slower"]
    assert (sorted(slow), len(rows)) == (sorted(culprits), len(fleet.hosts))
