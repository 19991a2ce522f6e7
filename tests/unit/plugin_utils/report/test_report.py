# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table and the page: what they say, and that nothing in a record can change what they are."""

import re
import shlex
from xml.etree import ElementTree

import pytest
from page import Page

from ansible_collections.taco.train.plugins.plugin_utils.report import chart as report_svg
from ansible_collections.taco.train.plugins.plugin_utils.report import run_page, run_table

ARGV = [
    *("docker", "exec", "taco-train", "timeout", "-k", "10", "60", "/usr/local/openmpi/bin/mpirun", "-np", "4"),
    *("-x", "A=b c", "python3", "/mnt/s.py", "--model=ResNet50"),
]
EVIL = "<script>alert('x')</script>|`\"&"


def record(**changes):
    good = {
        "schema": 1,
        "id": "20260131T120000Z-taco-abc123",
        "run": "run-1",
        "time": "2026-01-31T12:00:00.000000Z",
        "outcome": "ok",
        "timed_out": False,
        "arm": "taco",
        "workload": "horovod_synthetic",
        "parameters": {"model": "ResNet50", "batch_size": 256, "launcher": "gpu1"},
        "argv": ARGV,
        "hosts": [{"name": "gpu1", "slots": 2}, {"name": "gpu2", "slots": 2}],
        "ranks": 4,
        "duration_s": 61.25,
        "result": {
            "value": 412.3,
            "unit": "images/s",
            "higher_is_better": True,
            "series": [408.0, 416.6],
            "spread": {
                **{"count": 2, "low": 408.0, "p5": 408.4, "p50": 412.3, "p95": 416.2, "high": 416.6, "stalls": 0},
                "step_time": None,
            },
            "details": {},
            "model": "ResNet50",
            "batch_size": 256,
            "device": "GPU",
            "iterations": [102.0, 104.2],
            "per_device": {"mean": 103.1, "ci": 2.2},
            "total": {"mean": 412.3, "ci": 8.6},
        },
        "problems": [],
        "notes": ["top-k is lossy."],
        "lab": False,
        "network": "HARP",
        "log": "logs/one.log",
        "system": {
            "gpu1": {
                "hostname": "gpu1",
                "os": "Debian 12",
                "kernel": "6.1",
                "cpus": 96,
                "memory_bytes": 96 * (1 << 30),
                "hugepages": [{"size_bytes": 1 << 30, "total": 20}, {"size_bytes": 2 << 20, "total": 0}],
                "gpus": 2,
                "gpu_names": ["V100"],
                "driver": None,
                "engine": "docker 24",
                "interfaces": ["eth0", "eth1"],
            },
            "gpu2": None,
        },
    }
    return dict(good, **changes)


def broken(**changes):
    return record(
        **dict({"outcome": "failed", "result": None, "problems": ["It broke."], "log": "logs/two.log"}, **changes)
    )


VERDICT = {
    "summary": {"pass": 7, "fail": 0, "warn": 1, "skip": 2, "hosts": 1},
    "hosts": {
        "gpu1": {
            "checks": [
                {"id": "eni.count", "status": "pass", "expected": "2", "found": "2", "fix": None},
                {"id": "disk.free", "status": "warn", "expected": "50 GiB", "found": "40 GiB", "fix": "make room"},
            ]
        }
    },
    "fleet": [],
}


@pytest.mark.parametrize(
    ("records", "number", "words"),
    [
        ([], None, "No benchmark was run."),
        (
            [record()],
            "412.3",
            "images/s over 2 nodes x 2 ranks (arm taco: LightCC and HARP; ResNet50, batch size 256, on GPUs).",
        ),
        ([record(hosts=[{"name": "a", "slots": 1}], ranks=1)], "412.3", "images/s over 1 node x 1 rank "),
        (
            [record(hosts=[{"name": "a", "slots": 1}, {"name": "b", "slots": 3}])],
            "412.3",
            "images/s over 2 nodes, 4 ranks ",
        ),
        ([record(), broken()], "412.3", "1 of 2 runs failed."),
        ([broken()], None, "No result: the run failed. It broke."),
        ([broken(), broken()], None, "No result: all 2 runs failed."),
    ],
)
def test_the_first_sentence(records, number, words):
    found = run_table.headline(records)
    assert found[0] == number and words in found[1]


