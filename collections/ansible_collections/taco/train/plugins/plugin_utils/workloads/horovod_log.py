# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what Horovod's synthetic benchmarks print: images per second of one device for each iteration, and the total.

The scripts of TensorFlow 1 and 2 and of PyTorch print the mean of all iterations, that of Keras the mean without iteration 0.
Rank 0 alone prints. Where a changed script prints on each rank, or a second logger prints each line again, one copy counts.
"""

import re
from statistics import fmean
from typing import Any, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads import result as parsed
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of, tagged_lines, values
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import Result, finite
from ansible_collections.taco.train.plugins.plugin_utils.workloads.traffic import printed_exchange

Found = Mapping[str, list[tuple[Any, ...]]]
"""The groups of each line of a kind."""
UNIT = "images/s"
# Each number was rounded to a tenth before it was printed.
MEAN_ROUNDED = 0.11
# Horovod prints one decimal, and copies of its scripts more, so a number without one was cut off.
NUMBER = r"([+-]?(?:\d{1,15}\.\d{1,6}|nan|inf))"
MODEL = re.compile(r"\s*Model: (\S+)\s*$")
BATCH = re.compile(r"\s*Batch size: (\d{1,9})\s*$")
COUNT = re.compile(r"\s*Number of (GPU|CPU)s: (\d{1,9})\s*$")
ITERATION = re.compile(r"(?:.{0,300}[^\w'\"])?Iter #(\d{1,9}): " + NUMBER + r" img/sec per (GPU|CPU)(?:[,;\s]|$)")
PER_DEVICE = re.compile(r"\s*Img/sec per (GPU|CPU): " + NUMBER + r" \+-" + NUMBER + r"\s*$")
TOTAL = re.compile(r"\s*Total img/sec on (\d{1,9}) (GPU|CPU)\(s\): " + NUMBER + r" \+-" + NUMBER + r"\s*$")


def parse(
    text: Any, expected_ranks: Any = None, device: str | None = "GPU", options: Mapping[str, Any] | None = None
) -> Result:
    """Return the numbers in the text and everything that is wrong with them, as parsed.result describes."""
    lines = lines_of(text)
    found = printed_once(read_lines(lines))
    if len(found["total"]) > 1:
        found = of_one_rank(text, found)
    total = found["total"][-1] if found["total"] else None
    per_device = found["per_device"][-1] if found["per_device"] else None
    read: Result = {
        "model": found["model"][-1][0] if found["model"] else None,
        "batch_size": int(found["batch_size"][-1][0]) if found["batch_size"] else None,
        "ranks": int(total[0]) if total else int(found["count"][-1][1]) if found["count"] else None,
        "device": total[1] if total else found["count"][-1][0] if found["count"] else None,
        "iterations": [finite(value) for _number, value, _device in found["iterations"]],
        "per_device": interval(per_device[1:]) if per_device else None,
        "total": interval(total[2:]) if total else None,
    }
    if warm_up_left_out(read):
        read["iterations"] = read["iterations"][1:]
    said = problems(read, found, expected_ranks, device)
    value = None if said else parsed.middle(read["iterations"], read["ranks"])
    series = parsed.scaled(read["iterations"], read["ranks"])
    return parsed.result(lines, UNIT, said, value=value, series=series, details=printed_exchange(lines), **read)


def read_lines(lines: list[str]) -> Found:
    return {
        "model": values(MODEL, lines),
        "batch_size": values(BATCH, lines),
        "count": values(COUNT, lines),
        "iterations": values(ITERATION, (line for line in lines if "Iter #" in line)),
        "per_device": values(PER_DEVICE, lines),
        "total": values(TOTAL, lines),
    }


def printed_once(found: Found) -> Found:
    """Leave one copy of each line where every iteration stands there equally often, copy after copy."""
    iterations = found["iterations"]
    once = list(dict.fromkeys(iterations))
    copies = len(iterations) // len(once) if once else 1
    if copies < 2 or iterations != [line for line in once for _copy in range(copies)]:
        return found
    kept = {name: list(dict.fromkeys(found[name])) for name in ("per_device", "total", "count")}
    return {**found, **kept, "iterations": once}


def of_one_rank(text: Any, found: Found) -> Found:
    """Leave what one rank printed where each printed a total of the same world."""
    ranks: dict[int | None, list[str]] = {}
    for line in tagged_lines(text):
        ranks.setdefault(line.rank, []).append(line.text)
    sizes = {size for size, *_rest in found["total"]}
    each = [read_lines(ranks[rank]) for rank in sorted(rank for rank in ranks if rank is not None)]
    of_all = [one for one in each if one["total"]]
    alone = len(sizes) != 1 or sizes == {"1"} or None in ranks and values(TOTAL, ranks[None])
    return found if alone or len(of_all) < 2 or any(len(one["total"]) > 1 for one in of_all) else of_all[0]


def warm_up_left_out(read: Result) -> bool:
    """Whether the printed mean is that of all iterations but the first, as Keras's script has it."""
    iterations, mean = read["iterations"], (read["per_device"] or {}).get("mean")
    if mean is None or len(iterations) < 2 or None in iterations:
        return False
    return bool(abs(fmean(iterations) - mean) > MEAN_ROUNDED >= abs(fmean(iterations[1:]) - mean))


