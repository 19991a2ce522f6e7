# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must hold of a summary whatever hosts, tasks and messages are called."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.plugin_utils.summary.table import NARROWEST, render
from ansible_collections.taco.train.plugins.plugin_utils.summary.tally import Outcome, message
from ansible_collections.taco.train.plugins.plugin_utils.text import cells, plain, wrapped

NAMES = st.text(min_size=1, max_size=40)
WORDS = st.lists(NAMES, max_size=4).map(tuple)
OUTCOMES = st.lists(st.builds(Outcome, NAMES, WORDS, WORDS, NAMES, st.text(max_size=300)), max_size=40)
WIDTHS = st.integers(1, 200)


@given(OUTCOMES, WIDTHS, st.booleans())
def test_no_line_is_wider_than_the_terminal(outcomes, width, check):
    for line in render(outcomes, width, check):
        assert cells(line.text) <= max(width, NARROWEST)
        assert not {unicodedata.category(character) for character in line.text} & {"Cc", "Cf", "Zl", "Zp"}


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=30, unique=True), WIDTHS)
def test_every_host_is_named_or_counted(hosts, width):
    shown = render([Outcome(host) for host in hosts], 200)
    assert [line.text.split("  ")[0] for line in shown[4:]] == hosts


@given(st.text(max_size=200), st.integers(2, 60))
def test_wrapping_loses_nothing_and_never_exceeds_the_width(text, width):
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == plain(text).replace(" ", "")
    assert all(cells(line) <= width for line in lines)


@given(st.dictionaries(st.sampled_from(["msg", "stderr", "censored", "exception"]), st.text() | st.lists(st.text())))
def test_a_message_is_one_line_and_never_empty(result):
    assert message(result) and "\n" not in message(result)
