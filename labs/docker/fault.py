#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Slow a node of the lab down, and restore it.

fault.py set KIND NODE [--percent P]   for example: fault.py set egress taco-lab-node-2 --percent 50
fault.py hide                          a random kind, node and percentage, which is not printed
fault.py reveal                        print the fault and what `locate` found
fault.py clear                         remove the fault
"""

import argparse
import json
import os
import random
import re
import sys
from pathlib import Path
from typing import NamedTuple

import engine
import machine
import nodes
import slots
import state
from shell import LabError, run

FILE = state.LAB / "fault.json"
HIDDEN_PERCENT = (30, 60)  # of what the other nodes have: a fault that a user would search for
RANKS = 2  # of a node, and each takes one CPU at most
PERIOD = 100000  # microseconds
LOSS = "-i eth0 -m statistic --mode random --probability {:.4f} -j DROP"


class Fault(NamedTuple):
    kind: str
    node: str
    percent: float

    def sentence(self):
        """The fault as a sentence."""
        return KINDS[self.kind].sentence.format(node=self.node, percent=self.percent)


class Kind(NamedTuple):
    sentence: str
    percent: float  # of a fault without --percent
    set: object  # a function of the engine, the lab's state and the fault
    clear: object


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


def set_quota(docker, node, microseconds):
    """Limit the CPU time of the node's training container in each period; -1 is no limit."""
    containers = docker.lines("exec", node, "docker", "ps", "--quiet")
    if not containers:
        raise LabError(f"{node} has no training container; run playbooks/deploy.yml first")
    limit = ["--cpu-period", str(PERIOD), "--cpu-quota", str(microseconds)]
    docker("exec", node, "docker", "update", *limit, *containers)


def set_cpu(docker, lab, fault):
    share = min(RANKS, (os.cpu_count() or 1) / len(lab["nodes"]))
    set_quota(docker, fault.node, max(2000, round(PERIOD * share * fault.percent / 100)))


def clear_cpu(docker, _lab, fault):
    set_quota(docker, fault.node, -1)


def set_loss(docker, _lab, fault):
    docker("exec", fault.node, "iptables", "-A", "INPUT", *LOSS.format(fault.percent / 100).split())


def clear_loss(docker, _lab, fault):
    docker("exec", fault.node, "iptables", "-D", "INPUT", *LOSS.format(fault.percent / 100).split())


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
    "cpu": Kind("{node} has {percent:g} % of its share of this machine's CPUs", 50, set_cpu, clear_cpu),
    "trunk": Kind(
        "the link between the two halves of the nodes has {percent:g} % of the rate of a node",
        50,
        set_trunk,
        clear_trunk,
    ),
    "loss": Kind("{node} loses {percent:g} % of the packets that it receives", 0.5, set_loss, clear_loss),
}
HIDDEN_KINDS = ("egress", "ingress", "cpu")


def current():
    """The fault of the lab, or None."""
    return Fault(**json.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else None


def apply(docker, lab, fault):
    """Apply a fault. It is saved first, so that `clear` removes it after an error, too."""
    if current():
        raise LabError("the lab has a fault; remove it with fault.py clear")
    if fault.node not in [node["name"] for node in lab["nodes"]]:
        raise LabError(f"{fault.node} is no node of the lab")
    state.write(FILE, json.dumps(fault._asdict()) + "\n")
    KINDS[fault.kind].set(docker, lab, fault)


def clear(docker, lab):
    """Remove the fault; return it, or None."""
    fault = current()
    if fault:
        KINDS[fault.kind].clear(docker, lab, fault)
        FILE.unlink()
    return fault


def forget():
    """Remove what a fault leaves on this machine when the nodes are gone."""
    if current():
        remove_trunk()
        FILE.unlink()


def answer():
    """The sentence of the newest search, or None."""
    files = sorted((state.ROOT / "results").glob("*-locate/locate.json"))
    return json.loads(files[-1].read_text(encoding="utf-8"))["sentence"] if files else None


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    arguments = commands.add_parser("set")
    arguments.add_argument("kind", choices=sorted(KINDS))
    arguments.add_argument("node")
    arguments.add_argument("--percent", type=float)
    for name in ("hide", "reveal", "clear"):
        commands.add_parser(name)
    return parser.parse_args(argv)


def main():
    arguments = parse(sys.argv[1:])
    machine.complete_path()
    lab, docker = state.load(), engine.existing()
    if not lab or not docker:
        raise SystemExit("fault: the lab is not up; run make lab-up")
    try:
        if arguments.command == "set":
            percent = arguments.percent or KINDS[arguments.kind].percent
            apply(docker, lab, Fault(arguments.kind, arguments.node, percent))
        elif arguments.command == "hide":
            clear(docker, lab)
            node = random.choice(lab["nodes"])["name"]
            apply(docker, lab, Fault(random.choice(HIDDEN_KINDS), node, random.randint(*HIDDEN_PERCENT)))
            print("fault: one node of the lab is slower now; `make demo-locate` reveals it at the end.")
        else:
            fault = clear(docker, lab)
            if arguments.command == "reveal":
                print(f"Hidden fault: {fault.sentence() if fault else 'none'}.\nAnswer:       {answer() or 'none'}")
    except LabError as error:
        raise SystemExit(f"fault: {error}") from error


if __name__ == "__main__":
    main()
