# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""The tables of a comparison, as heads and rows of text, for whoever draws them.

Each function takes the comparison (and the result records where it needs them) and returns (head, rows).
"""

from ansible_collections.taco.train.plugins.plugin_utils import comparison_words as words
from ansible_collections.taco.train.plugins.plugin_utils.comparison_systems import groups, image_rows, value_text

# Heads of columns that hold numbers.
NUMBERS = {
    *("Ratio", "p", "Runs", "Median", "Measured runs", "Warm-up runs", "Failed runs", "Nodes", "Ranks", "Efficiency"),
    *("Value", "Bytes between nodes", "Bytes / bandwidth", "Measured time", "Measured / expected"),
    *("Bus bandwidth", "Line rate", "Share"),
}


def blocks(comparison):
    return comparison.get("blocks") or []


def compared(comparison):
    """Return (block, comparison of two arms) for all of them, in the order of the tables."""
    return [(block, one) for block in blocks(comparison) for one in block.get("comparisons") or []]


def verdicts(comparison):
    cases = words.cases(comparison)
    interval = words.confidence(comparison)
    head = ("Case", "Arm", "Verdict", "Ratio", interval, "Against", "p", "Runs", "More repeats", "Why")
    rows = [
        (
            cases[block["id"]],
            words.marked(comparison, one["arm"]),
            words.verdict(one["verdict"]),
            words.ratio(one.get("ratio")),
            words.interval(one.get("low"), one.get("high"), words.ratio),
            words.marked(comparison, one["baseline"]),
            words.chance(one.get("p")),
            " and ".join(str(count) for count in one.get("runs") or []),
            words.more_repeats(one.get("more_repeats")),
            one.get("reason") or "",
        )
        for block, one in compared(comparison)
    ]
    return head, rows


def measured(comparison):
    cases = words.cases(comparison)
    head = ("Case", "Arm", "Median", "Low to high", "Unit", "Measured runs", "Warm-up runs", "Failed runs")
    rows = []
    for block in blocks(comparison):
        for arm in block.get("arms") or []:
            runs = arm.get("runs") or []
            good = [run for run in runs if run.get("value") is not None]
            warmups = sum(bool(run.get("warmup")) for run in good)
            rows.append(
                (
                    cases[block["id"]],
                    words.marked(comparison, arm["arm"]),
                    words.number(arm.get("median")),
                    words.interval(arm.get("low"), arm.get("high")),
                    block.get("unit") or "",
                    str(len(good) - warmups),
                    str(warmups),
                    str(arm.get("failed") or 0),
                )
            )
    return head, rows


def scaling(comparison):
    head = ("Case", "Arm", "Nodes", "Ranks", "Value", "Unit", "Efficiency", "Its interval", "Against")
    rows = []
    for line in comparison.get("scaling") or []:
        for point in line.get("points") or []:
            rows.append(
                (
                    scaling_case(comparison, line),
                    words.marked(comparison, line["arm"]),
                    str(point.get("nodes")),
                    str(point.get("ranks")),
                    words.number(point.get("value")),
                    line.get("unit") or "",
                    words.percent(point.get("efficiency")),
                    words.interval(point.get("low"), point.get("high"), words.percent),
                    line.get("basis") or "",
                )
            )
    return head, rows


def scaling_case(comparison, line):
    """Return what a line of the scaling was measured with; its workload only where there are several."""
    several = len({other.get("workload") for other in comparison.get("scaling") or []}) > 1
    return ", ".join(part for part in words.case_parts(line) if several or part != line.get("workload"))


def expected(comparison):
    cases = words.cases(comparison)
    head = ("Case", "Arm", "Bytes between nodes", "Bytes / bandwidth", "Measured time", "Measured / expected")
    rows = []
    for block in blocks(comparison):
        for one in block.get("expected") or []:
            seconds, found = one.get("seconds"), one.get("measured_seconds")
            share = found / seconds if words.finite(seconds) and words.finite(found) and seconds > 0 else None
            rows.append(
                (
                    cases[block["id"]],
                    words.marked(comparison, one["arm"]),
                    f"{one['bytes']:,.0f}" if words.finite(one.get("bytes")) else words.UNKNOWN,
                    f"{words.number(seconds)} s" if words.finite(seconds) else words.UNKNOWN,
                    f"{words.number(found)} s" if words.finite(found) else words.UNKNOWN,
                    words.ratio(share),
                )
            )
    return head, rows


def bus_bandwidth(comparison):
    head = ("Arm", "Bus bandwidth", "Line rate", "Share")
    rows = [
        (
            words.marked(comparison, one["arm"]),
            f"{words.number(one.get('value_gbps'))} Gbit/s",
            f"{words.number(one.get('line_rate_gbps'))} Gbit/s",
            words.percent(one.get("share")),
        )
        for one in comparison.get("bus_bandwidth") or []
    ]
    return head, rows


PUBLISHED, OWN = "PUBLISHED by the vendor", "measured here"


def published(comparison, records):
    """Return the vendor's figures, and beneath those of a case what was measured here."""
    cases = words.cases(comparison)
    head = ("Case", "Whose", "Software", "Value", "Unit", "Ranks", "Hardware and source")
    rows = []
    for block in blocks(comparison):
        for one in block.get("published") or []:
            value, ranks = words.number(one.get("value")), str(one.get("ranks") or words.UNKNOWN)
            said = (value, one.get("unit") or "", ranks, one.get("source") or words.UNKNOWN)
            rows.append((cases[block["id"]], PUBLISHED, one.get("label") or words.UNKNOWN, *said))
        for arm in (block.get("arms") or []) if block.get("published") else []:
            own = (words.number(arm.get("median")), block.get("unit") or "", str(block.get("ranks") or words.UNKNOWN))
            name = words.marked(comparison, arm["arm"])
            rows.append((cases[block["id"]], whose(comparison), name, *own, hardware(records)))
    return head, rows


