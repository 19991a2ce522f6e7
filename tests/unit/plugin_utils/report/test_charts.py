# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts: values stand where they belong, within the drawing, in the right order."""

import compared
import pytest
import recorded
from rendered import drawing, drawings, marked, of_comparison, of_runs

from ansible_collections.taco.train.plugins.plugin_utils.report import axes, charts, comparison_charts
from ansible_collections.taco.train.plugins.plugin_utils.report.axes import LEFT, RIGHT, WIDEST, WIDTH


def iterations(values, band=()):
    marks = [charts.Mark(place, value, f"iteration {place}: <{value:.4g}>") for place, value in enumerate(values)]
    bands = [charts.Band(*band, "band", "")] if band else []
    labels = {place: str(place) for place in range(len(values))}
    series = [charts.Series("", 0, marks, "")]
    return charts.lines(series, "images/s", "iteration", "<caption>", labels, bands=bands)


def with_ratios(*ratios):
    cases = compared.comparison()["cases"][:1]
    cases[0]["comparisons"] = [compared.against_base("harp", ratio, "better", 0, half=ratio / 10) for ratio in ratios]
    return compared.comparison(cases=cases)


def ends(line):
    return float(line.get("x1")), float(line.get("x2"))


@pytest.mark.parametrize(
    ("values", "band"),
    [
        ([100.0], ()),
        ([100.0, 100.1], (100.0, 100.1)),
        ([0.0, 0.0], (0.0, 0.0)),
        ([1.0, 100000.0], (1.0, 100000.0)),
        ([float(number) for number in range(1, 200)], (10.0, 190.0)),
    ],
)
def test_each_value_is_a_point_within_the_chart_and_higher_where_it_is_larger(values, band):
    chart = drawing(iterations(values, band))
    points = list(chart.iter("circle"))
    height = float(chart.get("viewBox").split()[3])
    assert len(points) == len(values)
    for place in points:
        assert LEFT <= float(place.get("cx")) <= WIDTH - RIGHT and 0 < float(place.get("cy")) < height
    heights = [-float(point.get("cy")) for point in points]
    assert sorted(heights) == [height for _value, height in sorted(zip(values, heights))]
    assert all(float(one.get("height")) >= 0 for one in marked(chart, "band"))
    assert next(chart.iter("title")).text == f"iteration 0: <{values[0]:.4g}>"


def test_small_differences_are_not_blown_up():
    axis = axes.linear([100.0, 100.1], 100.05)
    ticks = [tick for tick, _words in axis.ticks]
    assert ticks[-1] - ticks[0] >= 10 and 0 < axis.place(100.0) < axis.place(100.1) < 1
    assert ticks == sorted(ticks) and 3 <= len(ticks) <= 7


def test_without_a_value_there_is_no_chart():
    assert iterations([]) == iterations([float("nan"), float("inf")]) == []
    empty = compared.comparison(cases=[], scaling=[], bus_bandwidth=[])
    case = {"id": "x", "arms": [], "expected": []}
    one = dict(empty, cases=[case])
    assert comparison_charts.forest(empty) == comparison_charts.bus_bandwidth(empty) == []
    assert comparison_charts.strip(one, case) == comparison_charts.expected(one, case) == []
    assert comparison_charts.timeline(one, case, {}) == []


@pytest.mark.parametrize("ratios", [(1.01, 0.98), (2.1, 4.2), (0.05, 30.0), (1000.0,)])
def test_ratios_are_in_order_within_their_intervals_and_on_their_side_of_1(ratios):
    chart = drawing(comparison_charts.forest(with_ratios(*ratios)))
    points = [float(one.get("cx")) for one in chart.iter("circle")]
    assert len(points) == len(ratios)
    assert sorted(range(len(ratios)), key=ratios.__getitem__) == sorted(range(len(ratios)), key=points.__getitem__)
    intervals = [ends(one) for one in chart.iter("line") if one.get("class") == "verdict better"][::3]
    for place, (low, high) in zip(points, intervals):
        assert 0 <= low < place < high <= WIDTH
    (one,) = {ends(line)[0] for line in marked(chart, "one")}
    for ratio, place in zip(ratios, points):
        assert (place > one) == (ratio > 1)
    assert len(marked(chart, "no-effect")) == len(ratios)
    for band, name in zip(marked(chart, "no-effect"), marked(chart, "row")):
        assert float(band.get("y")) > float(name.get("y")), "no band behind a name"


