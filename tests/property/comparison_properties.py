# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever a comparison holds, its report is whole: closed tags, well-formed drawings, tables of equal width."""

import csv
import io
import re
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st
from page import Page
from rendered import of_comparison, text_of_comparison

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import VERDICTS
from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_csv

# A comparison takes long to draw.
FEWER = settings(max_examples=30)
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=12) | st.sampled_from(
    ["<script>", "a|b", "]]>", "&amp;", "-->", "'\"", "\\|", "```"]
)
NAMES = st.sampled_from(["taco", "harp", "tcp", "own_arm", "<b>"])
NUMBERS = (
    st.none() | st.floats(min_value=0, max_value=1e12) | st.sampled_from([float("nan"), float("inf"), -1.0, 1e-12])
)
COUNTS = st.none() | st.integers(0, 4096)


def mapping(**values):
    return st.fixed_dictionaries(values)


RUNS = mapping(
    record=TEXTS, repeat=st.integers(0, 9), warmup=st.booleans(), value=NUMBERS, series=st.lists(NUMBERS, max_size=3)
)
MEASURED = mapping(
    arm=NAMES, runs=st.lists(RUNS, max_size=3), median=NUMBERS, low=NUMBERS, high=NUMBERS, failed=st.integers(0, 3)
)
COMPARED = mapping(
    arm=NAMES,
    baseline=NAMES,
    ratio=NUMBERS,
    low=NUMBERS,
    high=NUMBERS,
    p=NUMBERS,
    runs=st.lists(st.integers(0, 9), min_size=2, max_size=2),
    verdict=st.sampled_from(sorted(VERDICTS)),
    reason=TEXTS,
    more_repeats=COUNTS,
)
EXPECTED = mapping(arm=NAMES, bytes=NUMBERS, seconds=NUMBERS, measured_seconds=NUMBERS)
PUBLISHED = mapping(label=TEXTS, value=NUMBERS, unit=TEXTS, ranks=COUNTS, source=TEXTS)
BLOCKS = mapping(
    id=TEXTS,
    workload=TEXTS,
    model=st.none() | TEXTS,
    parameters=COUNTS,
    nodes=COUNTS,
    ranks=COUNTS,
    batch_size=COUNTS,
    unit=TEXTS,
    higher_is_better=st.booleans(),
    arms=st.lists(MEASURED, max_size=3),
    comparisons=st.lists(COMPARED, max_size=3),
    expected=st.lists(EXPECTED, max_size=2),
    published=st.lists(PUBLISHED, max_size=2),
)
POINTS = mapping(nodes=COUNTS, ranks=COUNTS, value=NUMBERS, efficiency=NUMBERS, low=NUMBERS, high=NUMBERS)
SCALING = mapping(
    arm=NAMES,
    workload=TEXTS,
    model=TEXTS,
    batch_size=COUNTS,
    unit=TEXTS,
    basis=TEXTS,
    points=st.lists(POINTS, max_size=3),
)
ARMS = mapping(
    name=NAMES,
    label=TEXTS,
    lossy=st.booleans(),
    environment=st.dictionaries(TEXTS, st.none() | TEXTS, max_size=2),
    plugin=st.sampled_from(["on", "off", "keep"]),
    horovod=st.sampled_from(["image", "upstream"]),
)
SIZES = mapping(size=st.integers(1, 1 << 34), gb_per_s=st.floats(min_value=0, max_value=1e6))
BUS_BANDWIDTHS = mapping(
    arm=NAMES, case=TEXTS, value_gbps=NUMBERS, line_rate_gbps=NUMBERS, share=NUMBERS, sizes=st.lists(SIZES, max_size=3)
)
COMPARISONS = mapping(
    schema=st.just(1),
    name=TEXTS,
    spec=st.dictionaries(TEXTS, TEXTS, max_size=2),
    lab=st.booleans(),
    complete=st.booleans(),
    confidence=NUMBERS,
    min_effect=NUMBERS,
    planned=COUNTS,
    done=COUNTS,
    failed=COUNTS,
    started=st.none() | TEXTS,
    ended=st.none() | TEXTS,
    sentence=TEXTS,
    question=TEXTS,
    baseline=NAMES,
    arms=st.lists(ARMS, max_size=3),
    unlike=st.lists(TEXTS, max_size=2),
    cases=st.lists(BLOCKS, max_size=2),
    scaling=st.lists(SCALING, max_size=2),
    bus_bandwidth=st.lists(BUS_BANDWIDTHS, max_size=2),
    failures=st.lists(
        mapping(record=TEXTS, arm=NAMES, case=TEXTS, problems=st.lists(TEXTS, max_size=2), log=TEXTS), max_size=2
    ),
    systems=st.dictionaries(TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=1), max_size=2),
    regression=st.none()
    | mapping(
        baseline=TEXTS,
        comparisons=st.lists(st.builds(dict, COMPARED, case=TEXTS), max_size=2),
        worse=st.lists(TEXTS, max_size=1),
        better=st.lists(TEXTS, max_size=1),
        unlike=st.lists(TEXTS, max_size=2),
    ),
)
CHECKS = st.lists(
    mapping(
        id=TEXTS, status=st.sampled_from(["pass", "fail", "warn"]), expected=TEXTS, found=st.none() | TEXTS, fix=TEXTS
    ),
    max_size=2,
)
PREFLIGHTS = st.none() | mapping(
    summary=st.just({"pass": 1}), hosts=st.dictionaries(TEXTS, mapping(checks=CHECKS), max_size=2), cluster=CHECKS
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"id": TEXTS, "arm": NAMES},
        optional={
            "outcome": st.sampled_from(["ok", "failed"]),
            "argv": st.lists(TEXTS, min_size=1, max_size=3),
            "notes": st.lists(TEXTS, max_size=2),
            "parameters": st.dictionaries(st.just("launcher"), TEXTS),
            "system": st.dictionaries(TEXTS, st.none() | st.dictionaries(TEXTS, VALUES, max_size=3), max_size=2),
        },
    ),
    max_size=3,
)


