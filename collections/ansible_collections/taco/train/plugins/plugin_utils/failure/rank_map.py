# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host of each rank and the rank of each process, as the lines of a log have them."""

import re
from typing import Dict, List, Mapping, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.epilogue import ENDED, EPILOGUE
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

NAME = r"[A-Za-z0-9][\w.-]{0,252}"
NCCL_HEADER = re.compile(rf"(?:^|\s)({NAME}):(\d{{1,10}}):\d{{1,10}} (?:\[(\d+)\] |NCCL )")
MPI_HEADER = re.compile(
    rf"^\s{{0,8}}\[(?=[^\]:]{{0,252}}(?:[A-Za-z.]|\d-\d{{1,3}}-\d))({NAME}):(\d{{1,10}})(?: *:\d+){{0,2}}\] "
)
# What a rank of NCCL says of itself: in the lines of its communicator, of its place in rings and trees, and of its channels.
NCCL_RANK = re.compile(
    r" rank (?P<rank>\d{1,7}) (?:nranks|nRanks|\[0x)| NCCL INFO (?:Ring \d{1,3} : \d{1,7} -> (?P<rank2>\d{1,7}) -> \d|"
    r"Trees? \[0\] [-\d/]{1,40}->(?P<rank3>\d{1,7})->|(?:Channel|Ring) \d{1,3}(?:/\d{1,3})? : (?:\d{1,7}\[\w{1,16}\] "
    r"-> (?P<rank4>\d{1,7})\[\w{1,16}\] \[receive\]|(?P<rank5>\d{1,7})\[\w{1,16}\] -> \d{1,7}\[\w{1,16}\] (?:\[send\]|via )))|"
    r"\[Proxy Service (?P<rank6>\d{1,7})\]| Destroyed comm \S{1,20} rank (?P<rank7>\d{1,7})"
)
SRUN_END = re.compile(rf"srun: error: ({NAME}): task (\d{{1,7}}): ")
SRUN_TASKS = re.compile(rf"srun: error: (?P<host>{NAME}): tasks (?P<tasks>[\d,-]{{1,400}}): ")
# What scripts put before a line with a number of its own.
NOT_OF_HOST = (
    r"(?!(?i:rank|gpu|cuda|epoch|step|iter|stage|phase|train|val|test|info|debug|warn|err|proc|worker)[\d_-]*\])"
)
# What launchers print of a rank: at its end, and of the cores that it is bound to.
OF_A_RANK = re.compile(
    r"process rank (?P<rank>\d{1,7}) with PID (?P<pid>\d{1,10}) on\s+node (?P<host>[\w.-]{1,253})|"
    rf"^\[(?P<host3>{NAME}):\d{{1,10}}\] (?:MCW r|R)ank (?P<rank3>\d{{1,7}}) (?:is not )?bound|"
    rf"srun: error: (?P<host4>{NAME}): task (?P<rank4>\d{{1,7}}): |"
    # What scripts print of themselves.
    rf"^rank (?P<rank6>\d{{1,7}}) on (?!cuda|gpu\d)(?P<host6>(?=[\w.-]*\d)(?=[\d.-]*[A-Za-z]){NAME})\b(?!:\d)|"
    rf"^\[{NOT_OF_HOST}(?P<host7>(?=[\w.-]*\d)[A-Za-z][\w.-]{{0,252}})\] rank (?P<rank7>\d{{1,7}})\b|"
    rf"#? *Rank +(?P<rank5>\d{{1,7}}) .{{0,40}}?Pid +(?P<pid2>\d{{1,10}}) on +(?P<host5>\S+) device(?: +(?P<device>\d{{1,3}}))?"
)
# Elastic Horovod names the first process that ended by its host and its number there, which is not its rank.
ELASTIC_FIRST = re.compile(rf"^Process name: ({NAME})\[\d{{1,7}}\]$")
# What a line of one of them has.
WORDS = ("rocess ", "srun: ", "Pid ", "ank ")
DIAGNOSTICS = re.compile(
    r"cuda_diagnostics\.cc:\d+\] (?:retrieving CUDA diagnostic information for host|hostname): ([\w.-]{1,253})"
)
# Lists of the ranks below their host: torchrun's table of failures, and mpirun's --display-map.
TABLE_HOST = re.compile(r"^\s{1,8}(?:host {1,12}: |Data for node: )(\S{1,253})")
TABLE_RANK = re.compile(
    r"^\s{1,8}(?:rank {1,12}: (\d{1,7}) \(local_rank: (?P<local>\d{1,3})|"
    r"Process (?:OMPI )?jobid: .{1,200} Process rank: (?P<mapped>\d{1,7}))"
)
TABLE_PID = re.compile(r"^\s{1,8}exitcode {1,12}: -?\d{1,3} \(pid: (\d{1,10})\)")
ROOT_CAUSE = "Root Cause (first observed failure):"
# The hosts that a command of mpirun or horovodrun in the log lists.
COMMAND = re.compile(
    r"(?:mpirun|mpiexec|prterun|horovodrun) .{0,2000}?(?:-H|--?hosts?)[ =](?P<hosts>\S+)(?P<rest>.{0,2000})"
)
HERE = re.compile(r"(?:localhost|127\.[\d.]+)(?::\d+)?$")
# The ranks are then not in the order of the slots.
OTHER_ORDER = re.compile(r"-map-by (?!slot)|--?(?:npernode|N|bynode|ppr|rankfile|rf|map-by ppr|pernode|rank-by)\b")
MOST_SLOTS = 64
# A host with its ranks, in a line of a launcher's script that lists all: n1: 0,1  n2: 2,3
MAP_ENTRY = re.compile(
    r"(?<![\w.:/-])([A-Za-z](?=[\w.-]{0,252}\d)[\w.-]{0,252})[:=] ?(?:\[|ranks? )?(\d{1,7}(?:[,-]\d{1,7}){0,63})(?![\w.:])"
)
# What has numbers of its own and is no host.
NO_HOST = re.compile(
    r"(?i)(?:gpu|cuda|cpu|core|socket|numa|dev|device|mlx_?|nic|port|rank|step|epoch|iter|batch|layer|stage)s?[_-]?"
)
MOST_OF_A_MAP = 2000
LEAST_OF_A_MAP = 2
# Instead of a rank.
SEVERAL = -1


