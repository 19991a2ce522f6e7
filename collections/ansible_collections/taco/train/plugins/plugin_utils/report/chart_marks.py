# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The marks that the drawings of a comparison are made of.

Colour is never alone: arms also differ by the shape of their points.
"""

from html import escape
from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.report.chart import LEFT, text

# Arms beyond these share a colour with another arm, but not the shape: six and four have 12 combinations.
COLOURS, SHAPES = 6, 4
LEGEND_LINE = 16


def titled(content: str, title: str) -> str:
    """Return a part of a drawing with the words that a pointer or a screen reader gets."""
    return f"<g><title>{escape(title)}</title>{content}</g>"


def marker(number: int, x: float, y: float, size: float = 4.5, css: str = "") -> str:
    """Return the point of the arm with that number."""
    name = escape(f"mark arm-{number % COLOURS} {css}".strip())
    shape = number % SHAPES
    if shape == 0:
        return f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'
    corners = {
        1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        2: ((0, -1.2), (1.2, 1), (-1.2, 1)),
        3: ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    }[shape]
    points = " ".join(f"{x + size * 0.9 * dx:.1f},{y + size * 0.9 * dy:.1f}" for dx, dy in corners)
    return f'<polygon class="{name}" points="{points}"/>'


def legend(arms: Sequence[tuple[int, str]]) -> tuple[list[str], int]:
    """Return a line for each (number, name) of an arm with its point, and the height of all of them."""
    parts = []
    for place, (number, name) in enumerate(arms):
        y = 12 + LEGEND_LINE * place
        parts += [marker(number, LEFT + 8, y - 4), text(LEFT + 20, y, name, "start", "row")]
    return parts, 12 + LEGEND_LINE * len(arms)


def line(css: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def thick_line(css: str, left: float, y: float, right: float) -> str:
    return f'<rect class="{css}" x="{left:.1f}" y="{y:.1f}" width="{max(right - left, 0.5):.1f}" height="9"/>'
