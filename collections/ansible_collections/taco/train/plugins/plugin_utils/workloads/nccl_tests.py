# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Turn the options of the workload `nccl_tests` into environment, MCA parameters and command.

The arguments are those of https://github.com/NVIDIA/nccl-tests, README.md (section Arguments). One rank drives one GPU.
"""

import re
from decimal import Decimal
from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads import workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload, WorkloadError

DEFAULTS = {
    "binary": "all_reduce_perf",
    "min_bytes": "8",
    "max_bytes": "128M",
    "step_factor": 2,
    "iters": 20,
    "warmup": 5,
}
# How nccl-tests reads a size: a number and one letter, of 1024.
SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?) ?([KMG]?)", re.IGNORECASE)
SUFFIXES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def size_of(options: Options, name: str) -> int:
    """Return the bytes of a size such as 1048576, "1M" or "8G"."""
    text = str(options[name]).strip()
    match = SIZE.fullmatch(text)
    count = int(Decimal(match.group(1)) * SUFFIXES[match.group(2).upper()]) if match else 0
    if isinstance(options[name], bool) or count < 1:
        raise WorkloadError(
            f"benchmark_{name} is {options[name]!r}; it must be a number of bytes, 1 or more, or one with K, M or G."
        )
    return count


NO_HOROVOD = "nccl_tests use no Horovod, so LightCC has no part in this number: arm {} differs only by its plugin."


def needs(options: Options) -> dict[str, str]:
    """The program, by the variable that names it."""
    return {"benchmark_binary": str(options.get("binary") or DEFAULTS["binary"])}


def check(options: Options) -> None:
    workload.require_words(options, "binary")
    workload.require_at_least(options, 1, "iters")
    workload.require_at_least(options, 2, "step_factor")
    workload.require_at_least(options, 0, "warmup")
    if size_of(options, "min_bytes") > size_of(options, "max_bytes"):
        raise WorkloadError(
            f"benchmark_min_bytes is {options['min_bytes']}, more than benchmark_max_bytes, {options['max_bytes']}."
        )
    if options.get("device", "GPU") != "GPU":
        raise WorkloadError("Workload nccl_tests runs on GPUs only: set benchmark_device to GPU.")


def command(options: Options) -> list[str]:
    words = [options["binary"], "-b", str(options["min_bytes"]).strip(), "-e", str(options["max_bytes"]).strip()]
    words += ["-f", str(options["step_factor"]), "-n", str(options["iters"]), "-w", str(options["warmup"]), "-g", "1"]
    if options.get("json_path"):
        words += ["-J", options["json_path"]]
    return words + workload.extra_args(options)


def build(options: Options, slots: Sequence[int]) -> Workload:
    """Return the Workload of options and of the slots of each host, or raise the first that can't be run."""
    options = dict(options, **{name: value for name, value in DEFAULTS.items() if options.get(name) is None})
    check(options)
    # A file that is there already is left alone, and the JSON goes into another beside it.
    cleanup: tuple[str, ...] = ()
    if options.get("json_path"):
        workload.require_words(options, "json_path")
        cleanup = (options["json_path"],)
    mca = workload.mca_parameters(options)
    arm = options["arm"]
    env = workload.environment(dict(options, arm=workload.without_horovod(arm), lightcc=None), slots)
    notes = [NO_HOROVOD.format(arm.name)] if workload.has_lightcc(arm) else []
    return Workload(env, mca, command(options), notes, cleanup=cleanup)
