# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a comparison measured, as heads and rows of text, for whoever draws them.

Each function takes the comparison and returns (head, rows).
"""

from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Table

# Heads of columns that hold numbers.
NUMBERS = {
    *(
        "Ratio",
        "p",
        "Runs",
        "Arm runs",
        "Baseline runs",
        "Median",
        "Measured runs",
        "Warm-up runs",
        "Failed runs",
        "Nodes",
        "Workers",
        "Ranks",
        "Efficiency",
    ),
    *("Value", "Bytes between nodes", "Bytes / bandwidth", "Measured time", "Measured / expected"),
    *("Bus bandwidth", "Line rate", "Share"),
    *("Without topology", "With topology", "Speed-up", "Parameters (M)"),
}


def cases(comparison: Part) -> Sequence[Part]:
    return comparison.get("cases") or []


def compared(comparison: Part) -> list[tuple[Part, Part]]:
    """Return (case, comparison of two arms) for all of them, in the order of the tables."""
    return [(case, one) for case in cases(comparison) for one in case.get("comparisons") or []]


def verdicts(comparison: Part) -> Table:
    case_labels = wording.case_labels(comparison)
    interval = wording.confidence(comparison)
    head = (
        "Case",
        "Arm",
        "Verdict",
        "Ratio",
        interval,
        "Against",
        "p",
        "Arm runs",
        "Baseline runs",
        "More repeats",
        "Why",
    )
    rows = [
        (
            case_labels[case["id"]],
            wording.marked(comparison, one["arm"]),
            wording.verdict(one["verdict"]),
            wording.ratio(one.get("ratio")),
            wording.interval(one.get("low"), one.get("high"), wording.ratio),
            wording.marked(comparison, one["baseline"]),
            wording.chance(one.get("p")),
            *(str(count) for count in (one.get("runs") or ("", ""))),
            wording.more_repeats(one.get("more_repeats"), one.get("chance")),
            one.get("reason") or "",
        )
        for case, one in compared(comparison)
    ]
    return head, rows


def explained(comparison: Part) -> str:
    """The legend of the table of verdicts: common properties of its case_labels and the meaning of its words."""
    shared, effect = wording.shared_parts(comparison), wording.effect(comparison)
    used = dict.fromkeys(one["verdict"] for _case, one in compared(comparison))
    said = [f"All of it: {', '.join(shared)}."] if shared else []
    said += [f"{wording.verdict(word)}: {wording.VERDICTS[word]}." for word in used if word in wording.VERDICTS]
    return " ".join(
        [*said, *([f"The smallest difference that counts is {wording.percent(effect)}."] if effect else [])]
    )


def regression(comparison: Part) -> Table:
    """The verdicts of each arm compared with itself in an earlier comparison."""
    case_labels = wording.case_labels(comparison)
    head = ("Case", "Arm", "Verdict", "Ratio", wording.confidence(comparison), "p", "More repeats", "Why")
    rows = [
        (
            case_labels.get(one["case"], str(one["case"])),
            wording.marked(comparison, one["arm"]),
            wording.verdict(one["verdict"]),
            wording.ratio(one.get("ratio")),
            wording.interval(one.get("low"), one.get("high"), wording.ratio),
            wording.chance(one.get("p")),
            wording.more_repeats(one.get("more_repeats"), one.get("chance")),
            one.get("reason") or "",
        )
        for one in (comparison.get("regression") or {}).get("comparisons") or []
    ]
    return head, rows


def measured(comparison: Part) -> Table:
    case_labels = wording.case_labels(comparison)
    head = (
        "Case",
        "Arm",
        "Median",
        wording.confidence(comparison),
        "Unit",
        "Measured runs",
        "Warm-up runs",
        "Failed runs",
    )
    rows = []
    for case in cases(comparison):
        for arm in case.get("arms") or []:
            runs = arm.get("runs") or []
            good = [run for run in runs if run.get("value") is not None]
            warmups = sum(bool(run.get("warmup")) for run in good)
            rows.append(
                (
                    case_labels[case["id"]],
                    wording.marked(comparison, arm["arm"]),
                    wording.number(arm.get("median")),
                    wording.interval(arm.get("low"), arm.get("high")),
                    case.get("unit") or "",
                    str(len(good) - warmups),
                    str(warmups),
                    str(arm.get("failed") or 0),
                )
            )
    return head, rows


def by_placement(comparison: Part) -> Table:
    """Return ACK's own table: what a model reached without and with topology."""
    head = ("Model", "Whose", "Without topology", "With topology", "Speed-up", "Unit", "Ranks")
    own = "measured here" + ", in a lab" * bool(comparison.get("lab"))
    rows = [
        (
            str(one.get("model")),
            f"PUBLISHED: {one['source']}" if one.get("source") else own,
            f"{one['without']:.2f}" if one.get("source") else wording.number(one.get("without")),
            f"{one['with']:.2f}" if one.get("source") else wording.number(one.get("with")),
            wording.ratio(one.get("speed_up")),
            one.get("unit") or "",
            str(one.get("ranks")),
        )
        for one in (comparison.get("placement") or {}).get("table") or []
    ]
    return head, rows


