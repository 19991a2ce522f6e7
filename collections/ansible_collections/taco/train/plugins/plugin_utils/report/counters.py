# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The counters of the hosts around a run, in words: the path of the bytes, hosts that stand out, a row for each host."""

from typing import Any, Callable, Mapping, Optional

from ansible_collections.taco.train.plugins.plugin_utils.report.document import Grid, table
from ansible_collections.taco.train.plugins.plugin_utils.text import bytes_text, counted
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.shares import busy, nic_total, retransmits

Record = Mapping[str, Any]
Form = Callable[[Any], str]
VERDICTS = {"proved": "is proved", "contradicted": "was not taken"}


def path_sentence(record: Record) -> str:
    """The path of a record in words, an empty text for a record without counters."""
    found = (record.get("witnesses") or {}).get("path")
    if not found or not found["promise"]:
        return ""
    verdict = VERDICTS.get(found["verdict"], "is not decided")
    return f"{record['arm']}: the path over {found['promise']} {verdict}: {found['reason']}."


def sentences(record: Record) -> list[str]:
    """The path, the hosts that stand out, and why none could."""
    found = record.get("witnesses")
    if not found:
        return []
    path = path_sentence(record)
    sentences = [path] if path else []
    sentences += [f"{one['text']}." for one in found["outliers"]]
    if found["too_few"]:
        sentences.append(f"{found['too_few'][0].upper()}{found['too_few'][1:]}.")
    elif not found["outliers"]:
        sentences.append("No host stands out from the others.")
    if found["runs"] > 1:
        sentences.append(f"The counters are those of {counted(found['runs'], 'run')} together.")
    return sentences


def percent(share: float) -> str:
    return f"{100 * share:.2g} %"


COLUMNS: Mapping[str, tuple[Callable[[Record], Optional[float]], Form]] = {
    "Sent": (lambda host: nic_total(host, "sent"), bytes_text),
    "Received": (lambda host: nic_total(host, "received"), bytes_text),
    "Sent again": (retransmits, percent),
    "Drops": (lambda host: nic_total(host, "drops"), str),
    "Busy": (busy, percent),
    "CPU stolen": (lambda host: host["steal"], percent),
    "CPU throttled": (lambda host: host["throttled_seconds"], "{:.1f} s".format),
}
"""The value of a host's counters in each column, and its form."""


def cell(counters: Optional[Record], value: Callable[[Record], Optional[float]], form: Form) -> str:
    found = None if counters is None else value(counters)
    return "not known" if found is None else form(found)


def hosts(record: Record) -> Grid:
    """Return what each host counted."""
    return table(
        {"Host": host, **{head: cell(counters, *column) for head, column in COLUMNS.items()}}
        for host, counters in ((record.get("witnesses") or {}).get("hosts") or {}).items()
    )
