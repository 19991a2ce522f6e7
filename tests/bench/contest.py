# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The contest: hosts are made and converged, then the competitors take turns, and what that cost is judged and printed."""

import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from bench import competitors, hosts, tree
from bench.figures import Figure, judged, missed
from bench.measure import measure
from bench.table import page
from bench.versions import versions


class BenchError(Exception):
    """Something that stops the bench, as one sentence for the person who started it."""


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Contest:
    """The hosts of one run, and the commands that are measured on them."""

    def __init__(self, options, work):
        self.options = options
        self.work = work
        self.environment = competitors.environment(work)
        self.logs = options.keep_logs or work / "logs"
        self.rounds = 0
        for folder in (work / "home", work / "cp", work / "results", self.logs):
            folder.mkdir(parents=True, exist_ok=True)

    def up(self, count):
        """Make the hosts. The first one only writes the boot configuration, which takes seconds and is the same for all."""
        hosts.bridge()
        hosts.running_kernel(self.work)
        self.authorized = hosts.make_key(self.work / "id_ed25519", "bench")
        self.layers = [hosts.base_layer(self.work), tree.ensure()]
        golden = hosts.planned(1, self.work)
        processes = self.start(golden)
        self.play(competitors.COLLECTION, golden, 0, "boot", arguments=["--tags", "hugepages"])
        boot = self.work / "boot"
        for name in ("boot/grub", "etc/default/grub.d", "var/lib/taco-train"):
            source = golden[0].folder / "upper" / name
            if source.exists():
                (boot / name).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-a", str(source), str(boot / name)], check=True)
        self.engine.kill()
        self.engine.wait()
        hosts.stop(golden, processes)
        self.layers.insert(0, boot)
        self.all = hosts.planned(count, self.work)
        self.start(self.all)

    def start(self, planned):
        """Start hosts with the engine that answers for them."""
        known = [hosts.furnish(host, self.authorized) for host in planned]
        (self.work / "known_hosts").write_text("".join(known), encoding="utf-8")
        engine = [sys.executable, "-m", "bench.engine", *(str(host.folder / "run") for host in planned)]
        self.engine_log = self.logs / "engine.log"
        with open(self.engine_log, "ab") as log:
            self.engine = subprocess.Popen(engine, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.engine.stdout.readline()
        processes = []
        for host in planned:
            processes.append(hosts.start(host, self.layers))
            hosts.note_pid(host, processes[-1])
        hosts.await_ready(planned, processes)
        return processes

    def play(self, competitor, chosen, repeat, label="", arguments=(), **environment):
        """Run a competitor once and return what it cost and how often it went to a host. A label stands for a run that does
        not count, and may change something.
        """
        command = competitors.command(competitor, chosen, self.work, self.options.forks, self.rounds) + list(arguments)
        log = self.logs / f"{label or competitor.key}-{len(chosen)}-{repeat}.log"
        before = sum(hosts.count_sessions(chosen))
        done = measure(
            command, dict(self.environment, **environment), competitors.ROOT, log, with_memory=repeat == 0 and not label
        )
        executions = (sum(hosts.count_sessions(chosen)) - before) / len(chosen)
        wrong = competitors.trouble(competitor, chosen, done.status, done.output, converged=not label)
        if wrong:
            raise BenchError(f"{competitor.name}, {len(chosen)} hosts: {wrong}:\n{done.output[-6000:]}")
        return done, executions

    def measured(self, count, repeats):
        """Return the figures of every competitor on so many hosts."""
        chosen = self.all[:count]
        say(f"{count} hosts: bringing them into the state that every competitor leads to")
        self.play(competitors.COLLECTION, chosen, 0, "converge")
        competing = [one for one in competitors.ALL if one.key in self.options.only]
        if competitors.RAW in competing:
            shutil.rmtree(self.work / "sent", ignore_errors=True)
            self.play(competitors.COLLECTION, chosen, 0, "keep", **competitors.keeping(self.work))
        runs = {one.key: [] for one in competing}
        for repeat in range(repeats):
            # Everybody has every place in the order, as far as the repeats go.
            turn = repeat % len(competing)
            for competitor in competing[turn:] + competing[:turn] if repeat else competing:
                done, executions = self.play(competitor, chosen, repeat)
                if competitor is competitors.COLLECTION:
                    self.rounds = round(executions)
                runs[competitor.key].append((done, executions))
                say(
                    f"{count} hosts, {repeat + 1} of {repeats}: ({competitor.key}) {done.wall:.1f} s, "
                    f"{done.cpu:.1f} s of processor time, {executions:.1f} executions a host"
                )
        return [self.figure(one, count, runs[one.key]) for one in competing]

    @staticmethod
    def figure(competitor, count, runs):
        """Return the medians of one competitor's runs."""
        return Figure(
            key=competitor.key,
            name=competitor.name,
            hosts=count,
            repeats=len(runs),
            wall=statistics.median(done.wall for done, _executions in runs),
            walls=[round(done.wall, 3) for done, _executions in runs],
            cpu=statistics.median(done.cpu for done, _executions in runs),
            executions=max(executions for _done, executions in runs),
            memory=max(done.memory for done, _executions in runs),
        )


def run(options, work):
    """Run the contest and return the exit status of the command."""
    contest = Contest(options, work)
    try:
        say(f"making {options.hosts[-1]} hosts")
        contest.up(options.hosts[-1])
        figures = []
        for count, repeats in zip(options.hosts, options.repeats):
            figures += contest.measured(count, repeats)
        unknown = contest.engine_log.read_text(encoding="utf-8")
        if unknown:
            raise BenchError(f"the stand-in for the engine was asked what it does not know: {unknown[:2000]}")
    except (BenchError, RuntimeError) as error:
        say(str(error))
        return 2
    setting = dict(
        versions(), cores=hosts.cores(), forks=options.forks, load=Path("/proc/loadavg").read_text().split()[0]
    )
    targets = judged(figures, ["executions"] if options.targets == "executions" else None)
    text = page(figures, targets, setting)
    options.results.mkdir(parents=True, exist_ok=True)
    record = {
        "setting": setting,
        "figures": [one._asdict() for one in figures],
        "targets": [one._asdict() for one in targets],
    }
    (options.results / "bench.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (options.results / "bench.md").write_text(text, encoding="utf-8")
    print(text, end="", flush=True)
    failed = missed(targets)
    for target in failed:
        say(f"target missed: {target.name}: {target.found}, expected {target.expected}")
    return 1 if failed else 0
