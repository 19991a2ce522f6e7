# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the host and the rank of a failure: in its line, in what the ranks print of themselves, in what launchers print at the end."""

import re
from functools import cached_property
from typing import Dict, List, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import MOST_CHARACTERS
from ansible_collections.taco.train.plugins.plugin_utils.failure.fields import MOST_OF_A_TEXT, RULE
from ansible_collections.taco.train.plugins.plugin_utils.failure.hosts import ADDRESS, looked_up
from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import (
    COMMAND,
    HERE,
    MPI_HEADER,
    NCCL_HEADER,
    SEVERAL,
    SRUN_END,
    SRUN_TASKS,
    first_to_end,
    named,
    process_of,
    tasks_of,
    who_is_where,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import names
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# Of Open MPI's TCP transport: the host, the rank, and the line of its source.
BTL_HEADER = re.compile(r"^\[([A-Za-z0-9][\w.-]{0,252})\]\[\[\d{1,10},\d{1,10}\],(\d{1,7})\]\[")
SIGNAL_HEADER = re.compile(r"^\[([A-Za-z0-9][\w.-]{0,252}):(\d{1,10})\] \*\*\* Process received signal")
# Of MVAPICH: the host and the rank.
MVAPICH_HEADER = re.compile(r"^\[([A-Za-z0-9][\w.-]{0,252}):mpi_rank_(\d{1,7})\]")
PSM3_HEADER = re.compile(r"^([A-Za-z0-9][\w.-]{0,252}):pid(\d{1,10})[.:]")
HYDRA_HEADER = re.compile(r"^\[proxy:[\d:]{1,20}@([A-Za-z0-9][\w.-]{0,252})\]")
PREFIX_RANK = re.compile(r"(?:\[rank(?=\d+\]:)|store based barrier on rank:? )(\d{1,7})")
TORCH_RANK = re.compile(r"\[(?=.*NCCL)(?:PG [\w() ]{1,40} )?[Rr]ank (\d{1,7})\]")
# The environment of a command of horovodrun, which the shell prints when it was ended.
HOROVOD_HEADER = re.compile(r"HOROVOD_HOSTNAME=(\S{1,253}) HOROVOD_RANK=(\d{1,7})")
TEST_HEADER = re.compile(r"(?:^([A-Za-z0-9][\w.-]{0,252})|\S): Test (?:NCCL|CUDA|HIP) failure")
TEST_TRACE = re.compile(r"^\s{0,4}\.\. ([A-Za-z0-9][\w.-]{0,252})(?: pid (\d{1,10}))?: Test failure")
# ssh and horovodrun name the host that they reach, and TensorFlow the one where a rank looks for a GPU.
REACHED = re.compile(r"Permanently added '\[?(?P<host>[\w.-]+)\]?|Remote host found: (?P<host2>[\w.-]+)")
# So many lines are between the line of ssh and what the other host prints.
NEXT_LINES = 2
# Horovod leaves a host out after its ranks failed.
BLACKLISTED = re.compile(r"[Bb]lacklist(?:ed|ing)? (?:failing )?host:? ([\w.-]+)")
ONE_HOST = re.compile(r"--standalone\b|--(?:nnodes|num[_-]machines|num_nodes)[= ]1(?!\S)|^\s{0,8}nnodes {1,20}: 1$")
# A launcher of PyTorch that is not told of other hosts, and its line of the first process that ended.
ALONE = re.compile(
    r"(?:\btorchrun|-m torch\.distributed\.(?:run|launch)) (?!.{0,400}--(?:nnodes|rdzv|node[-_]rank|master[-_]addr)).{0,400}\.py\b"
)
LOCAL_RANK = re.compile(r"local_rank: (\d{1,7}) \(pid")
SPAWNED = re.compile(r"-- Process (\d{1,7}) terminated with the following error")
# A traceback is shorter than this many lines.
MOST_OF_A_TRACEBACK = 200
STARTED = re.compile(
    r"^\s*when attempting to start process rank (\d{1,7})|^rank (\d{1,7}); it may have occurred|for process rank (\d{1,7}); it may"
)
# Where NCCL says which address it uses: NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>
OWN_ADDRESS = re.compile(r"(?:Bootstrap ?: Using|NET/Socket : Using).*?[\w.-]{1,16}:(\d{1,3}(?:\.\d{1,3}){3})<")
ADDRESS_PORT = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?:<\d+>|:\d+)?(?![\w.])")
PEER_NAME = re.compile(r"([A-Za-z][\w.-]*)(?:<\d+>|$)")