def test_the_newest_good_run_is_the_number():
    newer = record(result=dict(record()["result"], value=500.0))
    assert run_table.headline([record(), newer, broken()])[0] == "500.0"


def test_the_table():
    assert run_table.render([record(), broken(network=None)], VERDICT, ["Line 3 is cut."], "Title") == (
        "# Title\n"
        "\n"
        "**412.3** images/s over 2 nodes x 2 ranks (arm taco: LightCC and HARP; ResNet50, batch size 256, on GPUs). "
        "1 of 2 runs failed.\n"
        "\n"
        "| Outcome | Value | Unit     | 5 % to 95 %    | Stalls | Arm  | Measured                 | Nodes | Ranks | Network      |\n"
        "| ------- | ----: | -------- | -------------- | -----: | ---- | ------------------------ | ----: | ----: | ------------ |\n"
        "| ok      | 412.3 | images/s | 408.4 to 416.2 |      0 | taco | ResNet50, batch size 256 |     2 |     4 | HARP         |\n"
        "| failed  |  none |          | none           |   none | taco | ResNet50, batch size 256 |     2 |     4 | not reported |\n"
        "\n"
        "- Value: the median of the iterations, over all devices; higher is better.\n"
        "- Per device: 103.1 images/s.\n"
        "- 2 iterations from 408.0 to 416.6 images/s; percentiles: 5th 408.4, 50th 412.3, 95th 416.2.\n"
        "- Stalls (iterations that took at least 1.5 times the median time): 0.\n"
        "- The script's own summary, for comparison: 412.3 ± 8.6 images/s (mean ± 1.96 standard deviations).\n"
        "- Log: logs/one.log\n"
        "- Failed, logs/two.log: It broke.\n"
        "- Note: top-k is lossy.\n"
        "- Line 3 is cut.\n"
        "- Preflight of 1 host: 7 passed, 0 failed, 1 warned, 2 skipped.\n"
    )


@pytest.mark.parametrize("text", ["a|b", "a\nb", "<b>", "a\\|b"])
def test_a_cell_of_the_table_stays_one(text):
    lines = run_table.render([record(network=text)]).splitlines()
    (row,) = [line for line in lines if line.startswith("| ok")]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == len(run_table.heads([])) + 1
    assert "<" not in row


def test_pods_are_counted_as_workers():
    text = run_table.render([record(placement={"w-0": "gpu1", "w-1": "gpu1"})])
    assert "over 2 workers x " in text and " Workers |" in text and "ode" not in text.partition("\n| ")[0]
    assert "Workers" in run_page.render([record(placement={"w-0": "gpu1"})])


def test_a_lab_says_so_first_in_the_table_and_on_the_page():
    assert run_table.render([record(lab=True)]).splitlines()[2].startswith("**LAB")
    page = run_page.render([record(lab=True)])
    assert page.index('class="lab"') < page.index("412.3")
    assert "LAB" not in run_table.render([record()]) and 'class="lab"' not in run_page.render([record()])


def test_the_page_says_everything():
    text = Page(run_page.render([record(), broken()], VERDICT, ["Line 3 is cut."], "Title", "run-1")).text
    for words in (
        "412.3 images/s over 2 nodes x 2 ranks",
        "It broke.",
        "logs/two.log",
        "top-k is lossy.",
        "Line 3 is cut.",
        "gpu1 Debian 12 6.1 96 96.0 GiB 20 x 1 GiB, 0 x 2 MiB 2 (V100) not known docker 24 eth0, eth1",
        "gpu2 not known",
        "warn gpu1 disk.free 50 GiB 40 GiB make room",
        "Preflight of 1 host: 7 passed",
        "On gpu1, as root:",
        "Run run-1.",
    ):
        assert words in text, words
    assert "eni.count" not in text


