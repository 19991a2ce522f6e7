# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Find in a line of a running benchmark the value of an iteration. Text in, number out."""

from typing import Any, Callable, Dict, Optional

from ansible_collections.taco.train.plugins.plugin_utils import parse_horovod
from ansible_collections.taco.train.plugins.plugin_utils.parsed import finite

IterationOf = Callable[[str], Optional[float]]


def _horovod(line: str) -> Optional[float]:
    match = parse_horovod.ITERATION.match(line)
    return finite(match.group(2)) if match else None


def iteration_of(options: Dict[str, Any]) -> Optional[IterationOf]:
    """Return the function for a run's workload, None for one that prints nothing on its way."""
    return {"horovod_synthetic": _horovod}.get(options["workload"])
