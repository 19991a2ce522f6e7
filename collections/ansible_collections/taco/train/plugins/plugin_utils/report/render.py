# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render a document with the templates beside this file. Values are never templates, whatever braces they hold."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import LOSSY, SYMBOLS, is_local
from ansible_collections.taco.train.plugins.plugin_utils.report.document import (
    LOG,
    NUMBERS,
    Block,
    Document,
    Grid,
    written,
)
from ansible_collections.taco.train.plugins.plugin_utils.text import plain

TEMPLATES = Path(__file__).parent / "templates"
# What begins markup within a line, and what does so at the beginning of one. An underscore within a word is a letter.
MARKUP = re.compile(r"[\\|`*]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])|~(?=~)|&(?=#?\w+;)")
BEGINNING = re.compile(r"^(?=(#{1,6}|[-+>=])(\s|$)|\d{1,9}[.)](\s|$)|[-+=>]{2,})")
# Kinds of characters that no page shows: control characters, what only tells a terminal how to write, halves of characters.
UNSEEN = ("Cc", "Cf", "Cs")
WORDS = {*SYMBOLS, "ok", "failed", "fail", "warn"}
PUBLISHED = "PUBLISHED"
CODE = ("Environment and options", "Log line")
MOST_ON_A_LINE = 24


def seen(value: Any) -> Any:
    """Return a value without characters that can't be seen. Ends of lines and tabs stay."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return "".join(one for one in value if one in "\n\t" or unicodedata.category(one) not in UNSEEN)


def inline(value: Any) -> str:
    """Return a value as one line of Markdown in which nothing is markup."""
    return MARKUP.sub(r"\\\g<0>", plain(str(value))).replace("<", "&lt;")


def escaped(value: Any) -> Any:
    """Return a value as text of Markdown. What a filter has made is left as it is."""
    return value if isinstance(value, Markup) else BEGINNING.sub(r"\\", inline(value))


def table_lines(grid: Grid) -> Markup:
    """Return the lines of a table that also reads well as it is."""
    lines = [[inline(cell) for cell in line] for line in (grid.head, *grid.rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    right = [head in NUMBERS for head in grid.head]
    rule = ["-" * (width - 1) + ":" if number else "-" * width for width, number in zip(widths, right)]
    padded = [
        [text.rjust(width) if number else text.ljust(width) for text, width, number in zip(line, widths, right)]
        for line in lines
    ]
    return Markup("\n".join("| " + " | ".join(line) + " |" for line in [padded[0], rule, *padded[1:]]))


def fenced(text: str) -> Markup:
    """Return text as a block of code that nothing in it can end."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return Markup("\n".join([fence, *seen(text).splitlines(), fence]))


def style_of(value: str, head: str) -> str:
    """Return the class of a cell, empty for plain text."""
    word = value.split(" ")[-1]
    if head in ("Verdict", "Outcome", "Status") and word in WORDS:
        return word
    if value.startswith(PUBLISHED):
        return "published"
    if head in CODE:
        return "code"
    return "long" if len(value) > MOST_ON_A_LINE else ""


def together(blocks: Sequence[Block]) -> list[tuple[str, list[Block]]]:
    """Return blocks of one kind that follow each other, such as charts, which stand side by side."""
    return [(kind, list(found)) for kind, found in groupby(blocks, lambda block: block.kind)]


@lru_cache(maxsize=None)
def template(name: str) -> Any:
    """Return a template of a page. Every value passes through its finalize."""
    of_html = name.endswith("html.j2")
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=of_html,
        finalize=seen if of_html else escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters.update(table_lines=table_lines, fenced=fenced, style_of=style_of, together=together, written=written)
    found.tests["local"] = is_local
    found.globals.update(LOSSY=LOSSY, LOG=LOG, NUMBERS=NUMBERS)
    return found.get_template(name)


def html(document: Document) -> str:
    """Return a page that needs nothing beside it."""
    return str(template("page.html.j2").render(document=document))


def markdown(document: Document) -> str:
    """Return the text of a document, without its charts."""
    return str(template("page.md.j2").render(document=document))
