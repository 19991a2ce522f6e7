# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a run took the path that its arm promises: the bytes that it must send, compared with those that crossed the interfaces.

HARP passes the kernel by, so that the kernel counts nothing of its traffic. Kernel TCP counts all of it.
"""

from statistics import median
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.lightcc import is_lossy
from ansible_collections.taco.train.plugins.plugin_utils.text import bytes_text
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.shares import nic_total
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_log import is_harp
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

TCP, HARP = "kernel TCP", "HARP"
PROVED, CONTRADICTED, UNKNOWN = "proved", "contradicted", "unknown"
# From this share of the expected bytes on, they went through the kernel; up to the other, they did not. A host has other traffic, and
# algorithms other than a ring send down to half of the bytes.
MUCH, LITTLE = 0.5, 0.1
# Of fewer bytes the traffic of other programs may be as much.
LEAST_BYTES = 16 << 20

Record = Mapping[str, Any]


class Path(NamedTuple):
    """The promise of the arm, the verdict, and the bytes by host that it rests on."""

    promise: Optional[str]
    verdict: str
    reason: str
    expected: Mapping[str, float] = {}
    sent: Mapping[str, int] = {}


def promise(record: Record) -> Optional[str]:
    """The path that an arm promises, None for one that promises none."""
    plugin, network = record["arm_spec"]["plugin"], record["arm_spec"].get("network")
    if plugin == "on":
        return HARP if network is None or is_harp(network) else None
    return TCP if plugin == "off" and "IB" not in str(record.get("network")).split(", ") else None


def expected_bytes(records: Sequence[Record]) -> Dict[str, float]:
    """The bytes that each host must have sent in all good runs together."""
    found: Dict[str, float] = {}
    for record in records:
        if record["outcome"] == "ok" and len(record["hosts"]) > 1:
            kind = WORKLOADS[record["workload"]]
            size = kind.sent and kind.sent(record["parameters"], record["result"], record["ranks"])
            for host in record["hosts"] if size else ():
                found[host["name"]] = found.get(host["name"], 0.0) + (size or 0.0)
    return found


def unknown_because(records: Sequence[Record], shared: Sequence[Sequence[str]]) -> Optional[str]:
    """Why the bytes of these runs can't decide, None where they can."""
    good = [record for record in records if record["outcome"] == "ok"]
    if not good:
        return "no run was good"
    hosts = {host["name"] for record in good for host in record["hosts"]}
    if len(hosts) < 2:
        return "a run on one host sends nothing to others"
    if any(is_lossy(record["environment"]) for record in good):
        return "top-k compression sends a part of the bytes that depends on the gradients"
    if any(len(set(group) & hosts) > 1 for group in shared) or _same_node(good):
        return "workers on the same node exchange bytes that cross no interface"
    if promise(good[0]) == HARP and any(record["lab"] for record in good):
        return "the lab's stand-in for HARP sends over kernel TCP"
    return None


def _same_node(records: Sequence[Record]) -> bool:
    for record in records:
        places = [
            place["node"] if isinstance(place, Mapping) else place for place in (record.get("placement") or {}).values()
        ]
        if len(set(places)) < len(places):
            return True
    return False


def path(records: Sequence[Record], deltas: Mapping[str, Any], shared: Sequence[Sequence[str]] = ()) -> Path:
    """The path of runs of the same arm. deltas is the difference of the counters of each host over all of them."""
    promised = promise(records[0])
    if promised is None:
        return Path(None, UNKNOWN, f"arm {records[0]['arm']} promises no path")
    reason = unknown_because(records, shared)
    if reason:
        return Path(promised, UNKNOWN, reason)
    expected = expected_bytes(records)
    if not expected:
        return Path(promised, UNKNOWN, "the bytes that the workload must send are not known")
    sent = {host: nic_total(deltas.get(host), "sent") for host in expected}
    without = [host for host, value in sent.items() if value is None]
    known = {host: value for host, value in sent.items() if value is not None}
    if without:
        return Path(
            promised, UNKNOWN, f"{without[0]} lacks counters of an interface, or they were reset", expected, known
        )
    if min(expected.values()) < LEAST_BYTES:
        return Path(
            promised, UNKNOWN, f"the run had to send only {bytes_text(min(expected.values()))}", expected, known
        )
    return _decided(promised, expected, known)


def _decided(promised: str, expected: Mapping[str, float], sent: Mapping[str, int]) -> Path:
    shares = [sent[host] / expected[host] for host in expected]
    middle = median(shares)
    crossed, needed = (bytes_text(median(one.values())) for one in (sent, expected))
    words = f"{crossed} crossed the interfaces of a host (median), {needed} had to be sent"
    if promised == TCP:
        verdict = PROVED if middle >= MUCH else CONTRADICTED if max(shares) < LITTLE else UNKNOWN
    else:
        verdict = PROVED if max(shares) < LITTLE else CONTRADICTED if middle >= MUCH else UNKNOWN
    return Path(promised, verdict, words, expected, sent)


def problem(found: Path, arm: str) -> str:
    """The reason why a run with a contradicted path failed, with the fix."""
    if found.promise == HARP:
        return (
            f"The run fell back to kernel TCP, and arm {arm} promises HARP: {found.reason}. Check that NCCL loads the plugin on each host "
            "(NCCL_DEBUG=INFO in benchmark_env), that ztcp*.conf names the ENIs, and NCCL_NET and NCCL_SOCKET_IFNAME."
        )
    return (
        f"The bytes took another path than kernel TCP, which arm {arm} promises: {found.reason}. Look for another network of NCCL, such as "
        "RDMA (set NCCL_IB_DISABLE: 1 in benchmark_env), and for a plugin that NCCL finds before LD_LIBRARY_PATH (RPATH)."
    )


def path_json(found: Path) -> Dict[str, Any]:
    """The path as the record keeps it."""
    hosts: List[str] = sorted({*found.expected, *found.sent})
    return {
        "promise": found.promise,
        "verdict": found.verdict,
        "reason": found.reason,
        "hosts": {host: {"expected": found.expected.get(host), "sent": found.sent.get(host)} for host in hosts},
    }