def test_the_page_needs_nothing_beside_it_and_runs_nothing():
    page = run_page.render([record(), broken()], VERDICT)
    parsed = Page(page)
    assert set(parsed.links) == {"logs/two.log"}
    assert not {"script", "link", "img", "iframe"} & set(parsed.tags)
    assert "url(" not in page and "@import" not in page and "http" not in page


def test_what_a_record_holds_stays_text():
    evil = record(
        arm=EVIL,
        network=EVIL,
        notes=[EVIL],
        id=EVIL,
        time=EVIL,
        argv=[EVIL],
        hosts=[{"name": EVIL, "slots": 1}],
        parameters={"model": EVIL, "batch_size": EVIL, "launcher": EVIL},
        system={EVIL: {"os": EVIL, "gpu_names": [EVIL], "interfaces": [EVIL]}},
    )
    evil["result"].update(device=EVIL, unit=EVIL)
    verdict = {
        "summary": {"fail": 1},
        "hosts": {EVIL: {"checks": [{"id": EVIL, "status": "fail", "expected": EVIL, "found": EVIL, "fix": EVIL}]}},
    }
    records = [evil, broken(problems=[EVIL], log=EVIL, id=EVIL)]
    page = run_page.render(records, verdict, [EVIL], EVIL, EVIL)
    assert "<script" not in page
    assert "script" not in Page(page).tags
    assert Page(page).text.count("<script>alert('x')</script>|`\"&") >= 10
    assert "<script" not in run_table.render(records, verdict, [EVIL], EVIL)


@pytest.mark.parametrize("records", [[], [record()], [broken()], [broken(system={}, duration_s=None)]])
@pytest.mark.parametrize("verdict", [None, {}, VERDICT])
def test_whatever_is_missing_the_page_is_whole(records, verdict):
    page = run_page.render(records, verdict)
    assert Page(page).tags.count("h1") == 1
    assert "None" not in page


def test_the_command_can_be_pasted():
    shown = run_page.command_lines(ARGV)
    assert shlex.split(shown.replace("\\\n", "")) == ARGV
    assert shown.splitlines()[0] == "docker exec taco-train timeout -k 10 60 /usr/local/openmpi/bin/mpirun \\"
    assert "  -x 'A=b c' \\" in shown.splitlines()


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([100.0], report_svg.Level(100.0)),
        ([100.0, 100.1], report_svg.Level(100.05, 100.0, 100.1)),
        ([0.0, 0.0], report_svg.Level(0.0, 0.0, 0.0)),
        ([1.0, 100000.0], report_svg.Level(50000.5, 1.0, 100000.0)),
        ([float(number) for number in range(1, 200)], report_svg.Level(100.0, 10.0, 190.0)),
    ],
)
def test_each_iteration_is_a_point_within_the_chart(values, level):
    chart = ElementTree.fromstring(report_svg.iterations_chart(values, level, "images/s of <all>"))
    points = chart.findall("circle")
    assert len(points) == len(values)
    for place in [(float(point.get("cx")), float(point.get("cy"))) for point in points]:
        assert report_svg.LEFT <= place[0] <= report_svg.WIDTH - report_svg.RIGHT
        assert report_svg.TOP - 0.1 <= place[1] <= report_svg.HEIGHT - report_svg.BOTTOM + 0.1
    heights = [-float(point.get("cy")) for point in points]
    assert sorted(heights) == [height for _value, height in sorted(zip(values, heights))]
    bands = chart.findall("rect")
    assert len(bands) == (level.low is not None) and all(float(band.get("height")) >= 0 for band in bands)
    assert points[0].find("title").text == f"iteration 0: {values[0]:.4g} images/s of <all>"


def test_small_differences_are_not_blown_up():
    low, high, ticks = report_svg.scale([100.0, 100.1], 100.05)
    assert high - low >= 10 and low <= 100 <= high
    assert ticks == sorted(ticks) and 3 <= len(ticks) <= 7


def test_no_iterations_no_chart():
    assert report_svg.iterations_chart([], report_svg.Level(1.0), "images/s") == ""
