# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""The workloads by name: how each is built, how its output is read, and in which unit it is judged."""

from typing import Callable, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils import parse_horovod, workload_horovod


class WorkloadKind(NamedTuple):
    """One workload."""

    build: Callable
    """build(options, slots) -> Workload; raises WorkloadError."""
    parse: Callable
    """parse(text, expected_ranks=None, device="GPU", options=None) -> dict of parsed.result; never raises."""
    unit: str
    """The unit of the number, where the options don't say another."""


WORKLOADS = {
    "horovod_synthetic": WorkloadKind(workload_horovod.build, parse_horovod.parse, "images/s"),
}
