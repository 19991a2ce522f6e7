# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import shutil
import subprocess

import pytest

from ansible_collections.taco.train.plugins.module_utils._boot.shell_assignments import (
    ShError,
    append_words,
    assignments,
    edit_words,
    evaluate,
    has_substitution,
)

# What the generator of the property tests does not write.
TEXTS = {
    "indented": '  A="one"\n',
    "export": 'export A="one"\n',
    "continued outside quotes": "A=one\\\ntwo\n",
    "quote over two lines": 'A="one\ntwo"\n',
    "parts side by side": "A=\"one\"' two'three\n",
    "escaped quote": 'A="one \\"two\\""\n',
    "escaped dollar": 'A="one \\$B"\n',
    "backslash kept": 'A="one \\n two"\n',
    "semicolon": 'B=x; A="one"\n',
    "after a command": 'echo "A=no" # A=no\nA=one\n',
    "hash inside": 'A="one#two"\n',
}


def test_a_text_means_what_a_shell_says():
    script = "".join(f'(\n{text}\nprintf "%s|%s\\0" "$A" "$B"\n)\n' for text in TEXTS.values())
    answer = subprocess.run([shutil.which("bash"), "-c", script], stdout=subprocess.PIPE, check=True).stdout.decode()
    for (what, text), shown in zip(TEXTS.items(), answer.split("\0")):
        values = evaluate(assignments(text), ["A", "B"])
        assert f"{values['A']}|{values['B']}" == shown.replace("A=no\n", ""), what


def test_files_are_sourced_one_after_the_other():
    assert evaluate(assignments('A="one"\n') + assignments('A="$A two"\n'), ["A"]) == {"A": "one two"}


def test_carriage_returns_end_a_value():
    (found,) = assignments('A="one"\r\n')
    assert found.raw == '"one"'


@pytest.mark.parametrize("text", ['A="one\n', "A='one", "A=$(one"])
def test_an_open_quote_is_refused_with_its_line(text):
    with pytest.raises(ShError, match="line 2"):
        assignments("B=1\n" + text)


@pytest.mark.parametrize(
    "raw, expected",
    [("`date`", True), ('"a $(date)"', True), ("'$(date)'", False), ('"a \\`b"', False), ('"$A"', False)],
)
def test_command_substitution_is_seen(raw, expected):
    assert has_substitution(raw) is expected


def remove(*places):
    return lambda words: dict.fromkeys(places)


@pytest.mark.parametrize(
    "raw, places, expected",
    [
        ('"a b c"', [1], '"a c"'),
        ('"a b c"', [0], '"b c"'),
        ('"a b c"', [2], '"a b"'),
        ("'a  b\tc'", [1], "'a\tc'"),
        ('"a"', [0], '""'),
        ("a", [0], ""),
        ('"a \\\n b c"', [1], '"a \\\n c"'),
        ("\"a b\"'c d'", [2], "\"a b\"'d'"),
        ('"a b c"', [0, 1, 2], '""'),
    ],
)
def test_words_are_removed_with_the_space_before_them(raw, places, expected):
    assert edit_words(raw, remove(*places)) == expected


def test_a_value_with_a_command_in_it_is_not_edited():
    assert edit_words('"$(x) a"', remove()) == '"$(x) a"'
    with pytest.raises(ShError, match="by hand"):
        edit_words('"$(x) a"', remove(1))


@pytest.mark.parametrize(
    "raw, expected",
    [
        ('"a"', '"a x y"'),
        ("'a'", "'a x y'"),
        ('""', '"x y"'),
        ('"a "', '"a x y"'),
        ("", '"x y"'),
        ("a", '"a x y"'),
        ("$A", '$A" x y"'),
        ("\"a\"'b'", '"a"\'b\'" x y"'),
    ],
)
def test_words_are_added_inside_the_quotes(raw, expected):
    assert append_words(raw, ["x", "y"]) == expected
    before, after = (evaluate(assignments(f"A=1\nV={text}\n"), ["V"])["V"].split() for text in (raw, expected))
    assert after == before + ["x", "y"]
