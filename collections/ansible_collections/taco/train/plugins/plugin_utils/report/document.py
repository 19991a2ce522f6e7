# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a page is made of. Builders fill a document with plain text and numbers; templates turn it into HTML and Markdown."""

from typing import Any, Collection, Mapping, NamedTuple, Sequence, Union

# The heads of columns that hold numbers, and of one that holds paths of files beside the page.
NUMBERS = {
    *("Ratio", "p", "Runs", "Arm runs", "Baseline runs", "Median", "Measured runs", "Warm-up runs", "Failed runs"),
    *("Nodes", "Workers", "Ranks", "Efficiency", "Value", "Bytes between nodes", "Bytes / bandwidth", "Measured time"),
    *("Measured / expected", "Bus bandwidth", "Line rate", "Share", "Without topology", "With topology", "Speed-up"),
    *("Parameters (M)", "Stalls", "Seconds", "Message size", "Out of place", "In place", "CPUs", "Memory"),
    *("Round", "Loss", "Against its peers", "Against the round", "Evidence of slow"),
    *("Sent", "Received", "Sent again", "Drops", "Busy", "CPU stolen", "CPU throttled"),
}
LOG = "Log"
Rows = Sequence[Sequence[str]]
Table = tuple[Sequence[str], Rows]
"""The head and the rows of a table, all of it text."""


class Text(NamedTuple):
    """A paragraph."""

    text: str
    style: str = ""
    """Its class on a page. One with "drawn" explains charts, and is nothing without them."""
    number: str = ""
    """A number before it, in large digits."""
    kind: str = "text"


class Bullets(NamedTuple):
    """A list of sentences."""

    items: Sequence[str]
    kind: str = "list"


class Code(NamedTuple):
    """Commands, settings or a diff, shown as they are."""

    text: str
    printed: bool = True
    """Whether it is on paper, too."""
    diff: bool = False
    """Whether lines that begin with + or - are added and removed ones."""
    kind: str = "code"


class Grid(NamedTuple):
    """A table of text."""

    head: Sequence[str]
    rows: Rows
    wide: Collection[str] = ()
    """The heads of columns that only a page has room for."""
    kind: str = "table"


class Shape(NamedTuple):
    """A line, a point or a text of a chart."""

    tag: str
    attributes: Mapping[str, Any]
    text: Any = ""
    """Its text, or the shapes of a group."""
    title: str = ""
    """What a pointer or a screen reader gets."""


class Chart(NamedTuple):
    """A drawing, with what it shows in words."""

    caption: str
    width: float
    height: float
    shapes: Sequence[Shape]
    kind: str = "chart"


Block = Union[Text, Bullets, Code, Grid, Chart]


class Section(NamedTuple):
    """Blocks beneath a title."""

    title: str
    blocks: Sequence[Block]
    detail: bool = False
    """Whether it is left out where there is little room, such as in a terminal."""


class Document(NamedTuple):
    """A page: warnings, the title, what matters most, sections."""

    title: str
    warnings: Sequence[Text]
    top: Sequence[Block]
    sections: Sequence[Section]
    footer: str


def filled(table: Table) -> Table:
    """Return a table without the columns in which no row has a text."""
    head, rows = table
    kept = [place for place in range(len(head)) if any(row[place] for row in rows)]
    return [head[place] for place in kept], [[row[place] for place in kept] for row in rows]


def tables(title: str, table: Table, *before: Block, after: Sequence[Block] = ()) -> Section:
    """Return a section around a table, without anything in it when the table has no rows."""
    head, rows = filled(table)
    return Section(title, [*before, Grid(head, rows), *after] if rows else [])


def written(section: Section) -> list[Block]:
    """Return the blocks of a section that are left without charts and what explains them."""
    return [one for one in section.blocks if not isinstance(one, Chart) and "drawn" not in getattr(one, "style", "")]


def brief(document: Document) -> Document:
    """Return a document without its details."""
    return document._replace(sections=[section for section in document.sections if not section.detail])
