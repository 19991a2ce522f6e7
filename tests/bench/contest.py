# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The contest: hosts are made and converged, then the competitors take turns, and what that cost is judged and printed."""

import itertools
import json
import statistics
import subprocess
import sys
from pathlib import Path

from bench import competitors, hosts, idle, tree
from bench.figures import Figure, missed, targets_of
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
        self.competing = [one for one in [*competitors.ALL, *competitors.PLANS] if one.key in options.only]
        self.logs = options.keep_logs or work / "logs"
        self.rounds = 0
        self.runs = {(one.key, count): [] for count in options.hosts for one in self.competing}
        # The runs on the fewest hosts right before and after one on more.
        self.beside = {pair: [] for pair in self.runs}
        for folder in (work / "home", work / "cp", work / "results", self.logs):
            folder.mkdir(parents=True, exist_ok=True)

    def found(self, count):
        """Make what so many hosts share."""
        hosts.bridges(count)
        hosts.running_kernel(self.work)
        self.authorized = hosts.make_key(self.work / "id_ed25519", "bench")
        self.layers = [hosts.base_layer(self.work), tree.ensure()]

    def up(self):
        """Make the hosts, others for each number of them.

        A first one only writes the boot configuration, which takes seconds and is the same for all.
        """
        say(f"making {sum(self.options.hosts)} hosts")
        self.found(sum(self.options.hosts))
        golden = hosts.planned(1, self.work)
        processes = self.start(golden)
        self.play(competitors.COLLECTION, golden, 0, "boot", arguments=["--tags", "hugepages"])
        boot = self.work / "boot"
        for name in ("boot/grub", "etc/default/grub.d", "var/lib/taco-train"):
            source = golden[0].folder / "upper" / name
            if source.exists():
                (boot / name).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-a", str(source), str(boot / name)], check=True)
        self.stop(golden, processes)
        self.layers.insert(0, boot)
        everyone = hosts.planned(sum(self.options.hosts), self.work)
        self.start(everyone)
        following = iter(everyone)
        self.groups = {count: list(itertools.islice(following, count)) for count in self.options.hosts}

    def start(self, planned):
        """Start hosts with the engine that answers for them."""
        (self.work / "known_hosts").write_text("".join(self.furnish(planned)), encoding="utf-8")
        engine = [sys.executable, "-m", "bench.engine", *(str(host.folder / "run") for host in planned)]
        self.engine_log = self.logs / "engine.log"
        with open(self.engine_log, "ab") as log:
            self.engine = subprocess.Popen(engine, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.engine.stdout.readline()
        processes = []
        for host in planned:
            processes.append(hosts.start(host, self.layers_of(host)))
            hosts.note_pid(host, processes[-1])
        hosts.await_ready(planned, processes)
        return processes

    def furnish(self, planned):
        """Write the files that each host alone has, and return the lines of known_hosts."""
        return [hosts.furnish(host, self.authorized) for host in planned]

    def layers_of(self, _host):
        """The layers below the files of a host alone."""
        return self.layers

    def stop(self, chosen, processes):
        """End hosts and their engine."""
        self.engine.kill()
        self.engine.wait()
        hosts.stop(chosen, processes)

    def play(self, competitor, chosen, repeat, label="", arguments=(), **environment):
        """Run a competitor once and return what it cost and how often it went to a host. A label stands for a run that does
        not count, and may change something.
        """
        command = competitors.command(competitor, chosen, self.work, self.options.forks, self.rounds) + list(arguments)
        log = self.logs / f"{label or competitor.key}-{len(chosen)}-{repeat}.log"
        before = sum(hosts.count_sessions(chosen))
        done = measure(command, dict(self.environment, **environment), competitors.ROOT, log)
        executions = (sum(hosts.count_sessions(chosen)) - before) / len(chosen)
        wrong = competitors.trouble(competitor, chosen, done.status, done.output, competitor.converged and not label)
        if wrong:
            raise BenchError(f"{competitor.name}, {len(chosen)} hosts: {wrong}:\n{done.output[-6000:]}")
        return done, executions

    def converge(self):
        """Bring the hosts into the state that every competitor leads to, and keep what raw ssh is to send them."""
        for count in self.options.hosts:
            say(f"{count} hosts: bringing them into the state that every competitor leads to")
            self.play(competitors.COLLECTION, self.groups[count], 0, "converge")
            if competitors.RAW in self.competing:
                self.play(competitors.COLLECTION, self.groups[count], 0, "keep", **competitors.keeping(self.work))

    def compete(self):
        """Let the competitors take turns."""
        fewest = self.options.hosts[0]
        for count, repeats in zip(self.options.hosts, self.options.repeats):
            for repeat in range(repeats):
                for competitor in competitors.in_turn(self.competing_on(count), repeat):
                    if count == fewest:
                        self.once(competitor, count)
                        continue
                    before, _done, after = [self.once(competitor, size) for size in (fewest, count, fewest)]
                    self.beside[competitor.key, count] += [before, after]

    def competing_on(self, count):
        """The competitors that are measured on so many hosts."""
        return [one for one in self.competing if count <= one.most]

    def once(self, competitor, count):
        """Measure a competitor on so many hosts once more, and return what it cost."""
        done, executions = self.play(competitor, self.groups[count], len(self.runs[competitor.key, count]))
        if competitor is competitors.COLLECTION:
            self.rounds = round(executions)
        return self.keep(competitor, count, done, executions)

    def keep(self, competitor, count, done, executions):
        """Keep and print what a run cost, and return it."""
        runs = self.runs[competitor.key, count]
        runs.append((done, executions))
        say(
            f"{count} hosts, run {len(runs)}: ({competitor.key}) {done.wall:.1f} s, {done.cpu:.1f} s of processor time, "
            f"{executions:.1f} executions a host"
        )
        return done

    def between(self):
        """Return what is between two runs of a comparison, on two hosts and on the most."""
        found = []
        for count in sorted({min(2, self.options.hosts[0]), self.options.hosts[-1]}):
            chosen = next(group for size, group in self.groups.items() if size >= count)[:count]
            say(f"{count} hosts: comparing arms that need the same on the hosts, and arms that do not")
            kept = [
                self.compared(chosen, kind, arms) for kind, arms in (("same", idle.SAME), ("changing", idle.CHANGING))
            ]
            (same, before), (changing, after) = kept
            found.append(idle.measured(count, same, changing, (before, after)))
        return found

    def compared(self, chosen, kind, arms):
        """Compare arms on some hosts and return the records, and the executions on the last host, which starts no run."""
        results = self.work / f"results/{kind}-{len(chosen)}"
        compare = competitors.Competitor("", f"a comparison, {kind}", [idle.PLAY])
        before = hosts.count_sessions(chosen)[-1]
        self.play(compare, chosen, 0, f"compare-{kind}", idle.options(arms, str(results)))
        lines = (results / "latest/records.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines], hosts.count_sessions(chosen)[-1] - before

    def figure(self, competitor, count):
        """Return the medians of one competitor's runs on so many hosts."""
        runs, beside = (kept[competitor.key, count] for kept in (self.runs, self.beside))
        fewest = self.options.hosts[0]
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
            few_wall=statistics.median(done.wall for done in beside) / fewest if beside else None,
            few_cpu=statistics.median(done.cpu for done in beside) / fewest if beside else None,
        )

    def figures(self):
        """Return what every competitor cost, the fewest hosts first."""
        return [self.figure(one, count) for count in self.options.hosts for one in self.competing_on(count)]


def measured(contest):
    """Run a contest. Raises BenchError or RuntimeError."""
    contest.up()
    contest.converge()
    contest.compete()
    between = contest.between() if contest.options.between else []
    unknown = contest.engine_log.read_text(encoding="utf-8")
    if unknown:
        raise BenchError(f"the stand-in for the engine was asked what it does not know: {unknown[:2000]}")
    return contest.figures(), between


def run(contest):
    """Run the contest, print and keep the results, and return the exit status of the command."""
    options = contest.options
    try:
        figures, between = measured(contest)
    except (BenchError, RuntimeError) as error:
        say(str(error))
        return 2
    setting = dict(
        versions(), cores=hosts.cores(), forks=options.forks, load=Path("/proc/loadavg").read_text().split()[0]
    )
    targets = targets_of(options.targets, figures, idle.judged(between) if between else [])
    text = page(figures, between, targets, setting)
    options.results.mkdir(parents=True, exist_ok=True)
    record = {
        "setting": setting,
        "figures": [one._asdict() for one in figures],
        "between_runs": [one._asdict() for one in between],
        "targets": [one._asdict() for one in targets],
    }
    (options.results / "bench.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (options.results / "bench.md").write_text(text, encoding="utf-8")
    print(text, end="", flush=True)
    failed = missed(targets)
    for target in failed:
        say(f"target missed: {target.name}: {target.found}, expected {target.expected}")
    return 1 if failed else 0
