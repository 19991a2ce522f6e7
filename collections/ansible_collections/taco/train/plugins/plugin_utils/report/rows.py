# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a comparison measured, and what it must be read with, as tables of text.

Each function takes the comparison, and the result records where it needs them.
"""

from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part, finite
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Grid, table
from ansible_collections.taco.train.plugins.plugin_utils.report.systems import groups, value_text

PUBLISHED, OWN = "PUBLISHED by the vendor", "measured here"
# What a verdict rests on, where there is room for it.
WHY = ("p", "Arm runs", "Baseline runs", "Why")
HOROVOD = {"image": "the image's", "upstream": "upstream"}

Row = Mapping[str, str]


def cases(comparison: Part) -> Sequence[Part]:
    return comparison.get("cases") or []


def named(comparison: Part, case: Any, arm: Any) -> dict[str, str]:
    """Return the first two cells of a row, of a case by its id."""
    return {"Case": wording.case_labels(comparison).get(case, str(case)), "Arm": wording.marked(comparison, arm)}


def compared(comparison: Part) -> list[tuple[Part, Part]]:
    """Return (case, comparison of two arms) for all of them, in the order of the tables."""
    return [(case, one) for case in cases(comparison) for one in case.get("comparisons") or []]


def each_arm(comparison: Part) -> Iterator[tuple[Part, Part]]:
    """Yield (case, results of an arm) for all of them, in the order of the tables."""
    return ((case, arm) for case in cases(comparison) for arm in case.get("arms") or [])


def records_of_arms(comparison: Part, records: Iterable[Part]) -> Iterator[tuple[Part, str, list[Part]]]:
    """Yield (case, arm's name, its records) for all of them: the records of its runs, then those of its failures."""
    found = {record.get("id"): record for record in records}
    for case, arm in each_arm(comparison):
        ids = [run.get("record") for run in arm.get("runs") or []]
        ids += [
            failure.get("record")
            for failure in comparison.get("failures") or []
            if (failure.get("case"), failure.get("arm")) == (case["id"], arm["arm"])
        ]
        yield case, arm["arm"], [found[one] for one in dict.fromkeys(ids) if one in found]


def with_seconds(value: Any) -> str:
    return f"{wording.number(value)} s" if finite(value) else wording.UNKNOWN


def judged(comparison: Part, case: Any, one: Part, against: str) -> Row:
    """Return the row of a verdict."""
    runs = one.get("runs") or ("", "")
    return {
        **named(comparison, case, one["arm"]),
        "Verdict": wording.verdict(one["verdict"]),
        "Ratio": wording.ratio(one.get("ratio")),
        wording.confidence(comparison): wording.interval(one.get("low"), one.get("high"), wording.ratio),
        "Against": against,
        "p": wording.chance(one.get("p")),
        "Arm runs": str(runs[0]),
        "Baseline runs": str(runs[1]),
        "More repeats": wording.more_repeats(one.get("more_repeats"), one.get("chance")),
        "Why": one.get("reason") or "",
    }


def verdicts(comparison: Part) -> Grid:
    found = (
        judged(comparison, case["id"], one, wording.marked(comparison, one["baseline"]))
        for case, one in compared(comparison)
    )
    return table(found, WHY)


def explained(comparison: Part) -> str:
    """The legend of the table of verdicts: common properties of its cases and the meaning of its words."""
    shared, effect = wording.shared_parts(comparison), wording.effect(comparison)
    used = dict.fromkeys(one["verdict"] for _case, one in compared(comparison))
    sentences = [f"All of it: {', '.join(shared)}."] if shared else []
    sentences += [f"{wording.verdict(word)}: {wording.VERDICTS[word]}." for word in used if word in wording.VERDICTS]
    sentences += [f"The smallest difference that counts is {wording.percent(effect)}."] if effect else []
    return " ".join(sentences)


def regression(comparison: Part) -> Grid:
    """The verdicts of each arm compared with itself in an earlier comparison."""
    found = (comparison.get("regression") or {}).get("comparisons") or []
    return table((judged(comparison, one["case"], one, "") for one in found), WHY)


def measured(comparison: Part) -> Grid:
    rows = []
    for case, arm in each_arm(comparison):
        good = [run for run in arm.get("runs") or [] if run.get("value") is not None]
        warmups = sum(bool(run.get("warmup")) for run in good)
        rows.append(
            {
                **named(comparison, case["id"], arm["arm"]),
                "Median": wording.number(arm.get("median")),
                wording.confidence(comparison): wording.interval(arm.get("low"), arm.get("high")),
                "Unit": case.get("unit") or "",
                "Measured runs": str(len(good) - warmups),
                "Warm-up runs": str(warmups),
                "Failed runs": str(arm.get("failed") or 0),
            }
        )
    return table(rows)


def whose(comparison: Part) -> str:
    return f"{OWN}, in a lab" if comparison.get("lab") else OWN


def by_placement(comparison: Part) -> Grid:
    """Return ACK's own table: what a model reached without and with topology."""

    def row(one: Part) -> Row:
        # A vendor's figures have the digits of its document.
        form = "{:.2f}".format if one.get("source") else wording.number
        return {
            "Model": str(one.get("model")),
            "Whose": f"PUBLISHED: {one['source']}" if one.get("source") else whose(comparison),
            "Without topology": form(one.get("without")),
            "With topology": form(one.get("with")),
            "Speed-up": wording.ratio(one.get("speed_up")),
            "Unit": one.get("unit") or "",
            "Ranks": str(one.get("ranks")),
        }

    return table(map(row, (comparison.get("placement") or {}).get("table") or []))


def layouts(comparison: Part) -> Grid:
    """The placement of the workers of each arm."""
    return table(
        {
            "Arm": wording.marked(comparison, layout["arm"]),
            "GPUs scheduled by": layout.get("place") or "no label",
            "Workers and nodes": layout["workers"],
            "Runs": str(layout["runs"]),
        }
        for layout in (comparison.get("placement") or {}).get("layouts") or []
    )


def scaling(comparison: Part) -> Grid:
    lines = comparison.get("scaling") or []
    hosts = "Workers" if any(wording.host_noun(line) == "worker" for line in lines) else "Nodes"
    return table(
        {
            "Case": scaling_case(comparison, line),
            "Arm": wording.marked(comparison, line["arm"]),
            hosts: str(point.get("nodes")),
            "Ranks": str(point.get("ranks")),
            "Value": wording.number(point.get("value")),
            "Unit": line.get("unit") or "",
            "Efficiency": wording.percent(point.get("efficiency")),
            "Its interval": wording.interval(point.get("low"), point.get("high"), wording.percent),
            "Against": line.get("basis") or "",
        }
        for line in lines
        for point in line.get("points") or []
    )


def scaling_case(comparison: Part, line: Part) -> str:
    """The properties of a line of the scaling; its workload only if there are several."""
    several = len({other.get("workload") for other in comparison.get("scaling") or []}) > 1
    return ", ".join(part for part in wording.case_parts(line) if several or part != line.get("workload"))


def expected(comparison: Part) -> Grid:
    def row(case: Part, one: Part) -> Row:
        seconds, found = one.get("seconds"), one.get("measured_seconds")
        share = found / seconds if finite(seconds) and finite(found) and seconds > 0 else None
        return {
            **named(comparison, case["id"], one["arm"]),
            "Bytes between nodes": f"{one['bytes']:,.0f}" if finite(one.get("bytes")) else wording.UNKNOWN,
            "Bytes / bandwidth": with_seconds(seconds),
            "Measured time": with_seconds(found),
            "Measured / expected": wording.ratio(share),
        }

    return table(row(case, one) for case in cases(comparison) for one in case.get("expected") or [])


def bus_bandwidth(comparison: Part) -> Grid:
    return table(
        {
            **named(comparison, one.get("case"), one["arm"]),
            "Bus bandwidth": f"{wording.number(one.get('value_gbps'))} Gbit/s",
            "Line rate": f"{wording.number(one.get('line_rate_gbps'))} Gbit/s",
            "Share": wording.percent(one.get("share")),
        }
        for one in comparison.get("bus_bandwidth") or []
    )


def published(comparison: Part, records: Iterable[Part]) -> Grid:
    """Return the vendor's figures, and beneath those of a case what was measured here."""
    here, rows = hardware(records), []
    for case in cases(comparison):
        own = [
            {"label": wording.marked(comparison, arm["arm"]), "value": arm.get("median"), "source": here}
            for arm in case.get("arms") or []
        ]
        figures = case.get("published") or []
        for one in [*figures, *(own if figures else [])]:
            size = one if one in figures else case
            rows.append(
                {
                    "Case": wording.case_labels(comparison)[case["id"]],
                    "Whose": PUBLISHED if one in figures else whose(comparison),
                    "Software": one.get("label") or wording.UNKNOWN,
                    "Value": wording.number(one.get("value")),
                    "Unit": size.get("unit") or "",
                    "Ranks": str(size.get("ranks") or wording.UNKNOWN),
                    "Hardware and source": one.get("source") or wording.UNKNOWN,
                }
            )
    return table(rows)


def hardware(records: Iterable[Part]) -> str:
    """A summary of the origin of the measured numbers."""
    kinds = [f"GPUs: {value_text('gpus', system)}" for _hosts, system in groups(records) if system]
    return "; ".join(["this run", *dict.fromkeys(kinds)])


def arms(comparison: Part) -> Grid:
    def row(arm: Part) -> Row:
        baseline = ", the baseline" if arm["name"] == comparison.get("baseline") else ""
        options = {
            f"benchmark_options.{name}": str(value).lower() for name, value in (arm.get("options") or {}).items()
        }
        return {
            "Arm": wording.marked(comparison, arm["name"]) + baseline,
            "Stands for": arm.get("label") or "",
            "NCCL plugin": wording.plain(arm.get("plugin")),
            "Horovod": HOROVOD.get(str(arm.get("horovod"))) or wording.plain(arm.get("horovod")),
            "Environment and options": environment({**(arm.get("environment") or {}), **options}),
        }

    return table(map(row, comparison.get("arms") or []))


def environment(variables: Mapping[str, Any]) -> str:
    """Return variables as a shell has them; None is one that is taken away."""
    words = [f"{name} unset" if value is None else f"{name}={value}" for name, value in variables.items()]
    return " ".join(words) or "nothing of its own"


def networks(comparison: Part, records: Iterable[Part]) -> Grid:
    """The network of NCCL in the successful runs of each arm, with its log line."""
    rows = []
    for case, arm, ran in records_of_arms(comparison, records):
        alike: dict[Any, list[Part]] = {}
        for record in ran:
            if record.get("outcome") == "ok":
                alike.setdefault(record.get("network"), []).append(record)
        for network, same in alike.items():
            proof = next((record for record in same if record.get("network_line")), same[0])
            rows.append(
                {
                    **named(comparison, case["id"], arm),
                    "Network of NCCL": str(network or "not reported"),
                    "Runs": str(len(same)),
                    "Log line": proof.get("network_line") or "none",
                    "Log": str(proof.get("log") or "none"),
                }
            )
    return table(rows)


def failures(comparison: Part) -> Grid:
    return table(
        {
            **named(comparison, failure.get("case"), failure.get("arm")),
            "Problems": " ".join(str(problem) for problem in failure.get("problems") or []),
            "Log": str(failure.get("log") or "none"),
            "Run": str(failure.get("record")),
        }
        for failure in comparison.get("failures") or []
    )
