# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts that the page of a comparison is made of: tables and figures in which every lossy arm is marked."""

from html import escape
from typing import Any, Iterable, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.report.context import PUBLISHED
from ansible_collections.taco.train.plugins.plugin_utils.report.rows import NUMBERS
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import Cell, Html, element, table

# How the cells beneath a head look, where they are more than text.
STYLES = {
    "Why": "why",
    "Environment and options": "code",
    "Case": "name",
    "Property": "name",
    "Problems": "why",
    "Image": "code",
    "Log line": "code",
}
MOST_ON_A_LINE = 24


def marked_up(text: Any) -> Html:
    """Return text as markup in which every lossy arm carries its mark."""
    return Html(escape(str(text)).replace(f"({wording.LOSSY})", f'<span class="lossy">{wording.LOSSY}</span>'))


def drawn(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table of text as markup, or nothing when it has no rows."""
    if not body:
        return ""
    return table(
        [marked_up(title) for title in head],
        [[styled(title, value) for title, value in zip(head, one)] for one in body],
        NUMBERS,
    )


def styled(title: str, value: str) -> Cell:
    word = value.split(" ")[-1]
    if title == "Verdict" and word in wording.SYMBOLS:
        return value, word
    if value == PUBLISHED:
        return value, "published"
    if title == "Log" and wording.is_local(value) and value != "none":
        return Html(f'<a href="{escape(value)}">{escape(value)}</a>')
    if title.lower().endswith("interval"):
        return marked_up(value), "time"
    if title == "Case" and len(value) > MOST_ON_A_LINE:
        return marked_up(value), "long"
    return (marked_up(value), STYLES[title]) if title in STYLES else marked_up(value)


def figure(chart: str, caption: str, lab: Any) -> str:
    if not chart:
        return ""
    said = f"Lab: {caption}" if lab else caption
    return f'<figure><div class="scroll">{chart}</div>{element("figcaption", said)}</figure>'


def figures(found: Iterable[str]) -> str:
    found = [one for one in found if one]
    return f'<div class="charts">{"".join(found)}</div>' if found else ""
