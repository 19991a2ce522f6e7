# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Light hosts: namespaces of their own over one shared file system, each with a real sshd and a real Python.

All of this happens inside namespaces of the bench (see namespaces.py), so that nothing outlives its first process.
"""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import List, NamedTuple

from bench import idle

HERE = Path(__file__).resolve().parent
PREFIX = 16
# A bridge of Linux has 1023 ports.
HOSTS_OF_BRIDGE = 1000
READY_SECONDS = 120
READY_SECONDS_OF_HOST = 0.5
PAGES = 50
GIB = 1024**3
CMDLINE = f"BOOT_IMAGE=/boot/vmlinuz-6.1.0-bench-amd64 root=/dev/vda1 ro quiet default_hugepagesz=1G hugepagesz=1G hugepages={PAGES}\n"
SSHD_CONFIG = """ListenAddress {address}
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/bench_authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
MaxStartups 400
# Says once for each remote execution what kind of session begins: that is how they are counted.
LogLevel VERBOSE
PidFile none
Subsystem sftp /usr/lib/openssh/sftp-server
"""


class Host(NamedTuple):
    """A host of the bench."""

    number: int
    name: str
    address: str
    folder: Path

    @property
    def network(self):
        return self.number // HOSTS_OF_BRIDGE

    @property
    def mac(self):
        """The MAC address of the host's first interface."""
        return ":".join(["02:01", *(f"{int(part):02x}" for part in self.address.split("."))])

    @property
    def log(self):
        return self.folder / "run/sshd.log"

    @property
    def socket(self):
        return self.folder / "run/docker.sock"


def planned(count: int, work: Path) -> List[Host]:
    """Return the hosts that there will be. Addresses begin at 10.64.1.1."""
    return [
        Host(number, f"bench{number:03d}", address(number), work / f"hosts/{number:03d}") for number in range(count)
    ]


def address(number: int) -> str:
    """The address of a host."""
    network, place = divmod(number, HOSTS_OF_BRIDGE)
    return f"10.{64 + network}.{1 + place // 250}.{1 + place % 250}"


def gateway(network: int) -> str:
    return f"10.{64 + network}.0.1"


def write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def running_kernel(work: Path) -> None:
    """Write what the hosts' kernels say of themselves: the bench has no memory for 50 pages of 1 GiB a host."""
    running = work / "running"
    write(running / "cmdline", CMDLINE)
    pages = f"HugePages_Total:      {PAGES}\nHugePages_Free:       {PAGES}\nHugepagesize:    1048576 kB\n"
    write(running / "meminfo", f"MemTotal: {1000 * GIB // 1024} kB\nMemAvailable: {900 * GIB // 1024} kB\n{pages}")
    for name in ("nr_hugepages", "free_hugepages"):
        write(running / "hugepages/hugepages-1048576kB" / name, f"{PAGES}\n")


def base_layer(work: Path) -> Path:
    """Return the layer with what every host has beside the packages."""
    layer = work / "base"
    for name in ("nvidia-smi", "nvidia-ctk"):
        write(layer / "usr/bin" / name, (HERE / "host" / name).read_text(encoding="utf-8"), 0o755)
    return layer


def make_key(path: Path, comment: str) -> str:
    """Make a key pair and return its public half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)], check=True)
    return path.with_name(path.name + ".pub").read_text(encoding="utf-8")


def known_hosts_line(host: Host, public: str) -> str:
    return f"{host.address} {' '.join(public.split()[:2])}\n"


def furnish(host: Host, authorized: str) -> str:
    """Write the files that this host alone has, and return its line of known_hosts."""
    for name in ("upper", "work", "root", "run"):
        (host.folder / name).mkdir(parents=True)
    upper = host.folder / "upper"
    public = make_key(upper / "etc/ssh/ssh_host_ed25519_key", host.name)
    write(upper / "etc/ssh/sshd_config", SSHD_CONFIG.format(address=host.address))
    write(upper / "etc/ssh/bench_authorized_keys", authorized, 0o600)
    write(upper / "etc/hostname", host.name + "\n")
    write(upper / idle.PLUGIN.lstrip("/"), "A stand-in for NCCL's plugin, which arms rename.\n")
    return known_hosts_line(host, public)


def start(host: Host, lower: List[Path]) -> subprocess.Popen:
    """Start a host and return the process that it lives as long as."""
    init = [
        str(HERE / "host/init.sh"),
        host.name,
        host.address,
        str(PREFIX),
        gateway(host.network),
        f"h{host.number}",
        host.mac,
    ]
    command = ["unshare", "--mount", "--uts", "--net", "sh", *init, str(host.folder), ":".join(map(str, lower))]
    with open(host.folder / "run/console.log", "wb") as console:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console)


def await_ready(hosts: List[Host], processes: List[subprocess.Popen]) -> None:
    """Plug every host in and wait until its sshd answers; raise with what it said when one has ended."""
    deadline = time.monotonic() + READY_SECONDS + READY_SECONDS_OF_HOST * len(hosts)
    for host, process in zip(hosts, processes):
        while f"h{host.number}" not in {name for _number, name in socket.if_nameindex()}:
            _check(host, process, deadline)
        subprocess.run(["ip", "link", "set", f"h{host.number}", "master", f"bench{host.network}", "up"], check=True)
    for host, process in zip(hosts, processes):
        while not answers(host.address):
            _check(host, process, deadline)


def answers(address: str) -> bool:
    try:
        with socket.create_connection((address, 22), timeout=5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def _check(host: Host, process: subprocess.Popen, deadline: float) -> None:
    if process.poll() is not None or time.monotonic() > deadline:
        said = (host.folder / "run/console.log").read_text(encoding="utf-8", errors="replace")
        log = host.log.read_text(encoding="utf-8", errors="replace") if host.log.exists() else ""
        raise RuntimeError(f"{host.name} did not start in time: {said}{log}")
    time.sleep(0.02)


def bridges(count: int) -> None:
    """Make the networks that so many hosts are plugged into."""
    for name in ("default", "all"):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
    commands = ["link set lo up"]
    for network in range(1 + (count - 1) // HOSTS_OF_BRIDGE):
        name = f"bench{network}"
        commands += [
            f"link add {name} type bridge",
            f"addr add {gateway(network)}/{PREFIX} dev {name}",
            f"link set {name} up",
        ]
    for command in commands:
        subprocess.run(["ip", *command.split()], check=True)


def stop(hosts: List[Host], processes: List[subprocess.Popen]) -> None:
    """End hosts before the bench itself does, and forget what they wrote."""
    for process in processes:
        process.kill()
        process.wait()
    for host in hosts:
        shutil.rmtree(host.folder)


def sessions(log: str) -> int:
    """Return how many remote executions a log of sshd tells of."""
    return log.count("Starting session: ")


def count_sessions(hosts: List[Host]) -> List[int]:
    """Return how many remote executions each host has seen so far."""
    return [sessions(host.log.read_text(encoding="utf-8", errors="replace")) for host in hosts]


def pid_file(host: Host) -> Path:
    return host.folder / "run/pid"


def note_pid(host: Host, process: subprocess.Popen) -> None:
    write(pid_file(host), f"{process.pid}\n")


def cores() -> int:
    return len(os.sched_getaffinity(0))