def same_host(one: Optional[str], other: Optional[str]) -> bool:
    """Whether two names are those of one host, as its short name and its name with a domain are."""
    if not one or not other or one == other:
        return one == other
    short, long = sorted((one, other), key=len)
    return long.startswith(f"{short}.") and not short.isdecimal()


def named(groups: Mapping[str, Optional[str]], name: str) -> Optional[str]:
    """The value of a group, or of one with the same name and a number."""
    return next(
        (groups[key] for key in (name, *(f"{name}{number}" for number in range(2, 13))) if groups.get(key)), None
    )


def process_of(header: Optional["re.Match[str]"]) -> str:
    """The number of a process, and its device where a line of NCCL has it."""
    device = header[3] if header and header.re is NCCL_HEADER else None
    return f"{header[2]}[{device}]" if header and device else header[2] if header else ""


def who_is_where(lines: Sequence[Line]) -> Tuple[Dict[int, str], Dict[Tuple[str, str], int]]:
    """The host of each rank, and the rank of each process by its host and its number."""
    hosts: Dict[int, str] = {}
    ranks: Dict[Tuple[str, str], int] = {}
    table_host, table_rank = None, None
    processes: List[Tuple[str, str]] = []
    for line in lines:
        text = line.text
        if text.startswith(" "):
            table_host = (TABLE_HOST.match(text) or {1: table_host})[1]
            row, pid = TABLE_RANK.match(text), TABLE_PID.match(text)
            table_rank = int(row[1] or row["mapped"]) if row else table_rank
            if row and table_host and table_rank is not None:
                # torchrun numbers the ranks of a host one after the other.
                for below in range(max(table_rank - int(row["local"] or 0), 0), table_rank + 1):
                    hosts.setdefault(below, table_host)
            elif pid and table_host and table_rank is not None:
                ranks.setdefault((table_host, pid[1]), table_rank)
        known = OF_A_RANK.search(text) if any(word in text for word in WORDS) else None
        if known:
            host, number, pid_of = (named(known.groupdict(), name) for name in ("host", "rank", "pid"))
            hosts.setdefault(int(number or 0), host or "")
            if pid_of and host:
                # A process may have several devices, with a rank for each.
                if known["device"]:
                    processes.append((host, pid_of))
                    ranks.setdefault((host, f"{pid_of}[{known['device']}]"), int(number or 0))
                other = ranks.setdefault((host, pid_of), int(number or 0))
                ranks[host, pid_of] = other if other == int(number or 0) else SEVERAL
            continue
        if line.rank is not None:
            shown = DIAGNOSTICS.search(text) if "cuda_diagnostics" in text else None
            shown_host = line.host or (shown[1] if shown else None)
            if shown_host:
                hosts.setdefault(line.rank, shown_host)
        header = NCCL_HEADER.match(text) if " NCCL " in text else None
        if line.rank is not None and not header and text.startswith("["):
            header = MPI_HEADER.match(text)
        process = process_of(header)
        if header and (header[1], process) not in ranks:
            match = NCCL_RANK.search(text) if line.rank is None else None
            rank = int(named(match.groupdict(), "rank") or 0) if match else line.rank
            if rank is not None:
                hosts.setdefault(rank, header[1])
                ranks[header[1], process] = rank
                other = ranks.setdefault((header[1], header[2]), rank)
                ranks[header[1], header[2]] = rank if other == rank else SEVERAL
    if len(set(processes)) < len(processes):
        # nccl-tests with several GPUs for each process lists GPUs, and mpirun's ranks are those of the processes.
        first = first_to_end(lines)[1]
        for rank, process_name in enumerate(dict.fromkeys(processes)):
            hosts[rank] = process_name[0]
            ranks[process_name] = rank if rank == first else ranks[process_name]
    for rank, host in in_order(lines).items():
        if all(known == host for number, known in hosts.items() if number == rank):
            hosts[rank] = host
    return hosts, ranks


