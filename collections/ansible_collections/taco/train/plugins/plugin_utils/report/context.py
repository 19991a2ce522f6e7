# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the numbers of a comparison must be read with: published figures, arms, failures, commands and an earlier comparison.

Each function takes the comparison, and the result records where it needs them, and returns (head, rows) of text.
"""

import json
from typing import Any, Iterable, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Table
from ansible_collections.taco.train.plugins.plugin_utils.report.systems import groups, value_text

PUBLISHED_NOTE = (
    "Published figures are the vendor's, from its documents and its hardware. They take no part in a verdict."
)
BEFORE_A_COMMAND = "Before a command, activate the arm's NCCL plugin and Horovod, listed under Arms, on every worker."
AS_ASKED = "The comparison as it was asked for"
CHANGED = "What is not as it was, and is part of these ratios:"
PUBLISHED, OWN = "PUBLISHED by the vendor", "measured here"


def published(comparison: Part, records: Iterable[Part]) -> Table:
    """Return the vendor's figures, and beneath those of a case what was measured here."""
    case_labels = wording.case_labels(comparison)
    head = ("Case", "Whose", "Software", "Value", "Unit", "Ranks", "Hardware and source")
    rows = []
    here = hardware(records) if any(case.get("published") for case in comparison.get("cases") or []) else ""
    for case in comparison.get("cases") or []:
        for one in case.get("published") or []:
            value, ranks = wording.number(one.get("value")), str(one.get("ranks") or wording.UNKNOWN)
            said = (value, one.get("unit") or "", ranks, one.get("source") or wording.UNKNOWN)
            rows.append((case_labels[case["id"]], PUBLISHED, one.get("label") or wording.UNKNOWN, *said))
        for arm in (case.get("arms") or []) if case.get("published") else []:
            own = (
                wording.number(arm.get("median")),
                case.get("unit") or "",
                str(case.get("ranks") or wording.UNKNOWN),
            )
            name = wording.marked(comparison, arm["arm"])
            rows.append((case_labels[case["id"]], whose(comparison), name, *own, here))
    return head, rows


def whose(comparison: Part) -> str:
    return f"{OWN}, in a lab" if comparison.get("lab") else OWN


def hardware(records: Iterable[Part]) -> str:
    """A summary of the origin of the measured numbers."""
    kinds = [f"GPUs: {value_text('gpus', system)}" for _hosts, system in groups(records) if system]
    return "this run; " + "; ".join(dict.fromkeys(kinds)) if kinds else "this run"


HOROVOD = {"image": "the image's", "upstream": "upstream"}


def arms(comparison: Part) -> Table:
    head = ("Arm", "Stands for", "NCCL plugin", "Horovod", "Environment and options")
    rows = [
        (
            wording.marked(comparison, arm["name"])
            + (", the baseline" if arm["name"] == comparison.get("baseline") else ""),
            arm.get("label") or "",
            wording.plain(arm.get("plugin")),
            HOROVOD.get(arm.get("horovod")) or wording.plain(arm.get("horovod")),
            environment({**(arm.get("environment") or {}), **options(arm)}),
        )
        for arm in comparison.get("arms") or []
    ]
    return head, rows


def options(arm: Part) -> dict[str, str]:
    """Return the options of the run that an arm sets, by the names of the variables."""
    return {f"benchmark_options.{name}": str(value).lower() for name, value in (arm.get("options") or {}).items()}


def environment(variables: Mapping[str, Any] | None) -> str:
    """Return variables as a shell has them; None is one that is taken away."""
    named = (variables or {}).items()
    return (
        " ".join(f"{name} unset" if value is None else f"{name}={value}" for name, value in named)
        or "nothing of its own"
    )


def networks(comparison: Part, records: Iterable[Part]) -> Table:
    """The network of NCCL in the successful runs of each arm, with its log line."""
    found = {record.get("id"): record for record in records}
    case_labels = wording.case_labels(comparison)
    head = ("Case", "Arm", "Network of NCCL", "Runs", "Log line", "Log")
    rows = []
    for case in comparison.get("cases") or []:
        for arm in case.get("arms") or []:
            ran: dict[Any, list[Part]] = {}
            for run in arm.get("runs") or []:
                record = found.get(run.get("record"))
                if record and record.get("outcome") == "ok":
                    ran.setdefault(record.get("network"), []).append(record)
            for network, same in ran.items():
                proof = next((record for record in same if record.get("network_line")), same[0])
                line = proof.get("network_line") or "none"
                shown = (str(network or "not reported"), str(len(same)), line, str(proof.get("log") or "none"))
                rows.append((case_labels[case["id"]], wording.marked(comparison, arm["arm"]), *shown))
    return head, rows


def failures(comparison: Part) -> Table:
    case_labels = wording.case_labels(comparison)
    head = ("Case", "Arm", "Problems", "Log", "Run")
    rows = [
        (
            case_labels.get(failure.get("case"), str(failure.get("case"))),
            wording.marked(comparison, failure.get("arm")),
            " ".join(str(problem) for problem in failure.get("problems") or []),
            str(failure.get("log") or "none"),
            str(failure.get("record")),
        )
        for failure in comparison.get("failures") or []
    ]
    return head, rows


def commands(comparison: Part, records: Iterable[Part]) -> list[tuple[str, str, str | None, list[str]]]:
    """Return (case, arm, launcher, argv) of the newest record of each arm in each case, a good one where there is one."""
    found = {record.get("id"): record for record in records}
    case_labels, shown = wording.case_labels(comparison), []
    for case in comparison.get("cases") or []:
        for arm in case.get("arms") or []:
            ids = [run.get("record") for run in arm.get("runs") or []]
            ids += [
                failure.get("record")
                for failure in comparison.get("failures") or []
                if failure.get("arm") == arm["arm"] and failure.get("case") == case["id"]
            ]
            ran = [found[one] for one in ids if one in found and found[one].get("argv")]
            good = [record for record in ran if record.get("outcome") == "ok"]
            if ran:
                record = (good or ran)[-1]
                launcher = (record.get("parameters") or {}).get("launcher")
                shown.append((case_labels[case["id"]], arm["arm"], launcher, record["argv"]))
    return shown


def settings(comparison: Part) -> str:
    """Return the comparison as it was asked for, as JSON; empty when that is not kept."""
    spec = comparison.get("spec")
    return json.dumps(spec, indent=2, ensure_ascii=False, default=str) if spec else ""


def against(regression: Part) -> str:
    """Return the earlier comparison, and how many arms became worse or better."""
    counts = {word: len(regression.get(word) or []) for word in ("worse", "better")}
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none is worse and none is better"
    return f"Each arm against itself in {regression.get('baseline')}: {said}."
