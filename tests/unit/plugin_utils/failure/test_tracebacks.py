# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which exception of a chain is its cause."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.failure.tracebacks import BEGIN, DIRECT, HANDLING, secondary
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import tagged_lines

FRAME = '  File "a.py", line 1, in <module>\n    call()\n'


def chain(*parts):
    return "".join(f"\n{part}\n\n" if part in (HANDLING, DIRECT) else f"{BEGIN}\n{FRAME}{part}\n" for part in parts)


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        (chain("ValueError: a"), ["ValueError: a"]),
        (chain("KeyError: 'a'", HANDLING, "ValueError: b"), ["ValueError: b"]),
        (chain("RuntimeError: a", HANDLING, "AttributeError: b"), ["RuntimeError: a"]),
        (chain("ImportError: a", DIRECT, "RuntimeError: b"), ["ImportError: a"]),
        (chain("_queue.Empty", DIRECT, "RuntimeError: b"), ["RuntimeError: b"]),
        (chain("KeyError: 'a'", HANDLING, "KeyError: 'b'", HANDLING, "OSError: c"), ["OSError: c"]),
        (chain("OSError: a", DIRECT, "ValueError: b", DIRECT, "TypeError: c"), ["OSError: a"]),
        (chain("OSError: a") + chain("ValueError: b"), ["OSError: a", "ValueError: b"]),
        (
            f"{BEGIN}\n{FRAME}OSError: Caught OSError in DataLoader worker process 0.\nOriginal {BEGIN}\n{FRAME}OSError: a\n",
            ["OSError: a"],
        ),
    ],
)
def test_the_cause_of_a_chain(text, causes):
    lines = tagged_lines(text)
    without = secondary(lines)
    assert [
        line.text
        for number, line in enumerate(lines)
        if number not in without and line.text[:1].isalpha() and "Error" in line.text
    ] == causes


def test_each_rank_has_its_own_chains():
    first, second = chain("KeyError: 'a'", HANDLING, "ValueError: b").splitlines(), chain("OSError: c").splitlines()
    lines = [f"[1,0]<stderr>:{line}" for line in first]
    for place, line in enumerate(second):
        lines.insert(2 * place + 1, f"[1,1]<stderr>:{line}")
    tagged = tagged_lines("\n".join(lines))
    without = secondary(tagged)
    assert {line.text for number, line in enumerate(tagged) if number in without and "Error" in line.text} == {
        "KeyError: 'a'"
    }
