# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The drawings of a comparison: every value has its place, and the drawing is well-formed."""

from xml.etree import ElementTree

import compared
import pytest

from ansible_collections.taco.train.plugins.plugin_utils.report import chart_forest, chart_runs, chart_scaling
from ansible_collections.taco.train.plugins.plugin_utils.report.chart import WIDTH


def with_ratios(*ratios):
    cases = compared.comparison()["cases"][:1]
    cases[0]["comparisons"] = [compared.against_base("harp", ratio, "better", 0, half=ratio / 10) for ratio in ratios]
    return compared.comparison(cases=cases)


def ends(line):
    return float(line.get("x1")), float(line.get("x2"))


@pytest.mark.parametrize("ratios", [(1.01, 0.98), (2.1, 4.2), (0.05, 30.0), (1000.0,)])
def test_the_forest_is_in_order_and_its_points_lie_within_their_intervals(ratios):
    drawing = ElementTree.fromstring(chart_forest.forest(with_ratios(*ratios)))
    points = [float(one.get("cx")) for one in drawing.iter("circle")]
    assert len(points) == len(ratios)
    assert sorted(range(len(ratios)), key=ratios.__getitem__) == sorted(range(len(ratios)), key=points.__getitem__)
    intervals = [ends(one) for one in drawing.iter("line") if one.get("class") == "verdict better"][::3]
    for place, (low, high) in zip(points, intervals):
        assert 0 <= low < place < high <= WIDTH
    (one,) = {ends(line)[0] for line in drawing.iter("line") if line.get("class") == "one"}
    for ratio, place in zip(ratios, points):
        assert (place > one) == (ratio > 1)
    bands = [rect for rect in drawing.iter("rect") if rect.get("class") == "no-effect"]
    assert len(bands) == len(ratios)
    names = [float(one.get("y")) for one in drawing.iter("text") if one.get("class") == "row"]
    for band, name in zip(bands, names):
        assert float(band.get("y")) > name, "no band behind a name"
    band = bands[0]
    left, width = float(band.get("x")), float(band.get("width"))
    assert left < one < left + width


def test_a_wide_range_is_drawn_by_ratio_and_a_narrow_one_by_difference():
    _low, _high, _ticks, place = chart_forest.ratio_axis([0.5, 1.0, 8.0])
    assert place(2) - place(1) == pytest.approx(place(4) - place(2))
    _low, _high, _ticks, place = chart_forest.ratio_axis([0.9, 1.0, 1.2])
    assert place(1.1) - place(1.0) == pytest.approx(place(1.2) - place(1.1))


@pytest.mark.parametrize("ends_", [(0.2, 1.0), (0.9, 4.0), (1.0, 300.0), (0.001, 5000.0), (1e-5, 1e5)])
def test_a_wide_axis_has_a_readable_number_of_ticks_and_one_of_them_is_1(ends_):
    low, high, ticks, place = chart_forest.ratio_axis([*ends_, 1.0])
    assert 3 <= len(ticks) <= 9 and ticks == sorted(ticks)
    assert 1 in [pytest.approx(tick) for tick in ticks]
    assert all(0 <= place(tick) <= 1 for tick in ticks) and low < min(ends_) and high > max(ends_)


@pytest.mark.parametrize("ratio", [5e-324, 1e-12, 1e12, 1e17])
def test_a_ratio_beyond_sense_is_drawn_at_the_edge(ratio):
    drawing = ElementTree.fromstring(chart_forest.forest(with_ratios(1.5, ratio)))
    middle, edge = (float(one.get("cx")) for one in drawing.iter("circle"))
    assert 0 < edge < WIDTH and (edge > middle) == (ratio > 1)


def test_a_long_name_is_cut_but_its_mark_is_not():
    found = with_ratios(2.0)
    found["arms"] = [compared.arm("n" * 60, "", lossy=True)]
    found["cases"][0]["comparisons"][0]["arm"] = "n" * 60
    drawing = ElementTree.fromstring(chart_forest.forest(found))
    (name,) = [one.text for one in drawing.iter("text") if one.get("class") == "row"]
    assert name == "n" * 35 + "… (lossy: top-k compression)"
    assert any("n" * 60 + " (lossy" in one.text for one in drawing.iter("title"))


