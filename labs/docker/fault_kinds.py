# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of faults of the lab: how each is set and removed."""

import math
import os
import re
from pathlib import Path
from typing import NamedTuple, Optional

import machine
import nodes
import slots
from shell import LabError, run

RANKS = 2  # of a node, and each takes one CPU at most
PERIOD = 100000  # microseconds
LOSS = "-i eth0 -m statistic --mode random --probability {:.4f} -j DROP"
MTU = 1400
NORMAL_MTU = 1500
PLUGIN = "/usr/lib/x86_64-linux-gnu/libnccl-net.so"
# In the command line of what a fault runs in training containers.
MARK = "taco-lab-busy"
BUSY = ["sh", "-c", "while :; do :; done", MARK]
# Busy for a tenth of a second on average, then idle for three times as long.
JITTER = """
import random, time
while True:
    end = time.monotonic() + random.expovariate(10)
    while time.monotonic() < end:
        pass
    time.sleep(random.expovariate(10 / 3))
"""
# A process gets so many times the CPU time of one whose nice value is higher by 1.
NICE_FACTOR = 1.25


class Fault(NamedTuple):
    kind: str
    node: str
    percent: float
    to: Optional[str] = None

    def sentence(self):
        """The fault as a sentence."""
        return KINDS[self.kind].sentence.format(node=self.node, percent=self.percent, to=self.to)


class Kind(NamedTuple):
    sentence: str
    percent: float  # of a fault without --percent
    set: object  # a function of the engine, the lab's state and the fault
    clear: object
    to: bool = False  # whether it needs a second node


def full_rate(lab):
    """The rate of eth0 of a healthy node in Mbit/s."""
    match = re.fullmatch(r"(\d+)mbit", lab["rate"] or "")
    if match is None:
        raise LabError("the links of this lab have no limit in mbit; start it with --rate 200mbit")
    return int(match.group(1))


def lower_rate(lab, fault):
    return f"{max(1, round(full_rate(lab) * fault.percent / 100))}mbit"


def set_egress(docker, lab, fault):
    docker("exec", fault.node, "tc", "qdisc", "replace", "dev", "eth0", "root", *nodes.tbf(lower_rate(lab, fault)))


def clear_egress(docker, lab, fault):
    docker("exec", fault.node, "tc", "qdisc", "replace", "dev", "eth0", "root", *nodes.tbf(lab["rate"]))


def set_link(docker, lab, fault):
    """Limit what one node sends to another one."""
    address = next(node["address"] for node in lab["nodes"] if node["name"] == fault.to)
    commands = ["qdisc replace dev eth0 root handle 1: htb default 1"]
    for number, rate in (("1", lab["rate"]), ("2", lower_rate(lab, fault))):
        commands.append(f"class add dev eth0 parent 1: classid 1:{number} htb rate {rate}")
        commands.append(f"qdisc add dev eth0 parent 1:{number} bfifo limit 64mb")
    commands.append(f"filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst {address} flowid 1:2")
    for command in commands:
        docker("exec", fault.node, "tc", *command.split())


def clear_link(docker, lab, fault):
    # Another kind of queueing discipline does not replace one that has classes.
    docker("exec", fault.node, "tc", "qdisc", "del", "dev", "eth0", "root")
    clear_egress(docker, lab, fault)


def peer(docker, node):
    """The interface of this machine that is the other end of a node's eth0: what it sends, the node receives."""
    index = docker("exec", node, "cat", "/sys/class/net/eth0/iflink").strip()
    for path in Path("/sys/class/net").glob("*/ifindex"):
        if path.read_text(encoding="ascii").strip() == index:
            return path.parent.name
    raise LabError(f"{node}: the other end of eth0 is not on this machine; the engine must run here")


def set_ingress(docker, lab, fault):
    machine.require(["tc"])
    run(["tc", "qdisc", "replace", "dev", peer(docker, fault.node), "root", *nodes.tbf(lower_rate(lab, fault))])


def clear_ingress(docker, _lab, fault):
    run(["tc", "qdisc", "del", "dev", peer(docker, fault.node), "root"])


def containers(docker, node):
    """The containers of a node that train."""
    found = docker.lines("exec", node, "docker", "ps", "--quiet")
    if not found:
        raise LabError(f"{node} has no training container; run playbooks/deploy.yml first")
    return found


def set_quota(docker, node, microseconds):
    """Limit the CPU time of the node's training container in each period; -1 is no limit."""
    limit = ["--cpu-period", str(PERIOD), "--cpu-quota", str(microseconds)]
    docker("exec", node, "docker", "update", *limit, *containers(docker, node))


def set_cpu(docker, lab, fault):
    share = min(RANKS, (os.cpu_count() or 1) / len(lab["nodes"]))
    set_quota(docker, fault.node, max(2000, round(PERIOD * share * fault.percent / 100)))


def clear_cpu(docker, _lab, fault):
    set_quota(docker, fault.node, -1)