@pytest.mark.parametrize("wide", [(0.2, 1.0), (0.9, 4.0), (1.0, 300.0), (0.001, 5000.0), (1e-5, 1e5)])
def test_a_wide_axis_has_a_readable_number_of_ticks_and_one_of_them_is_1(wide):
    axis = axes.ratios([*wide, 1.0])
    ticks = [tick for tick, _words in axis.ticks]
    assert axis.logarithmic and 3 <= len(ticks) <= 9 and ticks == sorted(ticks)
    assert 1 in [pytest.approx(tick) for tick in ticks]
    assert all(0 <= axis.place(tick) <= 1 for tick in ticks)
    assert axis.place(ticks[1]) - axis.place(ticks[0]) > 0


@pytest.mark.parametrize("ratio", [5e-324, 1e-12, 1e12, 1e17])
def test_a_ratio_beyond_sense_is_drawn_at_the_edge(ratio):
    chart = drawing(comparison_charts.forest(with_ratios(1.5, ratio)))
    middle, edge = (float(one.get("cx")) for one in chart.iter("circle"))
    assert 0 < edge < WIDTH and (edge > middle) == (ratio > 1)


def test_a_long_name_is_cut_but_its_mark_is_not():
    found = with_ratios(2.0)
    found["arms"] = [compared.arm("n" * 60, "", lossy=True)]
    found["cases"][0]["comparisons"][0]["arm"] = "n" * 60
    chart = drawing(comparison_charts.forest(found))
    assert [one.text for one in marked(chart, "row")] == ["n" * 35 + "… (lossy: top-k compression)"]
    assert any("n" * 60 + " (lossy" in one.text for one in chart.iter("title"))


def test_several_baselines_are_named_above_their_arms_and_one_beneath_the_axis():
    found = compared.comparison()
    said = [one.text for one in marked(drawing(comparison_charts.forest(found)), "label")]
    assert said == ["speed-up over tcp; linear axis"]
    found["cases"][0]["comparisons"][1]["baseline"] = compared.LOSSY
    chart = drawing(comparison_charts.forest(found))
    said = [one.text for one in chart.iter("text") if one.get("class") in ("group", "label", "row")]
    assert said[:6] == [
        *("VGG16", "speed-up over tcp", "zebra (lossy: top-k compression)"),
        *("VGG16", "speed-up over zebra (lossy: top-k compression)", "harp"),
    ]
    assert said[-1] == "speed-up; linear axis"


def test_every_run_is_a_column_of_its_iterations_and_a_line():
    found = compared.comparison()
    chart = drawing(comparison_charts.strip(found, found["cases"][0]))
    shapes = marked(chart, "mark small")
    assert len(shapes) == 3 * 3 * 2
    # A shape for each arm, so that colour is not alone: a circle, a square of four corners, a triangle of three.
    assert {one.get("class").split()[1]: (one.tag, len((one.get("points") or "").split())) for one in shapes} == {
        "arm-0": ("circle", 0),
        "arm-1": ("polygon", 4),
        "arm-2": ("polygon", 3),
    }
    assert len(marked(chart, "run")) == 9 and len(marked(chart, "run warmup")) == 3
    heights = [float(one.get("y1")) for one in marked(chart, "run arm-2")]
    assert heights == sorted(heights, reverse=True), "50, 51 and 52 images/s rise"


def test_means_over_all_steps_so_far_are_no_points():
    found = compared.comparison()
    case = dict(found["cases"][0], running_mean=True)
    assert marked(drawing(comparison_charts.strip(found, case)), "small") == []
    assert marked(drawing(comparison_charts.timeline(found, case, {})), "whisker") == []


def test_many_arms_make_the_drawing_wider_not_the_columns_narrower():
    found = compared.comparison()
    case = dict(found["cases"][0], arms=[compared.measured(f"arm{number}", "x", 10.0) for number in range(12)])
    chart = drawing(comparison_charts.strip(dict(found, arms=[], cases=[case]), case))
    assert WIDTH < float(chart.get("viewBox").split()[2]) <= WIDEST
    columns = sorted(ends(one) for one in marked(chart, "run"))
    assert len(columns) == 12 * 3 and all(low[1] < high[0] for low, high in zip(columns, columns[1:]))


