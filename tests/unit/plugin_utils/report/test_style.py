# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everybody can read a page: light, dark and on paper."""

import re

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.report.document import Document
from ansible_collections.taco.train.plugins.plugin_utils.report.render import html

PALETTES = [
    dict(re.findall(r"--([\w-]+): (#\w+);", palette))
    for palette in re.findall(r"(?s):root \{(.*?)\}", html(Document("Title", [], [], [], "")))
]
# WCAG 2.1, 1.4.3, level AA.
LEAST_CONTRAST = 4.5


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", PALETTES, ids=["light", "dark", "paper"])
def test_every_colour_of_text_and_of_an_arm_stands_out_from_its_background(palette):
    pairs = {(name, "paper") for name in ("ink", "soft", "accent", "good", "bad", "warn")}
    pairs |= {(name, "panel") for name in ("ink", "good", "bad")} | {("lab-ink", "lab")}
    pairs |= {(name, "paper") for name in palette if name.startswith("arm-")}
    low = {pair: contrast(*map(palette.get, pair)) for pair in sorted(pairs)}
    assert len(pairs) == 16 and {pair: found for pair, found in low.items() if found < LEAST_CONTRAST} == {}
