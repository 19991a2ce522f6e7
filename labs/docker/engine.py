# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Docker Engine that holds the nodes: one that the user may use already, else one of the lab's own."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import machine
from shell import LabError, run, succeeds
from state import LAB, ROOT, write

FOLDER = LAB / "engine"
SOCKET = FOLDER / "docker.sock"
PIDFILE = FOLDER / "dockerd.pid"
LOG = FOLDER / "dockerd.log"
# What an engine leaves outside its folders. What of it is absent before the first start is noted, so that stopping can remove it.
TRACES = (
    "/etc/docker",
    "/run/containerd",
    "/run/docker",
    "/run/runc",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/opt/containerd",
)
NOTED = FOLDER / "before.json"
LONGEST_SOCKET = 107  # bytes of a Unix socket's path
START_SECONDS = 60


class Engine:
    """The docker command, bound to one engine."""

    def __init__(self, own):
        self.kind = "own" if own else "shared"
        self.prefix = ["docker", "--host", f"unix://{SOCKET}"] if own else ["docker"]

    def __call__(self, *arguments, data=None, timeout=600):
        return run(self.prefix + list(arguments), data=data, timeout=timeout)

    def succeeds(self, *arguments):
        return succeeds(self.prefix + list(arguments))

    def lines(self, *arguments):
        return self(*arguments).split()


def process():
    """Return the process id of the lab's own engine, or None."""
    try:
        pid = int(PIDFILE.read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if os.fsencode(str(PIDFILE)) in command else None


def existing():
    """Return the engine of a lab that was started before, starting its own engine again after a crash; None if none."""
    if FOLDER.exists():
        if process() is None:
            start()
        return Engine(own=True)
    if shutil.which("docker") and succeeds(["docker", "info"]):
        return Engine(own=False)
    return None


def get():
    """Return an engine: the one in use, one that this user may use, or a new one of the lab's own."""
    machine.require(["docker"])
    found = existing()
    if found:
        return found
    if os.geteuid() != 0:
        raise LabError(
            "no Docker Engine that you may use: join the group docker (sudo usermod -aG docker $USER), start Docker, "
            "or run this as root"
        )
    machine.require(["dockerd"])
    # Installing it may have started it, on a machine whose policy is to start services.
    found = existing()
    if found:
        return found
    start()
    return Engine(own=True)


def groups():
    """Return the control groups that engines and nodes add to: hierarchies, and what lies in them as "docker"."""
    top = Path("/sys/fs/cgroup")
    return sorted(str(path) for path in list(top.glob("*")) + list(top.glob("*/docker")))


def start():
    """Start the lab's own engine with everything of it below .lab/engine, and wait until it answers."""
    deepest = FOLDER / "exec/containerd/containerd-debug.sock"
    if len(os.fsencode(str(deepest))) > LONGEST_SOCKET:
        raise LabError(
            f"{ROOT}: this path is too long for the sockets of a Docker Engine; move the repository to a shorter one"
        )
    print("lab: starting a Docker Engine of its own", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not NOTED.exists():
        absent = [path for path in TRACES if not os.path.lexists(path)]
        write(NOTED, json.dumps({"absent": absent, "groups": groups()}))
    forget_dead(PIDFILE)
    forget_dead(FOLDER / "exec/containerd/containerd.pid")
    # Nodes talk over bridges only and reach nothing outside, so that the machine's firewall and routing stay as they are.
    command = [
        "dockerd",
        "--data-root",
        str(FOLDER / "data"),
        "--exec-root",
        str(FOLDER / "exec"),
        "--pidfile",
        str(PIDFILE),
    ]
    command += [
        "--host",
        f"unix://{SOCKET}",
        "--bridge=none",
        "--iptables=false",
        "--ip-forward=false",
        "--ip-masq=false",
    ]
    with open(LOG, "ab") as log:
        daemon = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/", close_fds=True
        )
    engine = Engine(own=True)
    deadline = time.monotonic() + START_SECONDS
    while not engine.succeeds("info"):
        if daemon.poll() is not None or time.monotonic() > deadline:
            tail = LOG.read_text(errors="replace").strip().splitlines()[-3:]
            raise LabError(f"dockerd didn't start; the end of {LOG}:\n" + "\n".join(tail))
        time.sleep(0.2)


def forget_dead(pidfile):
    """Remove the id of a process that was killed: engines trust it for as long as the dead process isn't collected."""
    if pidfile.exists() and not running(int(pidfile.read_text(encoding="utf-8"))):
        pidfile.unlink()


def descendants_of_folder():
    """Return the ids of processes that have the engine's folder in their command line, such as containerd and its shims."""
    needle = os.fsencode(str(FOLDER)) + b"/"
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != os.getpid() and needle in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue  # it ended in between
    return found


def end(pids, number, seconds):
    """Send a signal to processes and wait until they are gone; return those that aren't."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
    deadline = time.monotonic() + seconds
    while pids and time.monotonic() < deadline:
        time.sleep(0.1)
        pids = [pid for pid in pids if running(pid)]
    return pids


def other_engines():
    """The process ids of the Docker Engines on this machine."""
    names = ((folder.name, folder / "comm") for folder in Path("/proc").glob("[0-9]*"))
    engines = []
    for pid, comm in names:
        try:
            if comm.read_text(encoding="utf-8") == "dockerd\n" and running(int(pid)):
                engines.append(int(pid))
        except OSError:
            continue  # it ended in between
    return engines


def running(pid):
    """Return whether a process runs; one that ended and waits for its parent doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def mounts_below(folder):
    """Return the mount points below a folder, deepest first."""
    with open("/proc/self/mountinfo", encoding="utf-8") as handle:
        points = [text.split()[4].replace("\\040", " ") for text in handle]
    return sorted((point for point in points if point.startswith(str(folder) + "/")), key=len, reverse=True)


def stop():
    """Stop the lab's own engine and remove everything of it, also what it left outside its folder."""
    if not FOLDER.exists():
        return
    pid = process()
    left = end([pid], signal.SIGTERM, 30) if pid else []
    left = end(sorted(set(left + descendants_of_folder())), signal.SIGKILL, 10)
    if left:
        raise LabError(f"these processes of the lab's engine can't be ended: {left}")
    for point in mounts_below(FOLDER):
        run(["umount", "--lazy", point])
    # Traces of engines can't be told apart: those of another engine that runs are in use.
    if NOTED.exists() and not other_engines():
        before = json.loads(NOTED.read_text(encoding="utf-8"))
        for path in before["absent"]:
            if os.path.isdir(path):
                shutil.rmtree(path)
        for path in sorted(set(groups()) - set(before["groups"]), reverse=True):
            remove_group(Path(path))
    shutil.rmtree(str(FOLDER))


def remove_group(folder):
    """Remove a control group and those in it, whose processes are gone, or the link to one."""
    try:
        if folder.is_symlink():
            folder.unlink()
        for path, _names, _files in os.walk(str(folder), topdown=False):
            os.rmdir(path)
    except OSError as error:
        raise LabError(f"{folder}: this control group of the lab can't be removed: {error.strerror}") from error
