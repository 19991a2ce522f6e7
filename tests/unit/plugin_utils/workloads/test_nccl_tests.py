# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of nccl-tests, in each of the layouts that they have had, and the JSON of the newest."""

import json
from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_tests import parse

FOLDER = Path(__file__).parents[3] / "fixtures/benchmarks"
OLD, MIDDLE, NEW, JSON = (
    (FOLDER / f"nccl_tests_{version}.txt").read_text() for version in ("2_11", "2_13", "2_18", "2_18.json")
)


def row(**changes):
    return dict(
        {
            "size": 1048576,
            "count": 262144,
            "type": "float",
            "redop": "sum",
            "root": "-1",
            "out_of_place": {"time_us": 188.4, "algbw": 5.57, "busbw": 8.35, "wrong": 0.0},
            "in_place": {"time_us": 187.9, "algbw": 5.58, "busbw": 8.37, "wrong": 0.0},
        },
        **changes,
    )


@pytest.mark.parametrize("text", [MIDDLE, NEW, MIDDLE.replace("\n", "\r\n")], ids=["2.13", "2.18", "CRLF"])
def test_a_table_of_13_columns(text):
    found = parse(text, expected_ranks=4)
    assert (found["problems"], found["value"], found["unit"], found["ranks"]) == ([], 11.23, "GB/s", 4)
    assert (found["device"], found["iterations"], found["series"]) == ("GPU", [], [])
    assert found["details"]["rows"][0] == row()
    assert [entry["size"] for entry in found["details"]["rows"]] == [1048576, 2097152, 4194304]
    assert (found["details"]["out_of_bounds"], found["details"]["from_json"]) == (0, False)


def test_a_table_of_12_columns_has_no_root_and_an_error_instead_of_a_count():
    found = parse(OLD, expected_ranks=4)
    assert (found["problems"], found["value"], found["network"]) == ([], 11.23, "HARP")
    first = found["details"]["rows"][0]
    assert "root" not in first
    assert first["out_of_place"] == {"time_us": 188.4, "algbw": 5.57, "busbw": 8.35, "wrong": 4e-07}


def test_what_was_not_checked_is_no_number():
    text = MIDDLE.replace("5.58    8.37      0", "5.58    8.37    N/A")
    assert parse(text, expected_ranks=4)["details"]["rows"][0]["in_place"]["wrong"] is None


def test_a_test_that_only_runs_in_place_leaves_the_first_columns_empty():
    text = MIDDLE.replace("   188.4    5.57    8.35      0", " " * 31)
    first = parse(text, expected_ranks=4)["details"]["rows"][0]
    assert (first["out_of_place"], first["in_place"]) == (None, row()["in_place"])
    assert first["root"] == "-1"


def test_a_collective_without_an_operation_leaves_a_column_empty():
    text = MIDDLE.replace("     sum      -1", "                ")
    first = parse(text, expected_ranks=4)["details"]["rows"][0]
    assert (first["type"], first["out_of_place"]["busbw"], first["in_place"]["time_us"]) == ("float", 8.35, 187.9)
    assert "redop" not in first


def test_the_json_document_is_read_where_there_is_one():
    for found in (
        parse(NEW, expected_ranks=4, options={"json": JSON}),
        parse(NEW + "[1,0]<stdout>:" + JSON + "\nmore\n", expected_ranks=4),
        parse(JSON, expected_ranks=4),
    ):
        assert (found["problems"], found["value"], found["ranks"]) == ([], 11.231851, 4)
        assert found["details"]["from_json"] is True
        assert found["details"]["rows"][0] == row(
            out_of_place={"time_us": 188.4, "algbw": 5.571234, "busbw": 8.351851, "wrong": 0.0},
            in_place={"time_us": 187.9, "algbw": 5.581234, "busbw": 8.371851, "wrong": 0.0},
        )
        assert "env" not in found["details"]


@pytest.mark.parametrize("cut", ["#  Rank  1", "#  Rank  0"])
def test_the_highest_rank_tells_of_those_whose_lines_were_cut(cut):
    assert parse(MIDDLE.replace(cut, "#  Rang"), expected_ranks=4)["problems"] == []


def test_the_communicator_tells_of_ranks_that_the_list_lacks():
    text = (
        MIDDLE.replace("#  Rank  3", "#  Rang  3")
        + "gpu2:71:90 [1] NCCL INFO comm 0x55 rank 3 nranks 4 cudaDev 1 busId 50 - Init COMPLETE\n"
    )
    assert parse(text, expected_ranks=4)["problems"] == []


@pytest.mark.parametrize(
    "text", [JSON[:-40], "{}", "[]", "5", "[" * 100000, "null", '{"version":1,"results":5,"end_time":1}']
)
def test_a_document_that_is_not_whole_is_left_for_the_table(text):
    found = parse(NEW, expected_ranks=4, options={"json": text})
    assert (found["problems"], found["value"], found["details"]["from_json"]) == ([], 11.23, False)


