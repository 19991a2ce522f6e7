# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What C(nvidia-smi) prints about clocks, throttle reasons and memory errors of GPUs. Text in, values out."""

import re
from typing import Any, Dict, Optional

QUERY = (
    "uuid,clocks.sm,clocks.max.sm,temperature.gpu,clocks_throttle_reasons.active,ecc.errors.uncorrected.volatile.total,"
    "ecc.errors.corrected.volatile.total"
)
COMMAND = ["nvidia-smi", "--query-gpu=" + QUERY, "--format=csv,noheader,nounits"]
SECONDS = 30
NUMBERS = ("clock", "clock_max", "temperature")
ERRORS = ("uncorrected", "corrected")
# Bits of the reasons for a lower clock, of NVML's nvmlClocksEventReasons. Limits that the user set are no fault.
IDLE = 0x1
REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "temperature (software)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}


def _number(text: str) -> Optional[int]:
    match = re.match(r"^\s*(\d{1,15})(?:\.\d+)?\s*$", text)
    return int(match.group(1)) if match else None


def parse(text: str) -> Dict[str, Dict[str, Any]]:
    """The state of each GPU by its UUID. A value that nvidia-smi doesn't know is absent."""
    found = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 7 or not fields[0].startswith(("GPU-", "MIG-")):
            continue
        values = dict(zip((*NUMBERS, "reasons", *ERRORS), fields[1:]))
        state = {name: _number(values[name]) for name in (*NUMBERS, *ERRORS)}  # type: Dict[str, Any]
        known = re.match(r"^0x[0-9a-fA-F]{1,16}$", values["reasons"])
        active = int(values["reasons"], 16) if known else 0
        state = {name: value for name, value in state.items() if value is not None}
        if known:
            state["idle"] = bool(active & IDLE)
        state["reasons"] = [name for bit, name in REASONS.items() if active & bit]
        found[fields[0]] = state
    return found


class Range:
    """The lowest clock, the highest temperature and all throttle reasons of each GPU over several samples under load."""

    def __init__(self) -> None:
        self.found = {}  # type: Dict[str, Dict[str, Any]]

    def add(self, text: str) -> None:
        """Add a sample. Only the reasons count when the GPU is idle, or not known to be under load: its clock is low then."""
        for uuid, state in parse(text).items():
            total = self.found.setdefault(uuid, {"samples": 0, "reasons": []})
            total["reasons"] = sorted({*total["reasons"], *state["reasons"]})
            if state.get("idle", True):
                continue
            total["samples"] += 1
            for name, choose in (("clock", min), ("temperature", max)):
                if name in state:
                    total[name] = choose(state[name], total.get(name, state[name]))
            if "clock_max" in state:
                total["clock_max"] = state["clock_max"]
