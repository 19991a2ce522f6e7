# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Render a comparison as one page that needs nothing beside it."""

import json
from html import escape

from ansible_collections.taco.train.plugins.plugin_utils import comparison_rows as rows
from ansible_collections.taco.train.plugins.plugin_utils import comparison_svg, comparison_svg_scaling
from ansible_collections.taco.train.plugins.plugin_utils import comparison_words as words
from ansible_collections.taco.train.plugins.plugin_utils.comparison_style import STYLE
from ansible_collections.taco.train.plugins.plugin_utils.comparison_systems import system_rows
from ansible_collections.taco.train.plugins.plugin_utils.report_html import (
    Html,
    command_lines,
    element,
    notes,
    page,
    preflight,
    section,
    table,
)
from ansible_collections.taco.train.plugins.plugin_utils.report_table import LAB

# How the cells beneath a head look, where they are more than text.
STYLES = {"Why": "why", "Environment": "code", "Case": "name", "Property": "name", "Problems": "why", "Image": "code"}


def marked_up(text):
    """Return text as markup in which every lossy arm carries its mark."""
    return Html(escape(str(text)).replace(f"({words.LOSSY})", f'<span class="lossy">{words.LOSSY}</span>'))


def drawn(head, body):
    """Return a table of text as markup, or nothing when it has no rows."""
    if not body:
        return ""
    return table(
        [marked_up(title) for title in head],
        [[styled(title, value) for title, value in zip(head, one)] for one in body],
        rows.NUMBERS,
    )


def styled(title, value):
    if title == "Verdict":
        return value, value.split(" ")[-1]
    if value == rows.PUBLISHED:
        return value, "published"
    if title == "Log" and words.is_local(value) and value != "none":
        return Html(f'<a href="{escape(value)}">{escape(value)}</a>')
    if title == "Low to high" or title.lower().endswith("interval"):
        return marked_up(value), "time"
    return (marked_up(value), STYLES[title]) if title in STYLES else marked_up(value)


def figure(chart, caption, lab):
    if not chart:
        return ""
    said = f"Lab: {caption}" if lab else caption
    return f'<figure><div class="scroll">{chart}</div>{element("figcaption", said)}</figure>'


def figures(found):
    found = [one for one in found if one]
    return f'<div class="charts">{"".join(found)}</div>' if found else ""


def top(comparison, title):
    """Return what a reader must see first: what makes the numbers unfit, the question, the answer."""
    first = [element("p", said, "stop") for said in (words.unlike(comparison), words.incomplete(comparison)) if said]
    lab = [element("p", LAB, "lab")] if comparison.get("lab") else []
    question = comparison.get("question")
    parts = [
        element("h1", title),
        element("p", question, "question") if question else "",
        element("p", comparison.get("sentence") or "No verdict.", "lead"),
        element("p", words.progress(comparison), "progress"),
    ]
    return f"<header>{''.join(first + lab + parts)}</header>"


def verdicts(comparison):
    shared, effect = words.shared_parts(comparison), words.effect(comparison)
    said = [f"All of it: {', '.join(shared)}."] if shared else []
    used = dict.fromkeys(one["verdict"] for _block, one in rows.compared(comparison))
    said += [f"{words.verdict(word)}: {words.VERDICTS[word]}." for word in used if word in words.VERDICTS]
    said += [f"The smallest difference that counts is {words.percent(effect)}."] if effect and used else []
    caption = (
        "The point is the speed-up, the line through it its interval. The shaded band, "
        f"{words.percent(effect)} to each side of 1, holds differences too small to count."
    )
    chart = figure(comparison_svg.forest(comparison), caption, comparison.get("lab"))
    under = element("p", " ".join(said), "said") if said else ""
    body = drawn(*rows.verdicts(comparison))
    return section("Verdicts", body, under if body else "") + section("Speed-up", figures([chart]))


def regression(comparison):
    found = comparison.get("regression")
    if not found:
        return ""
    parts = [element("p", f"Against the kept baseline {found.get('baseline')}:")]
    for word in ("worse", "better"):
        parts += [element("p", f"{words.verdict(word)}: {words.plain(one)}", word) for one in found.get(word) or []]
    if len(parts) == 1:
        parts.append(element("p", "Nothing is worse and nothing is better."))
    return section("Regression", *parts)


