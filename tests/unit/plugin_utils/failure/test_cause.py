# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tables of causes as texts."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import IMAGE, NODE, cause, table

TEXT = r"""
# A comment.
first
  pattern <<BEGIN>>one
          |two:[ ]
  found   a host is
          at fault ({why})
  fix     <<IMAGE>>
another
  pattern x
  found   x
  fix     x
  near    ^y
  fields  <<NODE>>; why: error, error message
  context z
"""


def test_a_table_has_a_cause_for_each_name():
    assert table(TEXT, BEGIN="^") == [
        cause("first", "^one|two:[ ]", "a host is at fault ({why})", IMAGE),
        cause("another", "x", "x", "x", "^y", f"{NODE}; why: error, error message", "z"),
    ]


def test_fields_are_the_names_of_each_group():
    assert cause("x", "x", "x", "x", fields="host: node; why: error, error message").fields == {
        "host": ("node",),
        "why": ("error", "error message"),
    }


@pytest.mark.parametrize(
    "row", ["  pattern <<ABSENT>>\n  found   x\n  fix     x", "  patern  x\n  found   x\n  fix     x", "  pattern x"]
)
def test_a_mistake_in_a_table_is_an_error(row):
    with pytest.raises((KeyError, TypeError)):
        table(f"x\n{row}\n")
