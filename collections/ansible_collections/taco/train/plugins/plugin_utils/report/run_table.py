# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The records of a run in words, and as a Markdown table."""

from typing import Any, Collection, Iterable, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.report import values
from ansible_collections.taco.train.plugins.plugin_utils.report.values import Record
from ansible_collections.taco.train.plugins.plugin_utils.text import counted, number

LAB = "LAB: measured on a lab's machines. These numbers say nothing about GPUs."
RIGHT = frozenset({"Value", "Stalls", "Nodes", "Workers", "Ranks", *values.SIZE_NUMBERS})


def heads(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the heads of the table of runs. Pods of one node can be several workers."""
    hosts = "Workers" if any(host_noun(record) == "worker" for record in records) else "Nodes"
    return ("Outcome", "Value", "Unit", "5 % to 95 %", "Stalls", "Arm", "Measured", hosts, "Ranks", "Network")


def host_noun(record: Record) -> str:
    return "worker" if record.get("placement") else "node"


def is_lab(records: Iterable[Record]) -> bool:
    return any(record["lab"] for record in records)


def size(record: Record) -> str:
    """Return over what a record was measured, such as "2 nodes x 8 ranks"."""
    slots = {host["slots"] for host in record["hosts"]}
    nodes = counted(len(record["hosts"]), host_noun(record))
    if record["ranks"] != sum(host["slots"] for host in record["hosts"]):
        return counted(record["ranks"], "process", "processes")
    if len(slots) == 1:
        return f"{nodes} x {counted(slots.pop(), 'rank')}"
    return f"{nodes}, {counted(record['ranks'], 'rank')}"


def arm_name(arm: str) -> str:
    return f"{arm}: {ARMS[arm].label}" if arm in ARMS else arm


def good(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record["outcome"] == "ok"]


def failed(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record["outcome"] != "ok"]


def headline(records: Sequence[Record]) -> tuple[str | None, str]:
    """Return the number, if there is one, and the sentence that belongs to it."""
    if not records:
        return None, "No benchmark was run."
    bad = failed(records)
    if not good(records):
        if len(records) > 1:
            return None, f"No result: all {len(records)} runs failed."
        return None, f"No result: the run failed. {' '.join(bad[0]['problems'][:1])}".strip()
    record = good(records)[-1]
    result = record["result"]
    words = f"{result['unit']} over {size(record)} (arm {arm_name(record['arm'])}; {values.subject(record)}"
    words += f", on {result['device']}s)" if result["device"] else ")"
    if bad:
        words += f". {len(bad)} of {counted(len(records), 'run')} failed"
    return number(result["value"]), words + "."


def row(record: Record) -> tuple[str, ...]:
    result = record["result"] or {}
    spread = result.get("spread") or {}
    missing = "not known" if result else "none"
    return (
        record["outcome"],
        number(result.get("value")),
        result.get("unit") or "",
        f"{number(spread['p5'])} to {number(spread['p95'])}" if spread else missing,
        str(spread["stalls"]) if spread else missing,
        record["arm"],
        values.subject(record),
        # What is no run of mpirun has one process, on the launcher.
        str(min(record["ranks"], len(record["hosts"]))),
        str(record["ranks"]),
        record["network"] or "not reported",
    )


def cell(text: str) -> str:
    """Return text that can't leave its cell."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())


def markdown_rows(head: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = RIGHT) -> list[str]:
    """Return the lines of a table that also reads well as it is; heads in `right` stand over numbers."""
    lines = [tuple(cell(title) for title in head)] + [tuple(cell(text) for text in one) for one in rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    drawn = [draw(line, widths, head, right) for line in lines]
    rule = ["-" * (width - 1) + ":" if name in right else "-" * width for width, name in zip(widths, head)]
    return [drawn[0], "| " + " | ".join(rule) + " |", *drawn[1:]]


def draw(line: Sequence[str], widths: Sequence[int], head: Sequence[str], right: Collection[str]) -> str:
    cells = [text.rjust(width) if name in right else text.ljust(width) for text, width, name in zip(line, widths, head)]
    return "| " + " | ".join(cells) + " |"


def preflight_sentence(verdict: Mapping[str, Any] | None) -> str | None:
    """The result of preflight before the run, or None without one."""
    summary = (verdict or {}).get("summary")
    if not verdict or not summary:
        return None
    said = [f"{summary.get(status, 0)} {word}" for status, word in STATUSES.items()]
    return f"Preflight of {counted(len(verdict.get('hosts') or {}), 'host')}: {', '.join(said)}."


def preflight_rows(verdict: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return (head, rows) of the checks that did not pass."""
    judged = [(host, check) for host, one in (verdict.get("hosts") or {}).items() for check in one.get("checks") or []]
    judged += [("all hosts", check) for check in verdict.get("fleet") or []]
    keys = ("id", "expected", "found", "fix")
    rows = [
        (check["status"], host, *(str(check.get(key) or "") for key in keys))
        for host, check in judged
        if check.get("status") in ("fail", "warn")
    ]
    return ("Status", "Host", "Check", "Expected", "Found", "Fix"), rows


STATUSES = {"pass": "passed", "fail": "failed", "warn": "warned", "skip": "skipped"}


def render(
    records: Sequence[Record],
    verdict: Mapping[str, Any] | None = None,
    problems: Iterable[str] = (),
    title: str = "Benchmark",
) -> str:
    """Return the text of table.md."""
    number, words = headline(records)
    lines = [f"# {cell(title)}", ""]
    if is_lab(records):
        lines += [f"**{LAB}**", ""]
    lines += [f"**{number}** {cell(words)}" if number else cell(words), ""]
    if records:
        lines += [*markdown_rows(heads(records), [row(record) for record in records]), ""]
    for record in good(records)[-1:]:
        lines += [f"- {cell(said)}" for said in values.beside(record)]
        head, body = values.sizes(record)
        lines += ["", *markdown_rows(head, body), ""] if body else []
    for record in good(records):
        lines += [f"- Log: {cell(record['log'])}"]
    for record in failed(records):
        lines += [f"- Failed, {cell(record['log'])}: {cell(' '.join(record['problems']))}"]
    # Each note once, in the order in which they first appear.
    notes = dict.fromkeys(note for record in records for note in record["notes"])
    lines += [f"- Note: {cell(note)}" for note in notes]
    lines += [f"- {cell(text)}" for text in [*problems, preflight_sentence(verdict)] if text]
    return "\n".join(lines).rstrip("\n") + "\n"