def in_order(lines: Sequence[Line]) -> Dict[int, str]:
    """The host of each rank by the order of the hosts and their slots in the launcher's command, empty without one."""
    command = next((match for match in map(COMMAND.search, (line.text for line in lines)) if match), None)
    if not command or OTHER_ORDER.search(command[0]):
        return of_map(lines)
    hosts: List[str] = []
    for entry in command["hosts"].split(","):
        host, _colon, slots = entry.partition(":")
        if not slots.isdecimal() or int(slots) > MOST_SLOTS or HERE.match(host):
            return {}
        hosts += [host] * int(slots)
    return dict(enumerate(hosts))


def of_map(lines: Sequence[Line]) -> Dict[int, str]:
    """The host of each rank in a line that lists all hosts with their ranks, empty without one."""
    for line in lines:
        text = line.text[:MOST_OF_A_MAP]
        if " NCCL " in text or text.count(":") + text.count("=") < LEAST_OF_A_MAP:
            continue
        entries = MAP_ENTRY.findall(text)
        stems = {re.sub(r"\d+", "", host) for host, _ranks in entries}
        if len({host for host, _ranks in entries}) > 1 and len(stems) == 1 and not NO_HOST.fullmatch(stems.pop()):
            of_hosts = {rank: host for host, listed in entries for rank in ranks_of(listed)}
            if set(of_hosts) == set(range(sum(len(ranks_of(listed)) for _host, listed in entries))):
                return of_hosts
    return {}


def ranks_of(text: str) -> List[int]:
    """The ranks in a list of numbers and ranges: 3-5,7."""
    ranks: List[int] = []
    for part in text.split(","):
        first, _dash, last = part.partition("-")
        if first.isdecimal() and (last.isdecimal() or not last):
            ranks += range(int(first), min(int(last or first), int(first) + MOST_SLOTS) + 1)
    return ranks


def tasks_of(text: str) -> Tuple[Optional[str], List[int]]:
    """The host and the ranks in a line of srun about several tasks: tasks 3-5,7."""
    match = SRUN_TASKS.search(text) if "srun: " in text else None
    if not match:
        return None, []
    ranks = ranks_of(match["tasks"])
    # One task alone is that of a launcher, whose ranks have numbers of their own.
    return match["host"], ranks if len(ranks) > 1 else []


def first_to_end(lines: Sequence[Line]) -> Tuple[Optional[str], Optional[int]]:
    """Host and rank of the first process that ended, as the launcher names it."""
    first = table_first(lines)
    if first:
        return first
    # Slurm lists the tasks of a host in one line, which names no first.
    together: Set[str] = set()
    for line in lines:
        for cause in [*ENDED, *EPILOGUE]:
            groups = cause.pattern.groupindex
            match = cause.pattern.search(line.text) if "rank" in groups or "rank2" in groups else None
            if match:
                groups_of_match = match.groupdict()
                number = named(groups_of_match, "rank")
                if number is not None and not together:
                    return named(groups_of_match, "host") or elastic_first(lines), int(number)
                together.update(host for host in [named(groups_of_match, "host")] if host)
    return (together.pop() if len(together) == 1 else None, None)


def elastic_first(lines: Sequence[Line]) -> Optional[str]:
    """The host of the first process that ended, as elastic Horovod names it."""
    return next((match[1] for match in (ELASTIC_FIRST.match(line.text.rstrip()) for line in lines) if match), None)


def table_first(lines: Sequence[Line]) -> Optional[Tuple[str, int]]:
    """Host and rank of the root cause in torchrun's table of failures, None without one."""
    begin = next((number for number, line in enumerate(lines) if line.text.startswith(ROOT_CAUSE)), None)
    if begin is None:
        return None
    host = None
    for line in lines[begin:]:
        match = TABLE_HOST.match(line.text)
        host = match[1] if match else host
        rank = TABLE_RANK.match(line.text)
        if host and rank:
            return host, int(rank[1])
    return None