def measured(comparison):
    cases, lab = words.cases(comparison), comparison.get("lab")
    charts = [
        figure(comparison_svg.strip(comparison, block), f"{cases[block['id']]}: every run.", lab)
        for block in comparison.get("blocks") or []
    ]
    told = (
        "Every run is a column: small points are its iterations, the short line is the run's value, and the long line is "
        "the median of the arm, which stands beneath. Warm-up runs are hollow and dashed; they take no part in a verdict."
    )
    drawings = figures(charts)
    return section("Runs", element("p", told, "said") if drawings else "", drawings, drawn(*rows.measured(comparison)))


def scaling(comparison):
    together = {}
    for line in comparison.get("scaling") or []:
        together.setdefault((rows.scaling_case(comparison, line), line.get("basis")), []).append(line)
    charts = [
        figure(comparison_svg_scaling.scaling(comparison, lines), f"{case}: efficiency.", comparison.get("lab"))
        for (case, _basis), lines in together.items()
    ]
    return section("Scaling", figures(charts), drawn(*rows.scaling(comparison)))


def network(comparison):
    cases, lab = words.cases(comparison), comparison.get("lab")
    charts = [
        figure(comparison_svg_scaling.expected(comparison, block), f"{cases[block['id']]}: time of a batch.", lab)
        for block in comparison.get("blocks") or []
    ]
    told = (
        "The filled bar is the measured time of a batch, the dashed one the time that its bytes between nodes need at the "
        "link's bandwidth."
    )
    drawings = figures(charts)
    explained = element("p", told, "said") if drawings else ""
    bus = drawn(*rows.bus_bandwidth(comparison))
    times = drawn(*rows.expected(comparison))
    return section("Time against bytes over bandwidth", explained, drawings, times) + section("Bus bandwidth", bus)


def published(comparison, records):
    body = drawn(*rows.published(comparison, records))
    note = "Published figures are the vendor's, from its documents and its hardware. They take no part in a verdict."
    return section("Published figures", element("p", note), body) if body else ""


def arms(comparison):
    return section("Arms", drawn(*rows.arms(comparison)))


def systems(comparison, records):
    found = comparison.get("systems") or {}
    differs = "".join(element("li", words.plain(one)) for one in found.get("differs") or [])
    differs = f"<p>The systems differ:</p><ul>{differs}</ul>" if differs else ""
    images = section("Images", drawn(*rows.images(comparison, records)))
    return section("Hosts", differs, drawn(*system_rows(records))) + images


def failures(comparison):
    return section("What failed", drawn(*rows.failures(comparison)))


def reproduction(comparison, records):
    parts = []
    for case, arm, launcher, argv in rows.commands(comparison, records):
        title = f"<h3>{marked_up(f'{case}: {words.marked(comparison, arm)}')}</h3>"
        where = f"On {launcher}, as root:" if launcher else "On the launcher, as root:"
        parts += [title, element("p", where, "said"), element("pre", command_lines(argv))]
    if parts:
        told = (
            "Before the command, bring the arm's NCCL plugin and Horovod, as said under Arms, in force on every worker."
        )
        parts.insert(0, element("p", told))
    if comparison.get("spec"):
        settings = json.dumps(comparison["spec"], indent=2, ensure_ascii=False, default=str)
        parts += [element("h3", "The comparison as it was asked for"), element("pre", settings)]
    return section("To run it again", *parts)


def render(comparison, records, verdict=None, title="Comparison", run="", problems=()):
    """Return the page of a comparison (comparison.json), its result records and preflight's verdict, if there is one."""
    with_notes = [dict(record, notes=record.get("notes") or []) for record in records]
    body = [
        top(comparison, title),
        verdicts(comparison),
        regression(comparison),
        failures(comparison),
        measured(comparison),
        scaling(comparison),
        network(comparison),
        published(comparison, records),
        arms(comparison),
        notes(with_notes, problems),
        systems(comparison, records),
        preflight(verdict),
        reproduction(comparison, records),
        element(
            "footer", f"Run {run}. Everything here stands in comparison.json, records.jsonl and verdict.json beside it."
        ),
    ]
    return page(title, body, STYLE)
