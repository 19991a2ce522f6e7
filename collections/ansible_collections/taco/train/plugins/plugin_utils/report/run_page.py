# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render what a run left behind as one page that needs nothing beside it."""

import shlex
from html import escape
from typing import Any, Collection, Iterable, Mapping, Optional, Sequence, Union

from ansible_collections.taco.train.plugins.plugin_utils.report import counters, values
from ansible_collections.taco.train.plugins.plugin_utils.report import run_table as words
from ansible_collections.taco.train.plugins.plugin_utils.report.chart import Level, iterations_chart
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_sizes import sizes_chart
from ansible_collections.taco.train.plugins.plugin_utils.report.style import STYLE
from ansible_collections.taco.train.plugins.plugin_utils.report.values import Record
from ansible_collections.taco.train.plugins.plugin_utils.text import number
from ansible_collections.taco.train.plugins.plugin_utils.workloads import nccl_sizes

GIB = 1 << 30
SYSTEM = {
    "os": "System",
    "kernel": "Kernel",
    "cpus": "CPUs",
    "memory_bytes": "Memory",
    "hugepages": "Hugepages",
    "gpus": "GPUs",
    "driver": "Driver",
    "engine": "Engine",
    "interfaces": "Interfaces",
}


class Html(str):
    """Markup of our own, in which everything that was measured or set is already escaped."""


Cell = Union[str, tuple[str, Optional[str]]]
"""What a cell of a table holds, perhaps with its class."""


def element(name: str, content: Any, css: str | None = None) -> str:
    """Return an element with text in it; whatever the text holds, it stays text. Only Html is taken as it is."""
    attribute = f' class="{css}"' if css else ""
    return f"<{name}{attribute}>{content if isinstance(content, Html) else escape(str(content))}</{name}>"


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], numbers: Collection[str] = ()) -> str:
    """Return a table; each cell is text, or (text, class). It scrolls by itself on a narrow screen."""

    def draw(name: str, values: Sequence[Cell]) -> str:
        cells = []
        for title, value in zip(head, values):
            content, css = value if isinstance(value, tuple) else (value, None)
            cells.append(element(name, content, css or ("number" if title in numbers else None)))
        return "<tr>" + "".join(cells) + "</tr>"

    body = "".join(draw("td", row) for row in rows)
    return f'<div class="scroll"><table><thead>{draw("th", head)}</thead><tbody>{body}</tbody></table></div>'


def section(title: str, *parts: str) -> str:
    return f"<section>{element('h2', title)}{''.join(parts)}</section>" if any(parts) else ""


def runs(records: Sequence[Record]) -> str:
    head = (*words.heads(records), "Seconds", "Time")
    rows: list[Sequence[Cell]] = []
    for record in records:
        row = words.row(record)
        duration = record["duration_s"]
        seconds = "not run" if duration is None else f"{duration:.1f}"
        time = record["time"][:19].replace("T", " ") + " UTC"
        rows.append(((row[0], row[0]), *row[1:], seconds, (time, "time")))
    return section("Runs", table(head, rows, words.RIGHT | {"Seconds"})) if rows else ""


def drawn_figure(chart: str, caption: str) -> str:
    return f'<figure><div class="scroll">{chart}</div>{element("figcaption", caption)}</figure>' if chart else ""


def charts(records: Iterable[Record]) -> str:
    """Return a drawing of the iterations of each good run, in the quantity and the unit of its value."""
    drawn = []
    for record in words.good(records):
        result, kind = record["result"], values.kind_of(record)
        if not kind.iteration:
            continue
        spread, unit, noun = result.get("spread"), result["unit"], kind.iteration
        level = Level(result["value"], spread["p5"], spread["p95"]) if spread else Level(result["value"])
        caption = f"{record['arm']}, {values.subject(record)}: {unit} of each {noun}. "
        caption += f"The dashed line is the value of the run, {number(result['value'])}"
        caption += ", the band holds the 5th to the 95th percentile." if spread else "."
        if kind.running_mean:
            caption += f" Each {noun} is a mean over all steps so far, drawn as one line because its points are not independent."
        chart = iterations_chart(result["series"], level, unit, noun, kind.running_mean)
        drawn.append(drawn_figure(chart, caption))
    return section("Iterations", *drawn)


def sizes(records: Iterable[Record]) -> str:
    """Return the bus bandwidth by message size of each good run that has it, as a drawing and as a table."""
    drawn = []
    for record in words.good(records):
        head, rows = values.sizes(record)
        if not rows:
            continue
        found = nccl_sizes.by_size(record["result"]["details"]["rows"])
        unit = record["result"]["unit"]
        caption = f"{record['arm']}, {values.subject(record)}: bus bandwidth out of place in {unit}, from zero; "
        caption += "each step of the horizontal axis doubles the message size."
        drawn.append(drawn_figure(sizes_chart([(record["arm"], 0, found)], unit), caption))
        drawn.append(table(head, rows, words.RIGHT))
    return section("Bus bandwidth by message size", *drawn)