def whose(comparison):
    return f"{OWN}, in a lab" if comparison.get("lab") else OWN


def hardware(records):
    """Return what the measured numbers came from, in short."""
    kinds = [f"GPUs: {value_text('gpus', system)}" for _hosts, system in groups(records) if system]
    return "this run; " + "; ".join(dict.fromkeys(kinds)) if kinds else "this run"


HOROVOD = {"image": "the image's", "upstream": "upstream"}


def arms(comparison):
    head = ("Arm", "Stands for", "NCCL plugin", "Horovod", "Environment")
    rows = [
        (
            words.marked(comparison, arm["name"])
            + (", the baseline" if arm["name"] == comparison.get("baseline") else ""),
            arm.get("label") or "",
            words.plain(arm.get("plugin")),
            HOROVOD.get(arm.get("horovod")) or words.plain(arm.get("horovod")),
            environment(arm.get("environment")),
        )
        for arm in comparison.get("arms") or []
    ]
    return head, rows


def environment(variables):
    """Return variables as a shell has them; None is one that is taken away."""
    named = (variables or {}).items()
    return (
        " ".join(f"{name} unset" if value is None else f"{name}={value}" for name, value in named)
        or "nothing of its own"
    )


def images(comparison, records):
    rows = [(image, ", ".join(words.marked(comparison, arm) for arm in found)) for image, found in image_rows(records)]
    return ("Image", "Arms"), rows


def failures(comparison):
    cases = words.cases(comparison)
    head = ("Case", "Arm", "Problems", "Log", "Run")
    rows = [
        (
            cases.get(one.get("block"), str(one.get("block"))),
            words.marked(comparison, one.get("arm")),
            " ".join(str(problem) for problem in one.get("problems") or []),
            str(one.get("log") or "none"),
            str(one.get("record")),
        )
        for one in comparison.get("failures") or []
    ]
    return head, rows


def commands(comparison, records):
    """Return (case, arm, launcher, argv) of the newest record of each arm in each block, a good one where there is one."""
    found = {record.get("id"): record for record in records}
    cases, shown = words.cases(comparison), []
    for block in blocks(comparison):
        for arm in block.get("arms") or []:
            ids = [run.get("record") for run in arm.get("runs") or []]
            ids += [
                one.get("record")
                for one in comparison.get("failures") or []
                if one.get("arm") == arm["arm"] and one.get("block") == block["id"]
            ]
            ran = [found[one] for one in ids if one in found and found[one].get("argv")]
            good = [record for record in ran if record.get("outcome") == "ok"]
            if ran:
                record = (good or ran)[-1]
                launcher = (record.get("parameters") or {}).get("launcher")
                shown.append((cases[block["id"]], arm["arm"], launcher, record["argv"]))
    return shown
