# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Understand what C(ss -tin) prints about TCP connections, and add it up for each peer. Text in, values out."""

import re
from typing import Any, Dict, List, Mapping, Tuple

COMMAND = ["ss", "-tin", "state", "established"]
SECONDS = 10
MOST_PEERS = 256
# C(busy:1200ms) and C(rwnd_limited:800ms(66.7%)): the queue had data, and why the data waited.
TIMES = re.compile(r"\b(busy|rwnd_limited|sndbuf_limited):(\d+)ms")
NUMBERS = re.compile(r"\b(bytes_sent|bytes_acked|bytes_received):(\d+)\b")
# C(retrans:0/25): now, and in total.
RETRANSMITTED = re.compile(r"\bretrans:\d+/(\d+)")
# Connections with a smaller part of the bytes of the one with most, such as that of SSH, don't tell how busy the link to the peer is.
MOST_BYTES = 0.1
ZONE = re.compile(r"%[^\]:]*")

Connection = Dict[str, int]
Key = Tuple[str, str]


def address(text: str) -> str:
    """The address of an end: C(10.0.0.1:22), C([::1]:22), C([fe80::1]%eth0:22), C(10.0.0.1%eth0:22), C([::ffff:10.0.0.1]:22)."""
    host = text.rpartition(":")[0]
    host = ZONE.sub("", host).strip("[]") if "[" not in host else host[host.index("[") + 1 : host.index("]")]
    host = host.partition("%")[0].lower()
    return host[len("::ffff:") :] if host.startswith("::ffff:") and "." in host else host


def is_loopback(text: str) -> bool:
    return text.startswith("127.") or text == "::1"


def parse(text: str) -> Dict[Key, Connection]:
    """The connections in the output of C(ss), by their ends as they are printed, without those of the host with itself.

    A connection takes one line, and a second one that begins with a space. With a state there is no column for it.
    """
    found = {}  # type: Dict[Key, Connection]
    current = None
    for line in text.splitlines():
        if line[:1] not in (" ", "\t"):
            words = line.split()
            ends = [word for word in words if re.match(r"^\S+:\d+$", word)]
            current = (ends[0], ends[1]) if len(ends) >= 2 else None
            if current and (address(current[0]) == address(current[1]) or is_loopback(address(current[1]))):
                current = None
        if current:
            values = found.setdefault(current, {})
            values.update((name, int(value)) for name, value in [*TIMES.findall(line), *NUMBERS.findall(line)])
            match = RETRANSMITTED.search(line)
            if match:
                values["retransmits"] = int(match.group(1))
    return {key: values for key, values in found.items() if values}


def sent(values: Connection) -> int:
    return values.get("bytes_sent", values.get("bytes_acked", 0))


def transferred(values: Connection) -> int:
    """The bytes of a connection in both directions."""
    return sent(values) + values.get("bytes_received", 0)


class Peers:
    """What the connections that began after the first sample did, by the address of the peer."""

    def __init__(self, text: str) -> None:
        self.known = set(parse(text))
        self.first = {}  # type: Dict[Key, Tuple[float, Connection]]
        self.last = {}  # type: Dict[Key, Tuple[float, Connection]]

    def add(self, time: float, text: str) -> None:
        """Add a sample. A connection that has ended keeps the values of its last sample."""
        for key, values in parse(text).items():
            if key not in self.known:
                self.first.setdefault(key, (time, values))
                self.last[key] = (time, values)

    def totals(self) -> List[Dict[str, Any]]:
        """The totals of each peer, the one with most bytes first."""
        found = {}  # type: Dict[str, Dict[str, Any]]
        most = {}  # type: Dict[str, int]
        for key, (_time, values) in self.last.items():
            peer = address(key[1])
            most[peer] = max(most.get(peer, 0), transferred(values))
        for key, (time, values) in self.last.items():
            peer = address(key[1])
            total = found.setdefault(peer, {"peer": peer, "connections": 0, "sent": 0, "received": 0, "retransmits": 0})
            total["connections"] += 1
            total["sent"] += sent(values)
            total["received"] += values.get("bytes_received", 0)
            total["retransmits"] += values.get("retransmits", 0)
            _add_times(total, self.first[key], (time, values), transferred(values) >= MOST_BYTES * most[peer])
        return sorted(found.values(), key=lambda total: -total["sent"] - total["received"])[:MOST_PEERS]


def _add_times(
    total: Dict[str, Any], first: Tuple[float, Mapping[str, int]], last: Tuple[float, Mapping[str, int]], large: bool
) -> None:
    """Add the seconds between two samples, and those of them in which the connection had data to send."""
    seconds = last[0] - first[0]
    if seconds <= 0 or "busy" not in last[1]:
        return
    total["seconds"] = round(total.get("seconds", 0) + seconds, 3)
    for name in ("busy", "rwnd_limited", "sndbuf_limited"):
        grown = max(0, last[1].get(name, 0) - first[1].get(name, 0)) / 1000.0
        total[name] = round(total.get(name, 0) + min(grown, seconds), 3)
        if name == "busy" and large:
            # Most connections between ranks are idle: one that is always busy must not disappear among them.
            total["busiest"] = round(max(total.get("busiest", 0), min(grown / seconds, 1)), 4)