class Places:
    """Where the ranks of a log are, read once."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        # The ranks that show some causes, as they were found.
        self.with_error: Dict[Tuple[str, ...], List[int]] = {}

    @cached_property
    def _who_is_where(self) -> Tuple[Dict[int, str], Dict[Tuple[str, str], int]]:
        return who_is_where(self.lines)

    @property
    def hosts(self) -> Dict[int, str]:
        """The host of each rank."""
        return self._who_is_where[0]

    @property
    def ranks(self) -> Dict[Tuple[str, str], int]:
        """The rank of each process, by its host and its number."""
        return self._who_is_where[1]

    @cached_property
    def addresses(self) -> Dict[str, str]:
        """The host of each address, where NCCL logs it or the name server was asked."""
        hosts: Dict[str, str] = {}
        for line in self.lines:
            own = OWN_ADDRESS.search(line.text) if " INFO " in line.text else None
            header = NCCL_HEADER.search(line.text) if own else None
            if own and header:
                hosts.setdefault(own[1], header[1])
        return {**looked_up(self.lines), **hosts}

    @cached_property
    def headers(self) -> Set[str]:
        """The hosts in the headers of NCCL's and MPI's lines."""
        matches = (NCCL_HEADER.match(line.text) or MPI_HEADER.match(line.text) for line in self.lines)
        return {match[1] for match in matches if match}

    @cached_property
    def of_nccl(self) -> Optional[str]:
        """The only host whose processes print lines of NCCL, None without one."""
        matches = (NCCL_HEADER.search(line.text) for line in self.lines if " NCCL " in line.text)
        hosts = {match[1] for match in matches if match}
        return hosts.pop() if len(hosts) == 1 else None

    @cached_property
    def with_nccl(self) -> Set[Optional[int]]:
        """The ranks whose lines have NCCL's header, None among them for lines without a rank."""
        return {line.rank for line in self.lines if " NCCL " in line.text and NCCL_HEADER.search(line.text)}

    @cached_property
    def one_host(self) -> bool:
        """Whether the launcher's command or its table of options says that the run has one host."""
        return any(ONE_HOST.search(line.text) or ALONE.search(line.text[:MOST_CHARACTERS]) for line in self.lines)

    @cached_property
    def local_first(self) -> Optional[int]:
        """The rank that torchrun says ended first, where the run has one host."""
        first = next((match for match in (LOCAL_RANK.search(line.text) for line in self.lines) if match), None)
        return int(first[1]) if first and self.one_host else None

    @cached_property
    def only(self) -> Optional[int]:
        """The only rank that the lines name, where their headers are those of one process at most: every line is then its own."""
        lines = self.lines
        shown = [(line, PREFIX_RANK.search(line.text) or TORCH_RANK.search(line.text)) for line in lines]
        own = {line.rank if line.rank is not None else int(match[1]) if match else None for line, match in shown}
        ranks = {*own, *self.hosts, *self.ranks.values()} - {None}
        # Rank 0 alone prints some warnings of PyTorch.
        failed = any(line.rank is not None and not line.text.startswith(("[W", "[I")) for line in lines)
        headers = (NCCL_HEADER.search(line.text) for line in lines if " NCCL " in line.text)
        one = len({(match[1], match[2]) for match in headers if match}) < 2
        return ranks.pop() if failed and one and len(ranks) == 1 else None

    @cached_property
    def local(self) -> Optional[str]:
        """The rank on its host that torchrun names as the first that ended, None for several."""
        ranks = {match[1] for match in (LOCAL_RANK.search(line.text) for line in self.lines) if match}
        return ranks.pop() if len(ranks) == 1 else None

    def around(self, place: int) -> Optional[str]:
        """The only host in the headers of MPI's lines next to the help text that a line belongs to."""
        begin, end = place, place
        while begin > max(place - MOST_OF_A_TEXT, 0) and not RULE.match(self.lines[begin].text):
            begin -= 1
        while end < min(place + MOST_OF_A_TEXT, len(self.lines) - 1) and not RULE.match(self.lines[end].text):
            end += 1
        if not RULE.match(self.lines[begin].text):
            return None
        near = [*self.lines[max(begin - NEXT_LINES, 0) : begin], *self.lines[end + 1 : end + 1 + NEXT_LINES]]
        hosts = {match[1] for match in (MPI_HEADER.match(line.text) for line in near) if match}
        return hosts.pop() if len(hosts) == 1 else None

    @cached_property
    def spawned(self) -> Dict[int, int]:
        """The ranks that PyTorch's spawn names before the traceback of each, by the numbers of these lines."""
        matches = {number: SPAWNED.match(line.text) for number, line in enumerate(self.lines)}
        return {number: int(match[1]) for number, match in matches.items() if match}

    @cached_property
    def not_started(self) -> Optional[int]:
        """The rank that mpirun could not start, None where it doesn't say so."""
        return next(
            (
                int(next(filter(None, match.groups())))
                for match in (STARTED.search(line.text) for line in self.lines)
                if match
            ),
            None,
        )

    @cached_property
    def reached(self) -> Dict[int, str]:
        """The hosts that ssh reached, by the numbers of the lines that name them."""
        matches = {number: REACHED.search(line.text) for number, line in enumerate(self.lines)}
        return {number: named(match.groupdict(), "host") or "" for number, match in matches.items() if match}

    def remote(self, place: int) -> Optional[str]:
        """The host that prints a line through ssh: the one reached just before, or the only one."""
        before = [host for number, host in self.reached.items() if place - NEXT_LINES <= number < place]
        others = set(self.reached.values()) or {
            host.partition(":")[0]
            for line, match in ((line, COMMAND.search(line.text)) for line in self.lines)
            if match
            for host in match["hosts"].split(",")
            # The prompt of a shell, or a prefix, has the launcher's own host.
            if not names(f"{line.host or ''} {line.text[: match.start()]}".replace("@", " "), host.partition(":")[0])
        }
        others = {host for host in others if not HERE.match(host)}
        return before[-1] if before else others.pop() if len(others) == 1 else None

    @cached_property
    def blacklisted(self) -> Optional[str]:
        """The only host that Horovod left out, None without one."""
        matches = (BLACKLISTED.search(line.text) for line in self.lines)
        hosts = {match[1] for match in matches if match}
        return hosts.pop() if len(hosts) == 1 else None

    @cached_property
    def first_to_end(self) -> Tuple[Optional[str], Optional[int]]:
        """Host and rank of the first process that ended, as the launcher names it."""
        return first_to_end(self.lines)

    def tasks(self, place: int, host: str) -> List[int]:
        """The ranks that srun lists together: in a line, or else of a host whose end it reports first."""
        own = tasks_of(self.lines[place].text)[1]
        if own or self.first_to_end != (host, None):
            return own
        lists = (tasks_of(line.text) for line in self.lines)
        return next((ranks for name, ranks in lists if name == host), [])

    def of_peer(self, peer: str) -> Optional[str]:
        """The host in a name or an address with a port, None for the address of an unknown host."""
        address = ADDRESS.match(peer)
        name = PEER_NAME.match(peer)
        return self.addresses.get(address[0]) if address else name[1] if name else None

    def with_hosts(self, text: str) -> str:
        """A sentence with the host behind each address that is known to be its own."""

        def with_host(match: "re.Match[str]") -> str:
            host = self.addresses.get(match[1])
            return f"{match[0]} ({host})" if host and not names(text, host) else match[0]

        return ADDRESS_PORT.sub(with_host, text)


