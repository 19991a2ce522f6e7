# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Searches for slow hosts on light hosts: the lab's workload under mpirun and real SSH, on the hosts themselves and in no container.

The links of the hosts are limited, so that a run takes as long as its bytes need, and those of slow hosts more.
"""

import json
import subprocess
from pathlib import Path
from typing import List, NamedTuple, Tuple

import images
import nodes
from bench import competitors, contest, hosts, tree

RANKS = images.Image(
    "taco-bench/ranks:1",
    sorted({*tree.PACKAGES, *images.TRAINING.packages}),
    tree.HOST.files + images.TRAINING.files,
    [*tree.HOST.setup, images.RANK_SETUP],
    [],
)
RATE, SLOW_RATE = "40mbit", "20mbit"
VARIABLES = {
    "taco_gpus_per_node": 1,
    "benchmark_exec_prefix": [],
    "benchmark_device": "CPU",
    "benchmark_options": {
        "script": str(competitors.ROOT / "labs/docker/training/gradient_exchange.py"),
        "batch_size": 4,
        "num_iters": 4,
        "num_warmup_batches": 1,
        "num_batches_per_iter": 1,
    },
    "locate_arm": {"name": "plain"},
}
SSH_CONFIG = (
    "IdentityFile /root/.ssh/id_ed25519\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
)


class Scenario(NamedTuple):
    """Slow hosts by their numbers, in one direction each."""

    senders: Tuple[int, ...] = ()
    receivers: Tuple[int, ...] = ()

    @property
    def slow(self) -> List[int]:
        return sorted(self.senders + self.receivers)

    def words(self, names: List[str]) -> str:
        """The scenario in words."""
        parts = [f"{names[one]} sends at {SLOW_RATE}" for one in self.senders]
        parts += [f"{names[one]} receives at {SLOW_RATE}" for one in self.receivers]
        return " and ".join(parts) or "no slow host"


SCENARIOS = (Scenario(), Scenario(senders=(5,)), Scenario(senders=(3,), receivers=(11,)))


class Searches(contest.Contest):
    """Hosts with limited links, and searches on them."""

    def found(self, count):
        hosts.bridges(count)
        hosts.running_kernel(self.work)
        self.authorized = hosts.make_key(self.work / "id_ed25519", "bench")
        layer = hosts.base_layer(self.work)
        hosts.write(layer / "root/.ssh/id_ed25519", (self.work / "id_ed25519").read_text(encoding="utf-8"), 0o600)
        hosts.write(layer / "root/.ssh/config", SSH_CONFIG, 0o600)
        names = "".join(f"{host.address} {host.name}\n" for host in hosts.planned(count, self.work))
        hosts.write(layer / "etc/hosts", "127.0.0.1 localhost\n" + names)
        self.layers = [layer, tree.ensure(RANKS, "ranks")]

    def up(self):
        """Make the hosts."""
        most = max(number for scenario in SCENARIOS for number in scenario.slow)
        if self.options.hosts[0] <= most:
            raise contest.BenchError(
                f"--hosts {self.options.hosts[0]}: a search of the bench needs {most + 1} hosts or more"
            )
        self.found(self.options.hosts[0])
        self.everyone = hosts.planned(self.options.hosts[0], self.work)
        contest.say(f"making {len(self.everyone)} hosts")
        self.start(self.everyone)

    def limit(self, scenario):
        """Limit what each host sends, and what the slow receivers receive."""
        for host in self.everyone:
            rate = SLOW_RATE if host.number in scenario.senders else RATE
            inside = ["nsenter", "--target", hosts.pid_file(host).read_text(encoding="utf-8").strip(), "--net"]
            subprocess.run([*inside, *qdisc("eth0", rate)], check=True)
            rate = SLOW_RATE if host.number in scenario.receivers else RATE
            subprocess.run(qdisc(f"h{host.number}", rate), check=True)

    def search(self, place, scenario):
        """Search once, and return the content of locate.json."""
        self.limit(scenario)
        inventory = self.work / "inventory.json"
        inventory.write_text(json.dumps(competitors.inventory(self.everyone, self.work)), encoding="utf-8")
        results = self.work / f"results/{place}"
        extra = json.dumps(dict(VARIABLES, taco_results_dir=str(results)))
        command = ["ansible-playbook", "playbooks/locate.yml", "-i", str(inventory), "-e", extra]
        log = self.logs / f"locate-{place}.log"
        with open(log, "wb") as output:
            done = subprocess.run(
                [*command, "--forks", str(len(self.everyone))],
                cwd=str(competitors.ROOT),
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if done.returncode:
            raise contest.BenchError(f"the search ended with status {done.returncode}:\n{end_of(log)}")
        return json.loads((results / "latest/locate.json").read_text(encoding="utf-8"))


def qdisc(link: str, rate: str) -> List[str]:
    """The command that limits what an interface sends."""
    return ["tc", "qdisc", "replace", "dev", link, "root", *nodes.tbf(rate)]


def end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-6000:]


def right(result, expected: List[str]) -> bool:
    """Whether a search accuses these hosts, with the proof of each, and nothing else."""
    findings = result["answer"]["findings"]
    accused = sorted(host for one in findings if one["kind"] == "host" and one["proved"] for host in one["hosts"])
    return accused == expected and len(findings) == len(expected)


def run(options, work: Path) -> int:
    """Search in each scenario, print the answers, and return the exit status of the command."""
    searches = Searches(options, work)
    wrong = 0
    try:
        searches.up()
        names = [host.name for host in searches.everyone]
        for place, scenario in enumerate(SCENARIOS):
            result = searches.search(place, scenario)
            good = right(result, [names[number] for number in scenario.slow])
            wrong += not good
            print(
                f"{len(names)} hosts, {scenario.words(names)}: {result['sentence']} {'Right' if good else 'Wrong'}.",
                flush=True,
            )
    except (contest.BenchError, RuntimeError) as error:
        contest.say(str(error))
        return 2
    return 1 if wrong else 0
