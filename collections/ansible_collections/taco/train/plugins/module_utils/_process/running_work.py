# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work that an interruption would end: processes on the GPUs, ranks in the training container, other containers."""

import glob
import os
import pwd
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._process.idle import VARIABLE, is_idle
from ansible_collections.taco.train.plugins.module_utils._process.timed import Output, run_timed

# nvidia-smi takes this long where no process keeps the driver loaded.
COMMAND_SECONDS = 60
QUERY = ["nvidia-smi", "--query-compute-apps=pid,gpu_uuid,process_name", "--format=csv,noheader"]
TOP = "pid,stat,user,args"
# Programs that wait, forward signals or accept logins. None of them computes anything.
# Every CUDA program has it open, and no monitoring program does.
UVM = "/dev/nvidia-uvm"
SHOWN = 8


class Work(NamedTuple):
    """A running process, or a running container as a whole."""

    pid: Optional[int]
    user: str
    command: str
    place: str
    """Such as C(GPU GPU-0d3f) or C(container taco-train)."""

    def __str__(self) -> str:
        said = [f"pid {self.pid}"] if self.pid is not None else []
        said += [f"user {self.user}"] if self.user else []
        return f"{self.command or 'a process'} ({', '.join(said + [self.place])})"


def parse_compute_apps(text: str) -> List[Work]:
    """The processes that nvidia-smi prints for QUERY.

    It prints C(No running processes found), C([Not Supported]) and warnings in the same place, and C([N/A]), C([Not Found]) or
    C([Insufficient Permissions]) instead of a name. A MIG device has an UUID of its own.
    """
    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",", 2)]
        if len(fields) == 3 and fields[0].isdecimal():
            pid, gpu, name = fields
            found.append(Work(int(pid), "", "" if name.startswith("[") else name, f"GPU {gpu}".rstrip()))
    return found


def parse_top(text: str, container: str) -> List[Work]:
    """The processes that C(docker top) prints for TOP, without those that only keep the container running."""
    found = []
    for line in text.splitlines()[1:]:
        fields = line.split(None, 3)
        if (
            len(fields) == 4
            and fields[0].isdecimal()
            and not fields[1].startswith("Z")
            and not is_idle(fields[3].split())
        ):
            found.append(Work(int(fields[0]), fields[2], fields[3].strip(), f"container {container}"))
    return found


def require_idle(interruption: str, work: Sequence[Work], verb: str = "end") -> str:
    """The message that refuses an interruption, empty without running work. The verb is what it does to the work."""
    if not work:
        return ""
    shown = "; ".join(str(one) for one in work[:SHOWN])
    more = f"; and {len(work) - SHOWN} more" if len(work) > SHOWN else ""
    return (
        f"{interruption} would {verb} running work: {shown}{more}. Wait until it has ended or stop it, or set "
        f"{VARIABLE}: true to {verb} it"
    )


def _owner(pid: int) -> str:
    try:
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return ""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        # Not every user of a container is known to the host.
        return str(uid)


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return " ".join(file.read().decode("utf-8", "replace").replace("\0", " ").split())
    except OSError:
        return ""


def with_owner(work: Work) -> Work:
    """The work with what the host knows of the process, which may belong to another namespace of processes."""
    if work.pid is None:
        return work
    return work._replace(user=work.user or _owner(work.pid), command=_command(work.pid) or work.command)


def _with_uvm_open() -> List[Work]:
    """The CUDA programs by their open files, for a host whose nvidia-smi doesn't answer."""
    found = {}
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(link) == UVM:
                found[int(link.split("/")[2])] = True
        except OSError:
            continue
    return [Work(pid, "", "", "a GPU") for pid in sorted(found)]


def gpu_work() -> List[Work]:
    """The processes on the GPUs of this host."""
    done = run_timed(QUERY, COMMAND_SECONDS)
    if done.status == 0:
        return [with_owner(one) for one in parse_compute_apps(done.stdout)]
    return [with_owner(one) for one in _with_uvm_open()]


class Engine:
    """The containers of an engine. One that doesn't answer runs none that could be told of."""

    def __init__(self, command: List[str]) -> None:
        self.command = command

    def ask(self, *words: str) -> Output:
        return run_timed(self.command + list(words), COMMAND_SECONDS)

    def ranks(self, container: str) -> List[Work]:
        """The processes in a container besides those that keep it running."""
        done = self.ask("top", container, "-eo", TOP)
        return parse_top(done.stdout, container) if done.status == 0 else []

    def containers(self, training: str) -> List[Work]:
        """What a restart of the engine ends: the containers, and of the training container its ranks."""
        if self.ask("info", "--format", "{{.LiveRestoreEnabled}}").stdout.strip() == "true":
            return []
        done = self.ask("ps", "--format", "{{.Names}}\t{{.Image}}")
        found = []
        for line in done.stdout.splitlines() if done.status == 0 else []:
            name, _tab, image = line.partition("\t")
            found += self.ranks(name) if name == training else [Work(None, "", image, f"container {name}")]
        return found


def running_work(options: Dict[str, Any]) -> List[Work]:
    """All that an interruption of this kind would end, each process once."""
    engine = Engine(options["engine_command"])
    found = gpu_work() if options["gpus"] else []
    if options["containers"]:
        found += engine.containers(options["container"] or "")
    elif options["container"]:
        found += engine.ranks(options["container"])
    known: Dict[Any, Work] = {}
    for one in found:
        known.setdefault(one.place if one.pid is None else one.pid, one)
    return list(known.values())
