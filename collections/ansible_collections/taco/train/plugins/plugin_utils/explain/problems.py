# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Explain a run that ended well, and whose output can't be used: the fix for each problem that a parser reports."""

import re
from typing import Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.explain.log import shown_lines, told_lines
from ansible_collections.taco.train.plugins.plugin_utils.explain.symptoms import Explanation, known_explanation

FIXES = [
    (
        r"build nccl-tests with MPI=1",
        "build nccl-tests in taco_image with MPI=1 and MPI_HOME, and set benchmark_options.binary to that build",
    ),
    (
        r"counted .* at its start",
        "run again with the same hosts from start to end: a result is that of one number of ranks",
    ),
    (
        r"ranks were started and|don't agree on how many",
        "start all ranks with one mpirun, and build Horovod or the test for that MPI",
    ),
    (
        r"and not by horovod",
        "leave --variable_update out of benchmark_options.extra_args: each GPU is a rank of Horovod here, and one process with several "
        "GPUs exchanges nothing between ranks",
    ),
    (
        r"ran on .* where",
        "check nvidia-smi in the container, and that the framework there has CUDA; or set benchmark_device",
    ),
    (
        r"matches benchmark_",
        "set benchmark_options.pattern or benchmark_options.total_pattern to what the script prints, and let the script run to its end",
    ),
    (
        r"several (?:runs|models)|where one is expected|stand in it twice",
        "run again, with one benchmark in the command",
    ),
    (
        r"different networks",
        "set NCCL_SOCKET_IFNAME, NCCL_IB_HCA and the plugin in benchmark_env so that all hosts take the same network",
    ),
    (
        r"did not finish",
        "look at the last lines of the log: something ended the script early without a status, or its output was cut",
    ),
    (
        r"below what NCCL_TESTS_MIN_BW",
        "look for the slow host or link, or set NCCL_TESTS_MIN_BW in benchmark_env to a smaller number",
    ),
    (
        r"^One rank exchanges",
        "set benchmark_hosts, the slots in it or taco_gpus_per_node so that two ranks or more take part; if more were started, each ran "
        "alone: build nccl-tests in taco_image with MPI=1",
    ),
    (r"not a usable number|not that of|not the mean", "run again, and check the script for changes of what it prints"),
]

UNKNOWN = (
    "run the script to its end alone on one host, and set benchmark_workload and benchmark_options to what it prints there; the last "
    "lines of the log show what it printed here"
)


def explain_problems(
    text: str, problems: Sequence[str], hosts: Sequence[str] = (), fix: Optional[str] = None
) -> Explanation:
    """What is wrong with the output of a run that ended with status 0, with its fix where the caller knows it."""
    found = " ".join(problems).rstrip(".")
    known = known_explanation(text, hosts)
    if known and known.name == "wrong_data":
        return known._replace(found=found)
    if known and "counted" in found:
        # Horovod goes on with fewer ranks.
        return known._replace(found=f"{found}: {known.found}")
    fix = fix or next((fix for pattern, fix in FIXES if re.search(pattern, found)), UNKNOWN)
    return Explanation(found, fix, lines=shown_lines(told_lines(text)))