def start(docker, node, count, command):
    """Run a command so many times in each training container of a node; it never ends."""
    for container in containers(docker, node):
        for _number in range(count):
            docker("exec", node, "docker", "exec", "--detach", container, *command)


def set_nice(docker, _lab, fault):
    """Run as many processes as ranks, of so high a priority that the percentage of the CPU time is left for the ranks."""
    if not 0 < fault.percent < 100:
        raise LabError(f"{fault.percent:g} % of the CPU time cannot be left; it must be more than 0 and less than 100")
    start(docker, fault.node, RANKS, BUSY)
    nice = -round(math.log(100 / fault.percent - 1, NICE_FACTOR))
    docker("exec", fault.node, "renice", "-n", str(nice), "-p", *docker.lines("exec", fault.node, "pgrep", "-f", MARK))


def clear_nice(docker, _lab, fault):
    docker.succeeds("exec", fault.node, "pkill", "-KILL", "-f", MARK)


def set_jitter(docker, lab, _fault):
    for node in lab["nodes"]:
        start(docker, node["name"], 1, ["python3", "-c", JITTER, MARK])


def clear_jitter(docker, lab, fault):
    for node in lab["nodes"]:
        clear_nice(docker, lab, fault._replace(node=node["name"]))


def set_loss(docker, _lab, fault):
    docker("exec", fault.node, "iptables", "-A", "INPUT", *LOSS.format(fault.percent / 100).split())


def clear_loss(docker, _lab, fault):
    docker("exec", fault.node, "iptables", "-D", "INPUT", *LOSS.format(fault.percent / 100).split())


def set_link_of(name, *words):
    """A function that changes an interface of the node."""
    return lambda docker, _lab, fault: docker("exec", fault.node, "ip", "link", "set", "dev", name, *words)


def move_plugin(source, target):
    """A function that renames a file in the node's training container."""

    def moved(docker, _lab, fault):
        for container in containers(docker, fault.node):
            docker("exec", fault.node, "docker", "exec", container, "mv", source, target)

    return moved


def move(docker, lab, bridge):
    """Connect the second half of the nodes to a bridge."""
    for node in lab["nodes"][len(lab["nodes"]) // 2 :]:
        run(["ip", "link", "set", peer(docker, node["name"]), "master", bridge])


def trunk():
    """The lab's bridge, the bridge of the second half, and the two ends of the link between them."""
    first = nodes.bridge(slots.kept(nodes.SLOT), 0)
    return first, first + "t", first + "u", first + "v"


def set_trunk(docker, lab, fault):
    """Connect the second half of the nodes to a bridge of its own, with one limited link between the two bridges."""
    machine.require(["ip", "tc"])
    first, second, near, far = trunk()
    run(["ip", "link", "add", second, "type", "bridge"])
    run(["ip", "link", "add", near, "type", "veth", "peer", "name", far])
    for bridge, end in ((first, near), (second, far)):
        run(["ip", "link", "set", end, "master", bridge, "up"])
        run(["tc", "qdisc", "replace", "dev", end, "root", *nodes.tbf(lower_rate(lab, fault))])
    run(["ip", "link", "set", second, "up"])
    move(docker, lab, second)


def clear_trunk(docker, lab, _fault):
    move(docker, lab, trunk()[0])
    remove_trunk()


def remove_trunk():
    """Remove what set_trunk adds to this machine."""
    for link in trunk()[1:3]:
        if (slots.LINKS / link).exists():
            run(["ip", "link", "del", link])


KINDS = {
    "egress": Kind("{node} sends at {percent:g} % of the rate of the other nodes", 50, set_egress, clear_egress),
    "ingress": Kind("{node} receives at {percent:g} % of the rate of the other nodes", 50, set_ingress, clear_ingress),
    "link": Kind("{node} sends to {to} at {percent:g} % of its rate", 30, set_link, clear_link, to=True),
    "cpu": Kind("{node} has {percent:g} % of its share of this machine's CPUs", 50, set_cpu, clear_cpu),
    "nice": Kind("{node} is busy: its ranks have {percent:g} % of its CPU time", 30, set_nice, clear_nice),
    "jitter": Kind("each node has a process that is busy at random times", 0, set_jitter, clear_jitter),
    "trunk": Kind(
        "the link between the two halves of the nodes has {percent:g} % of the rate of a node",
        50,
        set_trunk,
        clear_trunk,
    ),
    "loss": Kind("{node} loses {percent:g} % of the packets that it receives", 0.5, set_loss, clear_loss),
    "mtu": Kind(
        f"{{node}} has an MTU of {MTU} on eth0",
        0,
        set_link_of("eth0", "mtu", str(MTU)),
        set_link_of("eth0", "mtu", str(NORMAL_MTU)),
    ),
    "interface": Kind("{node} has no eth1: it is down", 0, set_link_of("eth1", "down"), set_link_of("eth1", "up")),
    "plugin": Kind(
        "{node} has no HARP plugin in its training container",
        0,
        move_plugin(PLUGIN, PLUGIN + ".away"),
        move_plugin(PLUGIN + ".away", PLUGIN),
    ),
}