def test_several_baselines_are_named_above_their_arms_and_one_beneath_the_axis():
    found = compared.comparison()
    assert "speed-up over tcp" in chart_forest.forest(found)
    found["cases"][0]["comparisons"][1]["baseline"] = compared.LOSSY
    drawing = ElementTree.fromstring(chart_forest.forest(found))
    said = [one.text for one in drawing.iter("text") if one.get("class") in ("group", "label", "row")]
    assert said == [
        "VGG16",
        "speed-up over tcp",
        "zebra (lossy: top-k compression)",
        "VGG16",
        "speed-up over zebra (lossy: top-k compression)",
        "harp",
        "ResNet50",
        "speed-up over tcp",
        "zebra (lossy: top-k compression)",
        "speed-up; linear axis",
    ]


def test_a_comparison_without_a_number_is_named_but_has_no_point():
    found = with_ratios(2.0)
    refused = dict(compared.against_base("harp", 1.0, "refused", None), ratio=None, low=None, high=None)
    found["cases"][0]["comparisons"].append(refused)
    drawing = ElementTree.fromstring(chart_forest.forest(found))
    assert len(list(drawing.iter("circle"))) == 1
    assert [one.text for one in drawing.iter("text") if "refused" in (one.text or "")] == ["✕ refused"]


def test_every_run_is_a_column_of_its_iterations_and_a_line():
    found = compared.comparison()
    drawing = ElementTree.fromstring(chart_runs.strip(found, found["cases"][0]))
    shapes = [one for one in drawing.iter() if "small" in (one.get("class") or "") and one.tag != "line"]
    assert len(shapes) == 3 * 3 * 2
    # A shape for each arm, so that colour is not alone: a circle, a square of four corners, a triangle of three.
    assert {one.get("class").split()[1]: (one.tag, len((one.get("points") or "").split())) for one in shapes} == {
        "arm-0": ("circle", 0),
        "arm-1": ("polygon", 4),
        "arm-2": ("polygon", 3),
    }
    runs = [one for one in drawing.iter("line") if one.get("class").startswith("run ")]
    assert len(runs) == 9 and sum("warmup" in one.get("class") for one in runs) == 3
    heights = [float(one.get("y1")) for one in runs if one.get("class").startswith("run arm-2")]
    assert heights == sorted(heights, reverse=True), "50, 51 and 52 images/s rise"
    titles = [one.text for one in drawing.iter("title")]
    assert "tcp, warm-up run 0: 50.0 images/s" in titles
    assert "zebra (lossy: top-k compression), run 3: not known images/s" in titles


def test_many_arms_make_the_drawing_wider_not_the_columns_narrower():
    found = compared.comparison()
    case = dict(found["cases"][0], arms=[compared.measured(f"arm{number}", "x", 10.0) for number in range(12)])
    drawing = ElementTree.fromstring(chart_runs.strip(dict(found, arms=[], cases=[case]), case))
    assert float(drawing.get("viewBox").split()[2]) > 2 * WIDTH


def test_efficiency_falls_where_it_is_less_and_ranks_stand_as_far_apart_as_their_ratio():
    found = compared.comparison()
    lines = found["scaling"]
    lines[0]["points"].insert(1, compared.point(2, 57.0, 0.95))
    drawing = ElementTree.fromstring(chart_scaling.scaling(found, lines))
    trend = [one for one in drawing.iter("line") if one.get("class") == "trend arm-0"]
    assert len(trend) == 2
    first, second = ends(trend[0]), ends(trend[1])
    assert first[1] - first[0] == pytest.approx(second[1] - second[0], abs=0.2)
    assert all(float(one.get("y1")) < float(one.get("y2")) for one in trend)
    assert [one.text for one in drawing.iter("text") if one.get("class") == "row"] == [
        "zebra (lossy: top-k compression)",
        "tcp",
    ]


def test_bars_are_as_long_as_their_times():
    found = compared.comparison()
    drawing = ElementTree.fromstring(chart_scaling.expected(found, found["cases"][0]))
    widths = [float(one.get("width")) for one in drawing.iter("rect")]
    assert widths[2] / widths[0] == pytest.approx(0.64 / 0.32, rel=0.01)
    assert widths[3] / widths[2] == pytest.approx(0.5 / 0.64, rel=0.01)


def test_where_nothing_can_be_drawn_nothing_is():
    empty = compared.comparison(cases=[], scaling=[])
    case = {"id": "x", "arms": [], "expected": []}
    assert chart_forest.forest(empty) == ""
    assert chart_runs.strip(dict(empty, cases=[case]), case) == ""
    assert chart_scaling.scaling(empty, []) == ""
    assert chart_scaling.expected(dict(empty, cases=[case]), case) == ""
