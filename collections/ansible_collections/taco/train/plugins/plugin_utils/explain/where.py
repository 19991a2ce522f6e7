# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Name the host and the rank of a line of a log: by its tag, by the header of NCCL, MPI or PyTorch, or by mpirun's epilogue."""

import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

NAME = r"[A-Za-z0-9][\w.-]{0,252}"
# gpu1:4711:4720 [0] NCCL INFO, and before 2.4 without the word NCCL.
NCCL_HEADER = re.compile(rf"(?:^|\s)({NAME}):(\d{{1,10}}):\d{{1,10}} \[\d{{1,3}}\] ")
# [gpu1:4711], of UCX [gpu1:4711 :0:4720], and of Open MPI's TCP transport [gpu1][[4711,1],3][
MPI_HEADER = re.compile(rf"^\[({NAME}):(\d{{1,10}})(?:\]| *:\d)")
BTL_HEADER = re.compile(rf"^\[({NAME})\]\[\[\d{{1,10}},\d{{1,10}}\],(\d{{1,7}})\]\[")
TEST_HEADER = re.compile(rf"^({NAME}): Test (?:NCCL|CUDA) failure")
TORCH_RANK = re.compile(r"\[(?:PG [\w() ]{1,40} )?[Rr]ank (\d{1,7})\]")
# nccl-tests list their devices; NCCL names the rank of a communicator.
DEVICE = re.compile(rf"Rank +(\d{{1,7}}) .{{0,20}}Pid +(\d{{1,10}}) on +({NAME}) device")
COMMUNICATOR = re.compile(r"comm \S+ rank (\d{1,7}) nranks ")
# mpirun at the end.
ENDED = re.compile(rf"process rank (\d{{1,7}}) with PID (\d{{1,10}}) on\s+node ({NAME})")
EXITED = re.compile(r"Process name: (?:\[(?:\[[\d,]+\],|[^\]\s,]+,))?(\d{1,7})\]")
STARTED = re.compile(r"process\s+rank (\d{1,7})")
DAEMON = re.compile(rf"(?:Remote daemon *: *\S+ on node|target node: +)\s*({NAME})")
# The values of a help text of mpirun that name the host it is about.
HOST_FIELDS = ("node", "local_host", "host", "local_node", "remote_host", "target_node")
ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
PEER = re.compile(r"[A-Za-z][\w.-]*(?=<|$)")
OWN_ADDRESS = re.compile(r"(?:Bootstrap ?: Using|NET/Socket ?: Using).*?:(\d{1,3}(?:\.\d{1,3}){3})<")
# More ranks than these are counted.
MOST_NAMES = 4


class Place(NamedTuple):
    """A host and a rank, as far as they are known."""

    host: Optional[str] = None
    rank: Optional[int] = None