def test_a_single_run_is_a_line_and_one_without_a_value_is_not_drawn():
    found = compared.comparison()
    alone = dict(compared.measured("tcp", "x", 10.0), runs=[compared.run("x1", 1, 11.0), compared.run("x2", 2, None)])
    case = dict(found["cases"][0], arms=[alone])
    (line,) = marked(drawing(comparison_charts.strip(dict(found, cases=[case]), case)), "run")
    assert ends(line)[1] - ends(line)[0] > 10


def test_many_runs_make_a_drawing_no_wider_than_a_page():
    found = compared.comparison()
    case = dict(found["cases"][0], arms=[compared.measured(f"arm{number}", "x", 10.0) for number in range(6)])
    for arm in case["arms"]:
        arm["runs"] = arm["runs"] * 8
    found.update(arms=[], cases=[case])
    for chart in (comparison_charts.strip(found, case), comparison_charts.timeline(found, case, {})):
        assert float(drawing(chart).get("viewBox").split()[2]) == WIDEST


def test_efficiency_falls_where_it_is_less_and_ranks_stand_as_far_apart_as_their_ratio():
    found = compared.comparison()
    lines = found["scaling"]
    lines[0]["points"].insert(1, compared.point(2, 57.0, 0.95))
    trend = marked(drawing(comparison_charts.scaling(found, lines, "VGG16")), "trend arm-0")
    assert len(trend) == 2
    first, second = ends(trend[0]), ends(trend[1])
    assert first[1] - first[0] == pytest.approx(second[1] - second[0], abs=0.2)
    assert all(float(one.get("y1")) < float(one.get("y2")) for one in trend)


def test_times_of_a_batch_stand_in_proportion_from_zero():
    found = compared.comparison()
    chart = drawing(comparison_charts.expected(found, found["cases"][0]))
    zero = min(ends(one)[0] for one in marked(chart, "grid"))
    needed, measured = ([float(one.get("cx")) - zero for one in chart.iter("circle")][place::2] for place in (0, 1))
    assert measured[1] / measured[0] == pytest.approx(0.64 / 0.32, rel=0.01)
    assert needed[1] / measured[1] == pytest.approx(0.5 / 0.64, rel=0.01)


def test_runs_stand_in_the_order_of_time_whatever_order_they_come_in():
    found = compared.comparison()
    ids = [run["record"] for arm in found["cases"][0]["arms"] for run in arm["runs"]]
    times = {one: f"2026-01-31T12:{place:02}:00Z" for place, one in enumerate(reversed(ids))}
    chart = drawing(comparison_charts.timeline(found, found["cases"][0], times))
    across = [float(one.get("cx")) for one in marked(chart, "mark arm-0") if one.tag == "circle"][1:]
    assert len(across) == 3 and min(across) > WIDTH / 2, "the runs of the first arm are the last ones"
    said = " ".join(one.text for one in chart.iter("text"))
    assert "images/s; higher is better; the axis does not start at 0" in said
    assert "run, in the order of time: 2026-01-31 12:00 UTC to" in said


# About how wide letters of a class are.
LETTERS = {"tick": 5.8, "label": 5.6, "row": 6.3, "group": 6.6, "verdict": 6.6}


def box(one):
    width = len(one.text or "") * LETTERS[one.get("class").split()[0]]
    left = float(one.get("x")) - {"start": 0, "middle": width / 2, "end": width}[one.get("text-anchor")]
    return left, float(one.get("y")) - 9, left + width, float(one.get("y")) + 2


def test_texts_lie_within_their_drawing_and_not_over_each_other():
    comparison, records = recorded.comparison("nccl_tests", {"harp": 11.4, "tcp": 4.1})
    pages = [
        of_comparison(compared.comparison(), compared.records()),
        of_comparison(comparison, records),
        of_runs([recorded.record(workload) for workload in recorded.RUNS]),
    ]
    for chart in (one for page in pages for one in drawings(page)):
        _left, _top, width, height = map(float, chart.get("viewBox").split())
        boxes = [(box(one), one.text) for one in chart.iter("text")]
        for (left, top, right, bottom), said in boxes:
            assert left > -3 and right < width + 3 and top > -3 and bottom < height + 3, said
        for place, (one, said) in enumerate(boxes):
            for other, before in boxes[:place]:
                apart = one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
                assert apart, (said, before)
