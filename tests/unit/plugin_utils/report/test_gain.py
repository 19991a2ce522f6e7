# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gain over the parameters of the models, and what the vendor published beside it."""

import math

import pytest
from measured import DEFAULTS, HOSTS, records
from rendered import drawing as drawn
from rendered import marked, of_comparison, text_of_comparison

from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import DOCUMENTED_MODELS, with_preset
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read
from ansible_collections.taco.train.plugins.plugin_utils.report import gain
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import PUBLISHED, RANGES, parameters_of

GAIN = {"InceptionV3": 1.3, "ResNet101": 1.5, "ResNet50": 1.2, "VGG16": 2.2, "Transformer-XL": 2.6}
TRANSFORMER = {"name": "transformer-xl", "workload": "command", "model": "Transformer-XL"}


def compared(lab=False, **spec):
    run = dict(DEFAULTS, command=["train"], pattern="(?P<value>[0-9.]+)")
    comparison = read(spec, HOSTS, run)
    found = records(comparison, lambda one: 100 * (GAIN[one.case.options["model"]] if one.arm == "taco" else 1.0))
    return assemble(comparison, [dict(one, lab=lab) for one in found], "gain"), found


def documented(**changes):
    spec = with_preset("taco_vs_horovod", {"repeats": 6})
    return compared(**dict(spec, workloads=[*spec["workloads"], TRANSFORMER]), **changes)


def test_the_parameters_are_those_of_the_documents():
    assert [parameters_of(name) for name in (*DOCUMENTED_MODELS, "Transformer-XL")] == [25, 44, 138, 257]
    assert [parameters_of(name) for name in ("inception_v3", "resnet50", "MobileNetV2", None)] == [25, 25.6, None, None]


def test_the_published_range_is_that_of_the_documents():
    (one,) = RANGES
    assert (one.low, one.high, gain.span(one)) == (1.2, 3.0, (25, 257))
    assert "25 Gbit/s" in one.instances and (one.arm, one.baseline) == (
        "LightCC and HARP",
        "upstream Horovod over kernel TCP",
    )


def test_four_models_are_a_line_over_their_parameters():
    found, _records = documented()
    (group,) = gain.groups(found)
    assert (list(group.arms), group.baseline, group.hosts) == (["taco"], "horovod", "2 nodes, 4 ranks")
    assert [(one.model, one.parameters) for one in group.arms["taco"]] == [
        *(("InceptionV3", 25.0), ("ResNet101", 44.0), ("VGG16", 138.0), ("Transformer-XL", 257.0)),
    ]
    assert [one.ratio for one in group.arms["taco"]] == pytest.approx([1.3, 1.5, 2.2, 2.6])


def test_one_model_and_models_of_unknown_size_have_no_plot():
    found, kept = compared(arms=["horovod", "taco"], workloads=[{"model": "VGG16"}], repeats=4)
    assert gain.groups(found) == [] and gain.table(found).rows == []
    assert "Gain over parameters" not in of_comparison(found, kept)


def test_the_count_that_the_benchmark_printed_wins():
    found, _records = documented()
    found["cases"][2]["parameters"] = 138357544
    (group,) = gain.groups(found)
    assert [one.parameters for one in group.arms["taco"]] == pytest.approx([25, 44, 138.357544, 257])


def test_a_point_lies_at_its_parameters_and_its_ratio():
    found, _records = documented()
    drawing = drawn(gain.chart(found, *gain.groups(found)))
    points = [one for one in marked(drawing, "mark arm-1") if one.tag == "polygon"]
    corners = [[tuple(map(float, pair.split(","))) for pair in one.get("points").split()] for one in points]
    places = [tuple(sum(axis) / 4 for axis in zip(*one)) for one in corners][1:]
    steps = [(right[0] - left[0]) for left, right in zip(places, places[1:])]
    logs = [math.log(44 / 25), math.log(138 / 44), math.log(257 / 138)]
    assert [step / steps[0] for step in steps] == pytest.approx([log / logs[0] for log in logs], rel=0.01)
    heights = [place[1] for place in places]
    assert heights == sorted(heights, reverse=True), "a larger ratio is drawn higher"
    said = " ".join(drawing.itertext())
    assert "in millions (logarithmic axis)" in said and "speed-up over horovod; linear axis" in said
    assert all(f"{name} {parameters_of(name):.4g}" in said for name in (*DOCUMENTED_MODELS, "Transformer-XL"))


def test_what_the_vendor_published_has_marks_and_words_of_its_own():
    found, kept = documented()
    drawing = drawn(gain.chart(found, *gain.groups(found)))
    assert len(marked(drawing, "range published")) == 2, "one in the drawing and one in the legend"
    assert marked(drawing, "mark published") == []
    head, body, *_details = gain.table(found)
    whose = [row[head.index("Whose")] for row in body]
    assert whose == ["measured here"] * 4 + ["PUBLISHED by the vendor"]
    assert body[-1][head.index("Ratio")] == "1.20x to 3.00x" and body[-1][head.index("Verdict")] == ""
    for page in (of_comparison(found, kept), text_of_comparison(found, kept)):
        assert "Gain over parameters" in page and "1.20x to 3.00x" in page


def test_figures_by_model_stand_beside_the_same_two_arms_with_their_framework():
    found, _records = compared(
        arms=["tcp", "harp", "taco"], workloads=[{"model": "ResNet50"}, {"model": "VGG16"}], repeats=4
    )
    figures = gain.published(found, *gain.groups(found))
    ratios = {(one.arm, one.model, one.program): round(one.ratio, 2) for one in figures}
    assert ratios == {
        **{("harp", "ResNet50", "TensorFlow"): 1.65, ("harp", "vgg16", "PyTorch"): 1.94},
        **{("taco", "ResNet50", "TensorFlow"): 1.89, ("taco", "vgg16", "PyTorch"): 4.21},
    }
    assert len(figures) == 6, "two documents have ResNet50"
    drawing = drawn(gain.chart(found, *gain.groups(found)))
    assert len(marked(drawing, "mark published")) == 6 + 2
    said = " ".join(drawing.itertext())
    assert (
        "taco (lossy: top-k compression), measured" in said
        and "taco, published by the vendor, with its framework" in said
    )
    assert "PyTorch" in said and "TensorFlow" in said
    assert {one.framework for one in PUBLISHED} == {"TensorFlow", "PyTorch", None}


def test_beside_the_numbers_of_a_lab_nothing_is_published():
    found, kept = documented(lab=True)
    assert gain.published_ranges(found, *gain.groups(found)) == []
    head, body, *_details = gain.table(found)
    assert {row[head.index("Whose")] for row in body} == {"measured here, in a lab"}
    assert marked(drawn(gain.chart(found, *gain.groups(found))), "published") == []
    assert "Gain over parameters" in of_comparison(found, kept)


def test_refused_ratios_are_not_drawn():
    found, _records = documented()
    for case in found["cases"][1:]:
        case["comparisons"][0]["verdict"] = "refused"
    assert gain.groups(found) == []


def test_every_text_of_the_drawing_is_inside_it():
    found, _records = documented()
    drawing = drawn(gain.chart(found, *gain.groups(found)))
    _zero, _top, width, height = map(float, drawing.get("viewBox").split())
    for one in drawing.iter("text"):
        assert 0 <= float(one.get("x")) <= width and 0 < float(one.get("y")) <= height
