# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The counters of the hosts around a run, in words: the path of the bytes, hosts that stand out, a row for each host."""

from typing import Any, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.text import bytes_text, counted
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.shares import busy, nic_total, retransmits

Record = Mapping[str, Any]
HEAD = ("Host", "Sent", "Received", "Sent again", "Drops", "Busy", "CPU stolen", "CPU throttled")
UNKNOWN = "not known"
VERDICTS = {"proved": "is proved", "contradicted": "was not taken"}


def path_sentence(record: Record) -> str:
    """The path of a record in words, an empty text for a record without witnesses."""
    found = (record.get("witnesses") or {}).get("path")
    if not found or not found["promise"]:
        return ""
    verdict = VERDICTS.get(found["verdict"], "is not decided")
    return f"{record['arm']}: the path over {found['promise']} {verdict}: {found['reason']}."


def sentences(record: Record) -> List[str]:
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


def _percent(share: Optional[float]) -> str:
    return UNKNOWN if share is None else f"{100 * share:.2g} %"


def rows(record: Record) -> List[Sequence[str]]:
    """What each host counted."""
    found: List[Sequence[str]] = []
    for host, happened in ((record.get("witnesses") or {}).get("hosts") or {}).items():
        if happened is None:
            found.append((host, *[UNKNOWN] * (len(HEAD) - 1)))
            continue
        sizes = [nic_total(happened, name) for name in ("sent", "received")]
        drops, throttled = nic_total(happened, "drops"), happened["throttled_seconds"]
        found.append(
            (
                host,
                *(UNKNOWN if size is None else bytes_text(size) for size in sizes),
                _percent(retransmits(happened)),
                UNKNOWN if drops is None else str(drops),
                _percent(busy(happened)),
                _percent(happened["steal"]),
                UNKNOWN if throttled is None else f"{throttled:.1f} s",
            )
        )
    return found