class Places:
    """Where the ranks of a log run, read once."""

    def __init__(self, lines: Sequence[Line], hosts: Sequence[str]) -> None:
        self.hosts = hosts
        self.host_of: Dict[int, str] = {}
        self.rank_of: Dict[Tuple[str, str], int] = {}
        self.host_at: Dict[str, str] = {}
        self.headers: Set[str] = set()
        self.daemon: Optional[str] = None
        self.ended = Place()
        for line in lines:
            self._read(line)

    def _read(self, line: Line) -> None:
        self._read_process(line)
        self._read_epilogue(line.text)

    def _read_process(self, line: Line) -> None:
        """Read what a line tells about the process that printed it, or about a device of another one."""
        text = line.text
        header = NCCL_HEADER.search(text) if " [" in text else None
        host = header[1] if header else line.host
        self.headers.update([header[1]] if header else [])
        if line.rank is not None and host:
            self.host_of.setdefault(line.rank, host)
        if header and line.rank is not None:
            self.rank_of.setdefault((header[1], header[2]), line.rank)
        if header and " Using " in text:
            own = OWN_ADDRESS.search(text)
            if own:
                self.host_at.setdefault(own[1], header[1])
        if header and " nranks " in text:
            communicator = COMMUNICATOR.search(text)
            if communicator:
                self._process(header[1], header[2], int(communicator[1]))
        elif " Pid " in text:
            device = DEVICE.search(text)
            if device:
                self._process(device[3], device[2], int(device[1]))

    def _read_epilogue(self, text: str) -> None:
        """Read what mpirun prints at the end about a host or a rank."""
        if " daemon" in text or " node" in text:
            daemon = DAEMON.search(text)
            self.daemon = self.daemon or (daemon[1] if daemon else None)
            ended = ENDED.search(text)
            if ended and self.ended == Place():
                self._process(ended[3], ended[2], int(ended[1]))
                self.ended = Place(ended[3], int(ended[1]))
        if "Process name" in text and self.ended == Place():
            exited = EXITED.search(text)
            self.ended = Place(None, int(exited[1])) if exited else self.ended

    def _process(self, host: str, pid: str, rank: int) -> None:
        """Several communicators count the ranks of one process differently; the first is that of all ranks."""
        self.rank_of.setdefault((host, pid), rank)
        self.host_of.setdefault(rank, host)

    def of_line(self, line: Line) -> Place:
        """The process that printed a line."""
        host, rank = line.host, line.rank
        both = BTL_HEADER.match(line.text)
        if both:
            return Place(both[1], int(both[2]))
        header = NCCL_HEADER.search(line.text) or MPI_HEADER.match(line.text)
        test = TEST_HEADER.match(line.text)
        torch = TORCH_RANK.search(line.text)
        if header:
            host = header[1]
            rank = self.rank_of.get((header[1], header[2])) if rank is None else rank
        elif test:
            host = test[1]
        if rank is None and torch:
            rank = int(torch[1])
        return Place(host or self.host_of.get(-1 if rank is None else rank), rank)

    def named(self, values: Mapping[str, str]) -> Place:
        """The place of the other rank that a line names, by its rank, its host or its address."""
        peer = values.get("peer", "")
        address, name = ADDRESS.search(peer), PEER.match(peer)
        host = values.get("host") or values.get("peer_host") or (name[0] if name else None)
        host = host or (self.host_at.get(address[0]) if address else None)
        rank = int(values["rank"]) if values.get("rank", "").isdigit() else None
        host = host or self.host_of.get(-1 if rank is None else rank)
        return Place(self.inventory_name(host) if host else None, rank)

    def found(self, line: Line, values: Mapping[str, str], scope: str) -> Place:
        """The place of a failure: what its line names, else the process that printed it, else the one that mpirun names at its end."""
        rank = int(values["rank"]) if values.get("rank", "").isdigit() else None
        host = values.get("host") or host_of_fields(values)
        if host is None and rank is None:
            host, rank = self.of_line(line)
        if host is None and rank is None and scope in ("before_ranks", "pod"):
            host = self.daemon
        if host is None and rank is None and scope in ("own_error", "launcher_end"):
            host, rank = self.ended
        if rank is not None and (host is None or values.get("rank")):
            host = host or self.host_of.get(rank) or (self.ended.host if rank == self.ended.rank else None)
        if rank is None and host and scope == "own_error" and self._is_only(host):
            rank = self.ended.rank
        started = STARTED.search(line.text) if scope == "before_ranks" and rank is None else None
        rank = int(started[1]) if started else rank
        return Place(self.inventory_name(host), rank)

    def _is_only(self, host: str) -> bool:
        """Whether the process that mpirun names at its end can only be one of this host."""
        known = self.ended.host or self.host_of.get(-1 if self.ended.rank is None else self.ended.rank)
        return known == host or (known is None and self.headers == {host})

    def inventory_name(self, host: Optional[str]) -> Optional[str]:
        """The name that the inventory has for a host, which is a longer or a shorter one in logs; else the name itself."""
        if host is None:
            return self.hosts[0] if len(self.hosts) == 1 else None
        host = host.rstrip(".,:")
        if host in self.hosts or ADDRESS.fullmatch(host):
            return host
        short = [name for name in self.hosts if name.partition(".")[0] == host.partition(".")[0]]
        return short[0] if len(short) == 1 else host

    def silent(self, lines: Sequence[Line]) -> List[str]:
        """The hosts of the run of which the log has no line, where it has lines of others."""
        shown = {self.inventory_name(host) for host in self.host_of.values()}
        named = [host for host in self.hosts if host in shown or any(host in line.text for line in lines)]
        return [host for host in self.hosts if host not in named] if shown & set(self.hosts) else []


def host_of_fields(fields: Mapping[str, str]) -> Optional[str]:
    """The host in the fields of a help text of mpirun."""
    return next((fields[name] for name in HOST_FIELDS if fields.get(name)), None)


def words(place: Place, text: str) -> str:
    """The place in words, without a host that the text names."""
    named = place.host and re.search(rf"(?<![\w.-]){re.escape(place.host)}(?![\w-])", text)
    rank = f"rank {place.rank}" if place.rank is not None else ""
    return " on ".join(part for part in (rank, "" if named else place.host or "") if part)


def listed(names: Sequence[str], noun: str) -> str:
    """Names as a list, or their number."""
    if len(names) > MOST_NAMES:
        return f"{len(names)} {noun}"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1] if names else "") if part)