def beside(records: Sequence[Record]) -> str:
    """The notes beside the value of the latest successful run."""
    said = [element("li", one) for record in words.good(records)[-1:] for one in values.beside(record)]
    return f'<ul class="beside">{"".join(said)}</ul>' if said else ""


def failures(records: Iterable[Record]) -> str:
    drawn = []
    for record in words.failed(records):
        said = "".join(element("li", problem) for problem in record["problems"])
        log = f'<a href="{escape(record["log"])}">{escape(record["log"])}</a>'
        drawn.append(f'<div class="failure"><p><b>{escape(record["id"])}</b> failed.</p><ul>{said}</ul>')
        drawn.append(f"<p>Log: {log}</p></div>")
    return section("What failed", *drawn)


def notes(records: Iterable[Record], problems: Iterable[str]) -> str:
    said = dict.fromkeys([note for record in records for note in record["notes"]] + list(problems))
    items = "".join(element("li", note) for note in said)
    return section("Notes", f"<ul>{items}</ul>") if items else ""


def witnesses(records: Sequence[Record]) -> str:
    """What the hosts counted around the latest run that has counters."""
    latest = next((record for record in reversed(records) if record.get("witnesses")), None)
    if latest is None:
        return ""
    items = "".join(element("li", text) for text in counters.sentences(latest))
    return section(
        "Counters of the hosts", f"<ul>{items}</ul>", table(counters.HEAD, counters.rows(latest), counters.RIGHT)
    )


def command_lines(argv: Sequence[str]) -> str:
    """Return a command for a shell, an option a line."""
    lines: list[list[str]] = []
    line: list[str] = []
    for place, word in enumerate(argv):
        # "timeout -k 10 60" belongs together; mpirun's options begin after it.
        option = word.startswith("-") and any(known.endswith("mpirun") for known in argv[:place])
        if line and (option or word == "python3"):
            lines.append(line)
            line = []
        line.append(shlex.quote(word))
    return " \\\n  ".join(" ".join(words) for words in [*lines, line] if words)


def reproduction(records: Sequence[Record]) -> str:
    if not records:
        return ""
    record = (words.good(records) or records)[-1]
    launcher = record["parameters"].get("launcher")
    where = f"On {launcher}, as root:" if launcher else "On the launcher, as root:"
    return section("To run it again", element("p", where), element("pre", command_lines(record["argv"])))


def system_value(key: str, value: Any) -> str:
    if value is None or value == []:
        return "none" if value == [] else "not known"
    if key == "memory_bytes":
        return f"{value / GIB:.1f} GiB"
    if key == "hugepages":
        return ", ".join(f"{pool['total']} x {pages(pool['size_bytes'])}" for pool in value)
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return str(value)


def pages(size: int | None) -> str:
    return f"{size // GIB} GiB" if size and size % GIB == 0 else f"{(size or 0) // (1 << 20)} MiB"


def systems(records: Sequence[Record]) -> str:
    if not records:
        return ""
    rows: list[Sequence[Cell]] = []
    for host, system in (words.good(records) or records)[-1]["system"].items():
        system = system or {}
        values = [system_value(key, system.get(key)) for key in SYSTEM]
        if system.get("gpu_names"):
            values[list(SYSTEM).index("gpus")] += f" ({', '.join(system['gpu_names'])})"
        rows.append((host, *values))
    return section("Hosts", table(("Host", *SYSTEM.values()), rows, {"CPUs", "Memory"})) if rows else ""


def preflight(verdict: Mapping[str, Any] | None) -> str:
    sentence = words.preflight_sentence(verdict)
    if not verdict or not sentence:
        return ""
    head, rows = words.preflight_rows(verdict)
    drawn: list[Sequence[Cell]] = [((status, status), *rest) for status, *rest in rows]
    return section("Preflight", element("p", sentence), table(head, drawn) if drawn else "")


def top(records: Sequence[Record], title: str) -> str:
    number, said = words.headline(records)
    banner = element("p", words.LAB, "lab") if words.is_lab(records) else ""
    lead = f'<p class="lead">{element("b", number)} {escape(said)}</p>' if number else element("p", said, "lead none")
    return f"<header>{banner}{element('h1', title)}{lead}{beside(records)}</header>"


def page(title: str, body: Iterable[str], style: str = STYLE) -> str:
    """Return a whole page of parts, those that are empty left out."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{element('title', title)}<style>{style}</style></head><body>\n"
        + "\n".join(filter(None, body))
        + "\n</body></html>\n"
    )


def render(
    records: Sequence[Record],
    verdict: Mapping[str, Any] | None = None,
    problems: Iterable[str] = (),
    title: str = "Benchmark",
    run: str = "",
) -> str:
    """Return the page."""
    body = [
        top(records, title),
        failures(records),
        runs(records),
        charts(records),
        sizes(records),
        notes(records, problems),
        witnesses(records),
        systems(records),
        preflight(verdict),
        reproduction(records),
        element("footer", f"Run {run}. Everything here stands in records.jsonl and verdict.json beside this page."),
    ]
    return page(title, body)
