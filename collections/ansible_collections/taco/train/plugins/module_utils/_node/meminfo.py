# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read /proc/meminfo and /proc/cpuinfo. Text in, values out."""

import re
from typing import Any, Dict, Optional


def parse_meminfo(text: str) -> Dict[str, int]:
    """Return the amounts in bytes; counts such as HugePages_Total stay counts."""
    values = {}
    for key, number, unit in re.findall(r"^(\S+):\s+(\d+)(?: (kB))?\s*$", text, re.MULTILINE):
        values[key] = int(number) * (1024 if unit else 1)
    return values


def memory(text: str) -> Dict[str, Optional[int]]:
    """Return how much memory there is and how much of it a program could get."""
    values = parse_meminfo(text)
    available = values.get("MemAvailable", values.get("MemFree"))
    return {"total_bytes": values.get("MemTotal"), "available_bytes": available}


def cpu(text: str) -> Dict[str, Any]:
    """Return the number of processors and whether they all can use pages of 2 MiB and 1 GiB."""
    count = len(re.findall(r"^processor\s*:", text, re.MULTILINE))
    flags = [set(line.split()) for line in re.findall(r"^flags\s*:(.*)$", text, re.MULTILINE)]
    common = set.intersection(*flags) if flags else set()
    return {"count": count, "page_1g": "pdpe1gb" in common, "page_2m": "pse" in common}