@FEWER
@given(comparison=COMPARISONS, records=RECORDS, verdict=PREFLIGHTS, title=TEXTS)
def test_the_page_is_whole_whatever_it_shows(comparison, records, verdict, title):
    page = of_comparison(comparison, records, verdict, [], title, title)
    parsed = Page(page)
    assert not {"script", "link", "img", "iframe", "b"} & set(parsed.tags)
    for drawing in re.findall(r"(?s)<svg.*?</svg>", page):
        shown = ElementTree.fromstring(drawing)
        assert not re.search(r'"-?(nan|inf)', drawing)
        assert shown.get("aria-label")
    for row in re.findall(r"(?s)<thead>.*?</table>", page):
        head, *body = re.findall(r"<tr>(.*?)</tr>", row)
        assert {one.count("</td>") for one in body} == {head.count("</th>")}


@FEWER
@given(comparison=COMPARISONS, records=RECORDS, verdict=PREFLIGHTS, title=TEXTS)
def test_each_row_of_the_markdown_has_the_cells_of_its_head(comparison, records, verdict, title):
    text = text_of_comparison(comparison, records, verdict, [], title)
    tables, cells = [], None
    outside = re.sub(r"(?ms)^(`{3,})$.*?^\1$", "", text)
    for line in outside.splitlines():
        if not line.startswith("| "):
            cells = None
            continue
        found = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
        cells = cells or found
        assert found == cells, line
        tables.append(line)
    assert bool(tables) or not any(case["comparisons"] for case in comparison["cases"])
    assert "<script" not in outside


@FEWER
@given(comparison=COMPARISONS)
def test_the_values_come_back(comparison):
    runs = list(csv.reader(io.StringIO(comparison_csv.runs(comparison), newline="")))
    assert {len(row) for row in runs} == {len(comparison_csv.RUNS)}
    measured = [run for case in comparison["cases"] for arm in case["arms"] for run in arm["runs"]]
    assert len(runs) - 1 >= len(measured)
    series = list(csv.reader(io.StringIO(comparison_csv.iterations(comparison), newline="")))
    assert len(series) - 1 == sum(len(run["series"]) for run in measured)
