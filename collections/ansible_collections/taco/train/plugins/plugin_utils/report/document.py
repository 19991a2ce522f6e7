# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a page is made of. Builders fill a document with plain text and numbers; templates turn it into HTML and Markdown."""

from typing import Any, Callable, Collection, Iterable, Mapping, NamedTuple, Sequence, Union

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


class Text(NamedTuple):
    """A paragraph."""

    text: str
    style: str = ""
    """Its class on a page. A "note" explains what stands beside it, a "note drawn" its charts; alone it is nothing."""
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
    rows: Sequence[Sequence[str]]
    details: Collection[str] = ()
    """The heads of columns that are left out where there is little room."""
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


def table(rows: Iterable[Mapping[str, str]], details: Collection[str] = ()) -> Grid:
    """Return a table of rows that all have the same heads."""
    rows = list(rows)
    return Grid(tuple(rows[0]) if rows else (), [tuple(row.values()) for row in rows], details)


def with_columns(grid: Grid, wanted: Callable[[str, Sequence[str]], bool]) -> Grid:
    """Return a table with those of its columns that are wanted by their head and their cells."""
    kept = [place for place, head in enumerate(grid.head) if wanted(head, [row[place] for row in grid.rows])]
    head, *rows = ([line[place] for place in kept] for line in (grid.head, *grid.rows))
    return grid._replace(head=head, rows=rows)


def section(title: str, *blocks: Block, detail: bool = False) -> Section:
    """Return a section of the blocks and columns that hold something; a section of notes alone holds nothing."""
    filled = [
        with_columns(block, lambda _head, cells: any(cells)) if isinstance(block, Grid) else block
        for block in blocks
        if (block.rows if isinstance(block, Grid) else block[0])
    ]
    drawn = any(isinstance(block, Chart) for block in filled)
    kept = [block for block in filled if drawn or "drawn" not in getattr(block, "style", "")]
    empty = all(isinstance(block, Text) and block.style.startswith("note") for block in kept)
    return Section(title, [] if empty else kept, detail)


def written(drawn: Section) -> Sequence[Block]:
    """Return the blocks of a section that are left without its charts."""
    return section(drawn.title, *(block for block in drawn.blocks if not isinstance(block, Chart))).blocks


def brief(document: Document) -> Document:
    """Return a document without its details, as a terminal shows it."""

    def narrow(block: Block) -> Block:
        if not isinstance(block, Grid):
            return block
        details = block.details
        return with_columns(block, lambda head, _cells: head not in details)

    kept = [one._replace(blocks=[*map(narrow, one.blocks)]) for one in document.sections if not one.detail]
    return document._replace(sections=kept)
