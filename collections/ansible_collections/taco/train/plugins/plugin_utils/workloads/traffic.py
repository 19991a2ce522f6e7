# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bytes that each host of a run must send to the others. Values in, values out; None where nobody knows."""

import re
from typing import Any, Container, Dict, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import values
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import parameters_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import finite
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import name_of

BYTES_OF_A_GRADIENT = 4
HALF_PRECISION = "--fp16-allreduce"
# Options of nccl-tests that change how often a size is sent.
REPETITIONS = ("-n", "--iters", "-m", "--agg_iters", "-G", "--cudagraph", "-N", "--run_cycles", "-S", "--split")
SPLIT = "NCCL_TESTS_SPLIT"
# What a script prints that counts its bytes, and the time that they need on the link. The guide on low numbers documents it.
EXCHANGE = re.compile(
    r"Bytes sent by the busiest host: (\d{1,15}) per batch(?:, ([\d.]{1,12}) s at [\d.]{1,12} Mbit/s)?"
)

Options = Mapping[str, Any]


def printed_exchange(lines: List[str]) -> Dict[str, Any]:
    """The bytes between hosts in a batch that a script counted, and the seconds that they need at line rate."""
    counted = values(EXCHANGE, lines)
    return {"exchange": {"bytes": int(counted[-1][0]), "seconds": finite(counted[-1][1])}} if counted else {}


def of_all_reduces(size: float, count: float, ranks: int) -> Optional[float]:
    """Each host passes on every byte once to sum it and once to spread the sum: 2 (n - 1) / n of the size, in a ring of n ranks."""
    return 2 * (ranks - 1) / ranks * size * count if ranks > 1 and size > 0 and count > 0 else None


def of_training(
    parameters: Options, result: Mapping[str, Any], ranks: int, batches: int, scripts: Container[str]
) -> Optional[float]:
    """The bytes of a training run: of the gradients of its model, or as its script counted them.

    Only these scripts are known to sum all gradients of the model in each batch; another one may accumulate or freeze some.
    """
    exchange = (result.get("details") or {}).get("exchange") or {}
    if exchange.get("bytes"):
        return float(exchange["bytes"]) * batches
    if parameters.get("script") and name_of(parameters["script"]) not in scripts:
        return None
    millions = parameters_of(parameters.get("model"))
    if millions is None:
        return None
    half = HALF_PRECISION in map(str, parameters.get("extra_args") or [])
    return of_all_reduces(millions * 1e6 * BYTES_OF_A_GRADIENT / (2 if half else 1), batches, ranks)


def of_all_reduce_tests(
    parameters: Options, rows: Sequence[Mapping[str, Any]], ranks: int, iters: int
) -> Optional[float]:
    """The bytes of all_reduce_perf: each size in and out of place. Warm-up and validation come on top of it."""
    words = [str(word) for word in parameters.get("extra_args") or []]
    split = SPLIT in (parameters.get("env") or {})
    if split or any(word.startswith(REPETITIONS) for word in words):
        return None
    size = sum(row["size"] * sum(bool(row.get(place)) for place in ("out_of_place", "in_place")) for row in rows)
    return of_all_reduces(size, iters, ranks)