def located(
    places: "Places", place: int, host: Optional[str], rank: Optional[int], ask_epilogue: bool
) -> Tuple[Optional[str], Optional[int]]:
    """Host and rank of a line: from the line, from what the ranks print of themselves, else from what mpirun prints at its end."""
    lines = places.lines
    pid, line = None, lines[place]
    both = (
        SRUN_END.match(line.text)
        or BTL_HEADER.match(line.text)
        or MVAPICH_HEADER.match(line.text)
        or HOROVOD_HEADER.search(line.text)
    )
    if both:
        return host or both[1], int(both[2]) if rank is None else rank
    several = SRUN_TASKS.search(line.text) if "srun: " in line.text else None
    if several:
        return host or several["host"], rank
    header = NCCL_HEADER.search(line.text) or MPI_HEADER.match(line.text) or PSM3_HEADER.match(line.text)
    proxy = HYDRA_HEADER.match(line.text)
    test = TEST_HEADER.search(line.text)
    if header:
        # A collector names the machine or the pod that it read from, which may be the launcher's.
        host, pid = header[1] if host in (None, line.host) else host, process_of(header)
    elif proxy:
        host = host or proxy[1]
    elif test:
        trace = next(
            (match for match in (TEST_TRACE.match(near.text) for near in lines[place : place + 3]) if match), None
        )
        host, pid = host or test[1] or (trace[1] if trace else None), trace[2] if trace else None
    if rank is None:
        near = [
            line.text[:MOST_CHARACTERS]
            for line in lines[max(place - 4, 0) : place + 1]
            if not line.text.startswith("[I ")
        ]
        # PyTorch's [rank9]: is the rank of the run, [Rank 0] is that of a group of ranks.
        own = PREFIX_RANK.search(line.text)
        told = [own[1]] if own else [match[1] for match in map(TORCH_RANK.search, near) if match]
        rank = int(told[-1]) if told else None
    if rank is None:
        above = [number for number in places.spawned if place - MOST_OF_A_TRACEBACK < number < place]
        rank = places.spawned[above[-1]] if above else None
    hosts, ranks = places.hosts, places.ranks
    if rank is None and pid and host:
        known = ranks.get((host, pid), ranks.get((host, pid.partition("[")[0])))
        rank = known if known != SEVERAL else None
    if host is None and rank is None and ask_epilogue:
        host, rank = places.first_to_end
    if host is None and rank is None:
        # Of a process that aborts, Open MPI's next line has the host.
        after = (SIGNAL_HEADER.match(near.text) for near in lines[place + 1 : place + 3])
        signal = next((match for match in after if match), None)
        host, rank = (signal[1], ranks.get((signal[1], signal[2]))) if signal else (None, None)
    if host is None and rank is not None:
        first_host, first_rank = places.first_to_end
        host = hosts.get(rank) or (first_host if rank == first_rank else None)
    return host, rank