def layouts(comparison: Part) -> Table:
    """The placement of the workers of each arm."""
    head = ("Arm", "GPUs scheduled by", "Workers", "Runs")
    rows = [
        (
            wording.marked(comparison, layout["arm"]),
            layout.get("place") or "no label",
            layout["workers"],
            str(layout["runs"]),
        )
        for layout in (comparison.get("placement") or {}).get("layouts") or []
    ]
    return head, rows


def scaling(comparison: Part) -> Table:
    lines = comparison.get("scaling") or []
    hosts = "Workers" if any(wording.host_noun(line) == "worker" for line in lines) else "Nodes"
    head = ("Case", "Arm", hosts, "Ranks", "Value", "Unit", "Efficiency", "Its interval", "Against")
    rows = []
    for line in lines:
        for point in line.get("points") or []:
            rows.append(
                (
                    scaling_case(comparison, line),
                    wording.marked(comparison, line["arm"]),
                    str(point.get("nodes")),
                    str(point.get("ranks")),
                    wording.number(point.get("value")),
                    line.get("unit") or "",
                    wording.percent(point.get("efficiency")),
                    wording.interval(point.get("low"), point.get("high"), wording.percent),
                    line.get("basis") or "",
                )
            )
    return head, rows


def scaling_case(comparison: Part, line: Part) -> str:
    """The properties of a line of the scaling; its workload only if there are several."""
    several = len({other.get("workload") for other in comparison.get("scaling") or []}) > 1
    return ", ".join(part for part in wording.case_parts(line) if several or part != line.get("workload"))


def expected(comparison: Part) -> Table:
    case_labels = wording.case_labels(comparison)
    head = ("Case", "Arm", "Bytes between nodes", "Bytes / bandwidth", "Measured time", "Measured / expected")
    rows = []
    for case in cases(comparison):
        for one in case.get("expected") or []:
            seconds, found = one.get("seconds"), one.get("measured_seconds")
            share = found / seconds if wording.finite(seconds) and wording.finite(found) and seconds > 0 else None
            rows.append(
                (
                    case_labels[case["id"]],
                    wording.marked(comparison, one["arm"]),
                    f"{one['bytes']:,.0f}" if wording.finite(one.get("bytes")) else wording.UNKNOWN,
                    f"{wording.number(seconds)} s" if wording.finite(seconds) else wording.UNKNOWN,
                    f"{wording.number(found)} s" if wording.finite(found) else wording.UNKNOWN,
                    wording.ratio(share),
                )
            )
    return head, rows


def bus_bandwidth(comparison: Part) -> Table:
    head = ("Case", "Arm", "Bus bandwidth", "Line rate", "Share")
    case_labels = wording.case_labels(comparison)
    rows = [
        (
            case_labels.get(one.get("case"), ""),
            wording.marked(comparison, one["arm"]),
            f"{wording.number(one.get('value_gbps'))} Gbit/s",
            f"{wording.number(one.get('line_rate_gbps'))} Gbit/s",
            wording.percent(one.get("share")),
        )
        for one in comparison.get("bus_bandwidth") or []
    ]
    return head, rows
