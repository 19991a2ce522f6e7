# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the counters of a host that only grow: interfaces, TCP, CPU, control groups; and the state of its GPUs.

Everything is read below a given root.

A counter that can't be read is absent. Nobody may take an absent counter for 0.
"""

import os
import re
from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._node.nics import names_in, read_text

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


OF_NIC = ("rx_bytes", "tx_bytes", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors")
OF_TCP = ("OutSegs", "RetransSegs")
# Columns of /proc/stat whose sum is the time of all CPUs. The time of guests is part of user and nice.
OF_CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
# Ends of virtual interfaces that other interfaces count as well.
INTERNAL = re.compile(r"^(lo$|docker|br-|veth|virbr|cni|flannel|cali|tunl)")
XID = re.compile(r"^\[\s*(\d+\.\d+)\]\s*(NVRM: Xid .*)$", re.MULTILINE)
MOST_XIDS = 50
MOST_OF_A_LINE = 200


def whole_number(text: str) -> Optional[int]:
    """A text as a counter, None where it is none."""
    text = text.strip()
    return int(text) if re.match(r"^[0-9]{1,20}$", text) else None


def _counts(folder: str, name: str) -> bool:
    """Whether the bytes of an interface are not those of another one: no end of a container, no member of a bridge."""
    path = os.path.join(folder, name)
    if os.path.exists(os.path.join(path, "device")):
        return True
    inner = any(os.path.exists(os.path.join(path, part)) for part in ("bridge", "brport", "bonding"))
    return os.path.isdir(path) and not INTERNAL.match(name) and not inner


def nics(root: str) -> Dict[str, Dict[str, int]]:
    """The counters of each interface: of the devices, or where no interface has a device, as in a container, of all."""
    folder = os.path.join(root, "sys/class/net")
    names = [name for name in names_in(folder) if _counts(folder, name)]
    devices = [name for name in names if os.path.exists(os.path.join(folder, name, "device"))]
    found = {}
    for name in devices or names:
        values = {one: whole_number(read_text(folder, name, "statistics", one)) for one in OF_NIC}
        found[name] = {one: value for one, value in values.items() if value is not None}
    return found


def tcp(root: str) -> Dict[str, int]:
    """The segments that TCP sent, and those that it sent again."""
    lines = [line.split() for line in read_text(root, "proc/net/snmp").splitlines() if line.startswith("Tcp:")]
    if len(lines) != 2 or len(lines[0]) != len(lines[1]):
        return {}
    values = dict(zip(lines[0], map(whole_number, lines[1])))
    return {name: value for name, value in values.items() if name in OF_TCP and value is not None}


def cpu(root: str) -> Dict[str, int]:
    """The time of all CPUs together in ticks: in total, idle, and stolen by the hypervisor."""
    words = read_text(root, "proc/stat").partition("\n")[0].split()
    numbers = [whole_number(word) for word in words[1 : 1 + len(OF_CPU)]]
    if words[:1] != ["cpu"] or len(numbers) != len(OF_CPU) or None in numbers:
        return {}
    values = dict(zip(OF_CPU, [number or 0 for number in numbers]))
    return {"total": sum(values.values()), "idle": values["idle"] + values["iowait"], "steal": values["steal"]}


def _pairs(text: str) -> Dict[str, int]:
    words = [line.split() for line in text.splitlines()]
    values = {pair[0]: whole_number(pair[1]) for pair in words if len(pair) == 2}
    return {name: value for name, value in values.items() if value is not None}


def _folders(root: str, pid: str) -> List[str]:
    """The control group of a process for its CPU time, and all groups above it."""
    found = []
    for line in read_text(root, "proc", pid, "cgroup").splitlines():
        _number, _colon, rest = line.partition(":")
        controllers, _colon, path = rest.partition(":")
        base = os.path.join(root, "sys/fs/cgroup")
        if controllers:
            if "cpu" not in controllers.split(","):
                continue
            base = os.path.join(base, "cpu")
        parts = [part for part in path.split("/") if part not in ("", "..")]
        found += [os.path.join(base, *parts[:count]) for count in range(len(parts), -1, -1)]
    return found


def throttling(root: str, pid: str = "self") -> Dict[str, int]:
    """How often and for how long a quota stopped the control groups of a process. A quota of a group above holds as well."""
    periods, microseconds, known = 0, 0, False
    for folder in _folders(root, pid):
        values = _pairs(read_text(folder, "cpu.stat"))
        if "nr_throttled" in values:
            known = True
            periods += values["nr_throttled"]
            microseconds += values.get("throttled_usec", values.get("throttled_time", 0) // 1000)
    return {"periods": periods, "microseconds": microseconds} if known else {}


def xids(text: str) -> List[Dict[str, Any]]:
    """The errors of GPUs in the output of C(dmesg), each with the seconds since the boot."""
    found = [{"uptime": float(time), "text": line[:MOST_OF_A_LINE]} for time, line in XID.findall(text)]
    return found[-MOST_XIDS:]


def init_started(root: str) -> Optional[int]:
    """When process 1 started, in ticks since the boot: of a pod that replaces another one of the same name it is another time.

    The kernel gives the number of a network namespace that is gone to the next one.
    """
    # The name of the process is in parentheses and may contain both spaces and parentheses. The start is field 22.
    fields = read_text(root, "proc/1/stat").rpartition(")")[2].split()
    return whole_number(fields[19]) if len(fields) > 19 else None


def snapshot(root: str, pid: str = "self") -> Dict[str, Any]:
    """All counters at this moment, with what tells whether two snapshots are of the same boot, pod and network namespace."""
    uptime = read_text(root, "proc/uptime").split()
    try:
        namespace = os.readlink(os.path.join(root, "proc/self/ns/net"))
    except OSError:
        namespace = ""
    return {
        "boot_id": read_text(root, "proc/sys/kernel/random/boot_id"),
        "namespace": namespace,
        "init_started": init_started(root),
        "uptime": float(uptime[0]) if uptime and re.match(r"^\d+(\.\d+)?$", uptime[0]) else None,
        "nics": nics(root),
        "tcp": tcp(root),
        "cpu": cpu(root),
        "throttling": throttling(root, pid),
    }
