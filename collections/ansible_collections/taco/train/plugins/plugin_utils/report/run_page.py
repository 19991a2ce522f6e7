# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The document of single runs: the newest good value first, then what it must be read with.

Each record says itself what its value is. Nothing here names a workload, a unit or a direction.
"""

import shlex
from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import host_noun
from ansible_collections.taco.train.plugins.plugin_utils.report import counters, systems
from ansible_collections.taco.train.plugins.plugin_utils.report.document import (
    Block,
    Bullets,
    Code,
    Document,
    Section,
    Text,
    section,
    table,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.run_charts import bandwidth, direction, iterations
from ansible_collections.taco.train.plugins.plugin_utils.run.spread import STALL
from ansible_collections.taco.train.plugins.plugin_utils.text import counted, number, some
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_sizes import by_size, text_of

LAB = "LAB: measured on a lab's machines. These numbers say nothing about GPUs."
STATUSES = {"pass": "passed", "fail": "failed", "warn": "warned", "skip": "skipped"}
OUTCOME = {"status": "Status", "id": "Check", "expected": "Expected", "found": "Found", "fix": "Fix"}
# What begins a line of a command that is shown an option a line. The option -mca has two words, the program comes after them.
MPIRUN, MCA, PYTHON = "mpirun", "-mca", "python3"

Record = Mapping[str, Any]


def good(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record["outcome"] == "ok"]


def failed(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record["outcome"] != "ok"]


def noun(record: Record) -> str:
    return host_noun({"pods": record.get("placement")})


def size(record: Record) -> str:
    """Return over what a record was measured, such as "2 nodes x 8 ranks"."""
    slots = {host["slots"] for host in record["hosts"]}
    nodes = counted(len(record["hosts"]), noun(record))
    if record["ranks"] != sum(host["slots"] for host in record["hosts"]):
        return counted(record["ranks"], "process", "processes")
    if len(slots) == 1:
        return f"{nodes} x {counted(slots.pop(), 'rank')}"
    return f"{nodes}, {counted(record['ranks'], 'rank')}"


def headline(records: Sequence[Record]) -> Text:
    """Return the number, if there is one, and the sentence that belongs to it."""
    if not records:
        return Text("No benchmark was run.", "lead none")
    bad = failed(records)
    if not good(records):
        failure = f"all {len(records)} runs failed." if len(records) > 1 else "the run failed."
        # Why, where all of them have the same cause.
        causes = {tuple(record["problems"][:1]) for record in bad}
        return Text(" ".join([f"No result: {failure}", *(causes.pop() if len(causes) == 1 else ())]), "lead none")
    record = good(records)[-1]
    result, label = record["result"], (record.get("arm_spec") or {}).get("label")
    arm = f"{record['arm']}: {label}" if label else record["arm"]
    words = f"{result['unit']} over {size(record)} (arm {arm}; {record['measures']['subject']}"
    words += f", on {result['device']}s)" if result["device"] else ")"
    words += f". {len(bad)} of {counted(len(records), 'run')} failed" if bad else ""
    return Text(f"{words}.", "lead", number(result["value"]))


def beside(record: Record) -> list[str]:
    """Return the sentences that belong to the value of a good record."""
    result, kind = record["result"], record["measures"]
    sentences = [f"Value: {kind['value']}; {direction(result['higher_is_better'])}."]
    if result["unit"].startswith("images/") and record["ranks"] > 1:
        sentences.append(f"Per device: {number(result['value'] / record['ranks'])} {result['unit']}.")
    if result.get("spread"):
        sentences += of_spread(result["spread"], kind["iteration"] or "iteration", result["unit"])
    elif kind["running_mean"]:
        sentences.append(
            f"The number of each {kind['iteration']} is a mean over all steps so far, so the spread of single steps is not known."
        )
    if result.get("total"):
        interval = f"{number(result['total']['mean'])} ± {number(result['total']['ci'])} {result['unit']}"
        sentences.append(f"The script's own summary, for comparison: {interval} (mean ± 1.96 standard deviations).")
    average = result["details"].get("average")
    if average is not None:
        sentences.append(f"Average over all message sizes, for comparison: {number(average)} {result['unit']}.")
    if record.get("network_line"):
        sentences.append(f"Network of NCCL: {record['network']}. Log line: {record['network_line']}")
    return sentences


def of_spread(spread: Mapping[str, Any], iteration: str, unit: str) -> list[str]:
    """Return the sentences on how much the iterations of a run differ."""
    low, high, p5, p50, p95 = (number(spread[key]) for key in ("low", "high", "p5", "p50", "p95"))
    sentences = [
        f"{spread['count']} {iteration}s from {low} to {high} {unit}; percentiles: 5th {p5}, 50th {p50}, 95th {p95}.",
        f"Stalls ({iteration}s that took at least {STALL:g} times the median time): {spread['stalls']}.",
    ]
    times = spread.get("step_time")
    if times:
        p50, p95, most = (f"{number(times[key])} s" for key in ("p50", "p95", "max"))
        sentences.append(
            f"Time of a step, as the mean of each {iteration}: median {p50}, 95th percentile {p95}, longest {most}."
        )
    return sentences


def row(record: Record) -> dict[str, str]:
    """Return the row of a run."""
    result, took = record["result"] or {}, record["duration_s"]
    spread, missing = result.get("spread"), "not known" if result else "none"
    return {
        "Outcome": record["outcome"],
        "Value": number(result.get("value")),
        "Unit": result.get("unit") or "",
        "5 % to 95 %": f"{number(spread['p5'])} to {number(spread['p95'])}" if spread else missing,
        "Stalls": str(spread["stalls"]) if spread else missing,
        "Arm": record["arm"],
        "Measured": record["measures"]["subject"],
        # What is no run of mpirun has one process, on the launcher.
        "Nodes": str(min(record["ranks"], len(record["hosts"]))),
        "Ranks": str(record["ranks"]),
        "Network": record["network"] or "not reported",
        "Seconds": "not run" if took is None else f"{took:.1f}",
        "Time": f"{record['time'][:19].replace('T', ' ')} UTC",
    }


def runs(records: Sequence[Record]) -> Section:
    found = table(map(row, records), details=("Seconds", "Time"))
    if any(noun(record) == "worker" for record in records):
        found = found._replace(head=["Workers" if head == "Nodes" else head for head in found.head])
    return section("Runs", found)


def sizes(records: Sequence[Record]) -> Section:
    """Return the bus bandwidth by message size of each good run that has it, as a chart and as a table."""
    blocks: list[Block] = []
    for record in records:
        found, unit = record["result"]["details"].get("rows") or [], record["result"]["unit"]
        title = f"{record['arm']}, {record['measures']['subject']}: bus bandwidth out of place in {unit}, from zero; "
        title += "each step of the horizontal axis doubles the message size."
        blocks += bandwidth([(record["arm"], 0, by_size(found))], unit, title)
        blocks.append(
            table(
                {
                    "Message size": text_of(one["size"]),
                    "Out of place": number((one.get("out_of_place") or {}).get("busbw")),
                    "In place": number((one.get("in_place") or {}).get("busbw")),
                    "Unit of bus bandwidth": unit,
                }
                for one in found
            )
        )
    return section("Bus bandwidth by message size", *blocks)


def notes(records: Iterable[Record], problems: Iterable[str]) -> Section:
    found = dict.fromkeys([note for record in records for note in record.get("notes") or []] + list(problems))
    return section("Notes", Bullets(list(found)))


def counted_by_hosts(records: Sequence[Record]) -> Section:
    """Return what the hosts counted around the latest run that has counters."""
    latest = next((record for record in reversed(records) if record.get("witnesses")), {})
    found = Bullets(counters.sentences(latest)), counters.hosts(latest)
    return section("Counters of the hosts", *found, detail=True)


def preflight(verdict: Optional[Mapping[str, Any]]) -> list[Section]:
    """Return the result of preflight before the run, and as a detail the checks that did not pass."""
    summary = (verdict or {}).get("summary")
    if not verdict or not summary:
        return []
    counts = [f"{summary.get(status, 0)} {word}" for status, word in STATUSES.items()]
    judged = [(host, check) for host, one in (verdict.get("hosts") or {}).items() for check in one.get("checks") or []]
    judged += [("all hosts", check) for check in verdict.get("fleet") or []]
    alike: dict[tuple[str, ...], list[str]] = {}
    for host, check in judged:
        if check.get("status") in ("fail", "warn"):
            alike.setdefault(tuple(str(check.get(key) or "") for key in OUTCOME), []).append(host)
    checks = table({"Hosts": some(hosts), **dict(zip(OUTCOME.values(), outcome))} for outcome, hosts in alike.items())
    sentence = f"Preflight of {counted(len(verdict.get('hosts') or {}), 'host')}: {', '.join(counts)}."
    return [section("Preflight", Text(sentence)), section("Checks that did not pass", checks, detail=True)]


def command_lines(argv: Sequence[str]) -> str:
    """Return a command for a shell, an option a line."""
    lines: list[list[str]] = []
    line: list[str] = []
    for place, word in enumerate(argv):
        # "timeout -k 10 60" belongs together; mpirun's options begin after it.
        option = word.startswith("-") and any(known.endswith(MPIRUN) for known in argv[:place])
        program = word == PYTHON or line[:1] == [MCA] and len(line) == 3
        if line and (option or program):
            lines.append(line)
            line = []
        line.append(shlex.quote(word))
    return " \\\n  ".join(" ".join(words) for words in [*lines, line] if words)


def where(launcher: Optional[str]) -> str:
    return f"On {launcher}, as root:" if launcher else "On the launcher, as root:"


def reproduction(records: Sequence[Record]) -> Section:
    blocks: list[Block] = []
    for record in (good(records) or records)[-1:]:
        blocks = [Text(where(record["parameters"].get("launcher"))), Code(command_lines(record["argv"]))]
    return section("To run it again", *blocks, detail=True)


def lab(records: Iterable[Record]) -> list[Text]:
    return [Text(LAB, "lab")] if any(record.get("lab") for record in records) else []


def document(
    records: Sequence[Record],
    verdict: Optional[Mapping[str, Any]] = None,
    problems: Iterable[str] = (),
    title: str = "Benchmark",
    run: str = "",
) -> Document:
    """Return the document of the records of a run and of preflight's verdict, if there is one."""
    ok = good(records)
    top: list[Block] = [headline(records)]
    top += [Bullets(beside(record)) for record in ok[-1:]]
    failures = (
        {"Run": record["id"], "Problems": " ".join(record["problems"]), "Log": record["log"]}
        for record in failed(records)
    )
    return Document(
        f"{title}: {run}" if run else title,
        lab(records),
        top,
        [
            section("What failed", table(failures)),
            runs(records),
            section("Iterations", *(chart for record in ok for chart in iterations(record)), detail=True),
            sizes(ok),
            section("Logs", table({"Run": record["id"], "Log": record["log"]} for record in ok)),
            notes(records, problems),
            counted_by_hosts(records),
            section("Hosts", systems.hosts((ok or records)[-1:]), detail=True),
            *preflight(verdict),
            reproduction(records),
        ],
        f"Run {run}. Everything here stands in records.jsonl and verdict.json beside this page.",
    )