def json_with(**changes):
    return json.dumps(dict(json.loads(JSON), **changes), separators=(",", ":"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"out_of_bounds": {"count": 3, "okay": "false"}}, "3 values are out of bounds"),
        ({"out_of_bounds": None}, "'Out of bounds values' is missing"),
        ({"average_bus_bandwidth": {"bandwidth": "nan", "okay": "unchecked"}}, "not a usable number"),
        ({"average_bus_bandwidth": {"bandwidth": 1.0, "okay": "false"}}, "NCCL_TESTS_MIN_BW"),
        ({"average_bus_bandwidth": None}, "did not finish"),
        ({"config": {"devices": [{"rank": 0}]}}, "4 ranks were started and 1 took part"),
        ({"results": []}, "an average and no size"),
    ],
)
def test_what_the_document_says_against_itself(changes, said):
    found = parse("", expected_ranks=4, options={"json": json_with(**changes)})
    assert any(said in problem for problem in found["problems"]), found["problems"]
    assert found["value"] is None


ALONE = "".join(line for line in MIDDLE.splitlines(True) if "Rank  1" not in line and "Rank  2" not in line)
ALONE = "".join(line for line in ALONE.splitlines(True) if "Rank  3" not in line)
PROBLEMS = {
    "nothing": ("", "no size was printed"),
    "wrong data": (MIDDLE.replace("values : 0 OK", "values : 12 FAILED"), "12 values are out of bounds"),
    "no word about the data": (MIDDLE.replace("# Out of", "# In"), "'Out of bounds values' is missing"),
    "below the least": (MIDDLE.replace("10.025 ", "10.025 FAILED"), "NCCL_TESTS_MIN_BW asks for (FAILED)"),
    "nan": (MIDDLE.replace("10.025", "-nan"), "average bus bandwidth is not a usable number"),
    "inf": (MIDDLE.replace("10.025", "inf"), "average bus bandwidth is not a usable number"),
    "zero": (MIDDLE.replace("10.025", "0"), "average bus bandwidth is not a usable number"),
    "no table": ("".join(MIDDLE.splitlines(True)[:9]) + MIDDLE[MIDDLE.index("# Out of") :], "an average and no size"),
    "no header": (MIDDLE.replace("busbw", "bw"), "an average and no head of the table"),
    "fewer ranks": (MIDDLE.replace("#  Rank  3", "#  Rang  3"), "4 ranks were started and 3 took part"),
    "alone, without a head": (
        "\n".join(line for line in MIDDLE.splitlines() if line[:1] == " ") * 2
        + "\n"
        + MIDDLE[MIDDLE.index("# Out of") :].replace("10.025", "0"),
        "Several ranks each ran a test of their own: build nccl-tests with MPI=1",
    ),
    "no ranks": (MIDDLE.replace("#  Rank", "#  Rang"), "doesn't say which ranks took part"),
    "each rank alone": (ALONE * 4, "4 ranks each ran a test of their own: build nccl-tests with MPI=1"),
    "two runs": (MIDDLE * 2, "2 lines 'Avg bus bandwidth'"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_makes_numbers_unfit_is_said(name):
    text, said = PROBLEMS[name]
    found = parse(text, expected_ranks=4)
    assert any(said in problem for problem in found["problems"]), found["problems"]
    assert found["value"] is None


def test_it_never_runs_on_cpus():
    assert "ran on GPU where CPU was expected" in parse(NEW, expected_ranks=4, device="CPU")["problems"][0]


def table_of(*bandwidths):
    """Return the text of a test with one size for each bandwidth, from 8 bytes on."""
    head, rows, tail = MIDDLE[: MIDDLE.index("     1048576")], [], MIDDLE[MIDDLE.index("# Out of bounds") :]
    for place, busbw in enumerate(bandwidths):
        rows.append(
            f" {8 << place}  {2 << place}  float  sum  -1  10.0  {busbw:.2f}  {busbw:.2f}  0  10.0  {busbw:.2f}  {busbw:.2f}  0\n"
        )
    average = sum(bandwidths) / len(bandwidths)
    return head + "".join(rows) + tail.replace("10.025", f"{average:.3f}")


def test_the_value_is_the_bandwidth_at_the_largest_size_and_not_the_average_over_all_sizes():
    # A perfect network of 12.5 GB/s: small messages are bound by latency.
    found = parse(table_of(0.01, 0.02, 0.08, 0.3, 1.1, 3.4, 7.2, 10.8, 12.1, 12.5), expected_ranks=4)
    assert (found["problems"], found["value"], found["details"]["average"]) == ([], 12.5, pytest.approx(4.751))


def test_a_largest_size_without_bandwidth_is_no_value():
    found = parse(table_of(*[1.0] * 20, 0.0), expected_ranks=4)
    assert found["value"] is None and found["problems"] == ["The output holds no usable number."]


@pytest.mark.parametrize(
    ("binary", "value"), [("all_reduce_perf", 0.0024), ("/opt/all_gather_perf", 0.0012), ("sendrecv_perf", 0.0016)]
)
def test_messages_of_some_bytes_have_the_bandwidth_of_their_size_and_time_where_the_table_rounds_it_to_zero(
    binary, value
):
    found = parse(table_of(0.0, 0.0), expected_ranks=4, options={"binary": binary})
    assert (found["problems"], found["value"]) == ([], value)


def test_messages_of_some_bytes_in_an_unknown_test_have_no_bandwidth():
    assert parse(table_of(0.0, 0.0), expected_ranks=4, options={"binary": "my_perf"})["value"] is None
