# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of a comparison, for a spreadsheet."""

import csv
import io

import compared
import pytest

from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_csv


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_line_for_each_run():
    lines = comparison_csv.runs(compared.comparison()).splitlines()
    assert lines[:3] == [
        "case,arm,repeat,warmup,value,unit,ranks,nodes,batch_size,record,outcome",
        f"{compared.VGG},zebra,0,true,100.0,images/s,4,2,8,a0,ok",
        f"{compared.VGG},zebra,1,false,101.0,images/s,4,2,8,a1,ok",
    ]
    assert lines[4] == f"{compared.VGG},zebra,3,false,,images/s,4,2,8,a3,failed"
    assert len(lines) == 1 + 5 * 3 + 1


def test_a_failed_run_that_no_block_holds_has_a_line_too_and_no_other_twice():
    found = compared.comparison()
    found["failures"].append({"record": "z9", "arm": "tcp", "case": compared.RESNET, "problems": ["x"], "log": "l"})
    found["failures"].append({"record": "z10", "arm": "tcp", "case": "of nobody", "problems": ["x"], "log": "l"})
    lines = comparison_csv.runs(found).splitlines()
    assert lines[-2:] == [
        f"{compared.RESNET},tcp,,,,images/s,4,2,8,z9,failed",
        "of nobody,tcp,,,,,,,,z10,failed",
    ]
    assert len({row["record"] for row in rows("\n".join(lines))}) == len(lines) - 1


def test_a_value_of_a_failed_run_is_not_written():
    found = compared.comparison()
    found["failures"][0]["record"] = "a1"
    row = rows(comparison_csv.runs(found))[1]
    assert (row["record"], row["value"], row["outcome"]) == ("a1", "", "failed")


def test_a_line_for_each_iteration():
    lines = comparison_csv.iterations(compared.comparison()).splitlines()
    assert lines[0] == "case,arm,repeat,warmup,iteration,value,unit,record,kind"
    assert lines[3:5] == [
        f"{compared.VGG},zebra,1,false,0,100.0,images/s,a1,iteration",
        f"{compared.VGG},zebra,1,false,1,102.0,images/s,a1,iteration",
    ]
    assert len(lines) == 1 + 5 * 3 * 2


@pytest.mark.parametrize("evil", ["=1+1", "+x", "-x", "@x", "\tx", "\nx"])
def test_no_text_is_a_formula(evil):
    found = compared.comparison()
    found["cases"][0]["unit"] = evil
    assert rows(comparison_csv.runs(found))[0]["unit"] == "'" + evil


@pytest.mark.parametrize("text", ['a,"b"', "a\nb", "<script>", "a|b"])
def test_a_text_comes_back_as_it_was(text):
    found = compared.comparison()
    found["cases"][0]["unit"] = text
    assert rows(comparison_csv.iterations(found))[0]["unit"] == text


def test_a_carriage_return_does_not_end_a_line():
    found = compared.comparison()
    found["cases"][0]["unit"] = "a\rb"
    assert rows(comparison_csv.runs(found))[0]["unit"] == "a\nb"


def test_a_negative_number_stays_a_number():
    found = compared.comparison()
    found["cases"][0]["arms"][0]["runs"][0]["value"] = -1.5
    assert rows(comparison_csv.runs(found))[0]["value"] == "-1.5"
