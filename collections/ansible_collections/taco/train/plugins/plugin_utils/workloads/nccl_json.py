# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the JSON document that nccl-tests write with the argument -J.

Its keys are those of version 1 of the document (https://github.com/NVIDIA/nccl-tests, src/util.cu): config.devices, results,
out_of_bounds, average_bus_bandwidth and end_time. Truth values and "nan" are texts in it.
"""

import json
from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.workloads import result

Group = dict[str, float | None]
Read = dict[str, Any]
"""What was read: ranks, rows, out_of_bounds and averages."""
START = '{"version":'


def read(lines: list[str], text: Any = None) -> Read | None:
    """Return what nccl_table.read_table returns, from the option's text or else from a document in the lines.

    None means that there is no document, or none that is whole.
    """
    document = whole_document(text) if text else None
    if document is None:
        starts = (number for number, line in enumerate(lines) if START in line)
        # mpirun's prefix may stand before it, and what other programs print after it.
        first = next(starts, None)
        if first is not None:
            rest = "\n".join(lines[first:])
            document = whole_document(rest[rest.index(START) :])
    return tables(document) if document else None


def whole_document(text: Any) -> dict[str, Any] | None:
    """Return the document that the text begins with, if it is one of these and was written to its end."""
    if not isinstance(text, str):
        return None
    try:
        document, _end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "end_time" not in document or not isinstance(document.get("results"), list):
        return None
    return document


def tables(document: Mapping[str, Any]) -> Read:
    bounds = mapping(document.get("out_of_bounds"))
    average = mapping(document.get("average_bus_bandwidth"))
    devices = mapping(document.get("config")).get("devices")
    ranks = [mapping(device).get("rank") for device in devices] if isinstance(devices, list) else []
    count = bounds.get("count")
    return {
        "ranks": {rank for rank in ranks if isinstance(rank, int)},
        "rows": [row(mapping(entry)) for entry in document["results"] if mapping(entry).get("in_place")],
        "out_of_bounds": [(count, bounds.get("okay") == "true")] if isinstance(count, int) else [],
        "averages": [(result.finite(average.get("bandwidth")), average.get("okay") != "false")] if average else [],
    }


def row(entry: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: entry.get(key) for key in ("size", "count", "type", "redop")}
    kept["root"] = str(entry.get("root", "")).strip()
    for place in ("out_of_place", "in_place"):
        kept[place] = group(mapping(entry[place])) if entry.get(place) else None
    return kept


def group(entry: Mapping[str, Any]) -> Group:
    time = entry.get("time", entry.get("cpu_time"))
    return rates(time, entry.get("alg_bw"), entry.get("bus_bw"), entry.get("nwrong"))


def rates(*printed: Any) -> Group:
    """Return the numbers of a size in or out of place, of which each text or JSON value is a number or none."""
    return dict(zip(("time_us", "algbw", "busbw", "wrong"), map(result.finite, printed)))


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