def interval(pair: Sequence[str]) -> dict[str, float | None]:
    return {"mean": finite(pair[0]), "ci": finite(pair[1])}


def problems(result: Result, found: Found, expected_ranks: Any, device: str | None) -> list[str]:
    """Return a sentence for each reason not to use the numbers."""
    said = missing(result, found) + bad_numbers(result) + wrong_world(result, found, expected_ranks, device)
    # One that doesn't fit a total that is itself absent or wrong would say nothing new.
    return said if said else disagreements(result, found)


def missing(result: Result, found: Found) -> list[str]:
    if found["total"]:
        return [] if found["per_device"] else ["The line 'Img/sec per {}' is missing.".format(result["device"])]
    return [parsed.unfinished("Total img/sec", "iteration", len(found["iterations"]))]


def bad_numbers(result: Result) -> list[str]:
    said = []
    for name in ("total", "per_device"):
        numbers = result[name]
        if numbers and (None in numbers.values() or numbers["mean"] <= 0 or numbers["ci"] < 0):
            said.append("The {} is not a usable number.".format(name.replace("_", "-")))
    if parsed.unusable(result["iterations"]):
        said.append("An iteration's img/sec is not a usable number.")
    return said


def wrong_world(result: Result, found: Found, expected_ranks: Any, device: str | None) -> list[str]:
    """Compare who took part with who should have."""
    totals, said = found["total"], []
    if len(totals) > 1:
        sizes = sorted({int(total[0]) for total in totals})
        if sizes == [1]:
            said.append(
                f"{len(totals)} ranks each ran alone and printed a total of their own: the benchmark's Horovod "
                "does not use this MPI."
            )
        else:
            said.append(f"There are {len(totals)} lines 'Total img/sec' where one is expected.")
    counts = {int(count) for _device, count in found["count"]}
    if totals and len(totals) == 1 and counts and counts != {result["ranks"]}:
        printed = ", ".join(str(count) for count in sorted(counts))
        said.append(f"The benchmark counted {printed} at its start and {result['ranks']} at its end.")
    said += parsed.rank_problems(expected_ranks, result["ranks"])
    devices = {total[1] for total in totals} | {name for name, _count in found["count"]}
    return said + parsed.device_problems(device, devices)


def disagreements(result: Result, found: Found) -> list[str]:
    """Hold the printed numbers against each other. Each was rounded to a tenth before it was printed."""
    said, mean = [], result["per_device"]["mean"]
    if abs(result["total"]["mean"] - result["ranks"] * mean) > 0.05 * result["ranks"] + 0.06:
        said.append("The total is not the mean of a device times the ranks.")
    numbers = [int(number) for number, _value, _device in found["iterations"]]
    if numbers != list(range(len(numbers))):
        said.append("Iterations are missing from the output, or stand in it twice.")
    elif numbers and abs(fmean(result["iterations"]) - mean) > MEAN_ROUNDED:
        said.append("The mean is not that of the iterations printed.")
    elif not numbers:
        said.append("The output holds a total and no iteration.")
    return said
