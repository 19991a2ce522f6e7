#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Give nodes of the lab a fault, and restore them.

fault.py set KIND NODE [--percent P] [--to NODE]   for example: fault.py set egress taco-lab-node-2 --percent 50
fault.py hide                          a random kind, node and percentage, which is not printed
fault.py reveal                        print the faults and what `locate` found
fault.py clear                         remove all faults
"""

import argparse
import json
import random
import sys

import engine
import machine
import state
from fault_kinds import KINDS, Fault, remove_trunk
from shell import LabError

FILE = state.LAB / "fault.json"
HIDDEN_PERCENT = (30, 60)  # of what the other nodes have: a fault that a user would search for
HIDDEN_KINDS = ("egress", "ingress", "cpu")


def current():
    """The faults of the lab."""
    return [Fault(**one) for one in json.loads(FILE.read_text(encoding="utf-8"))] if FILE.exists() else []


def keep(faults):
    """Save the faults that there are."""
    if faults:
        state.write(FILE, json.dumps([fault._asdict() for fault in faults]) + "\n")
    elif FILE.exists():
        FILE.unlink()


def require_possible(lab, faults, fault):
    """Refuse a fault that can't be set beside the present ones."""
    names = [node["name"] for node in lab["nodes"]]
    needed = [fault.node] + ([fault.to or "--to"] if KINDS[fault.kind].to else [])
    strange = [name for name in needed if name not in names]
    if strange:
        raise LabError(f"{strange[0]} is no node of the lab")
    if any(fault.node == one.node for one in faults):
        raise LabError(f"{fault.node} has a fault; remove it with fault.py clear")


def apply(docker, lab, fault):
    """Apply a fault. It is saved first, so that `clear` removes it after an error, too."""
    faults = current()
    require_possible(lab, faults, fault)
    keep([*faults, fault])
    KINDS[fault.kind].set(docker, lab, fault)


def clear(docker, lab):
    """Remove the faults, and return them."""
    faults = current()
    for number in range(len(faults), 0, -1):
        fault = faults[number - 1]
        KINDS[fault.kind].clear(docker, lab, fault)
        keep(faults[: number - 1])
    return faults


def forget():
    """Remove what faults leave on this machine when the nodes are gone."""
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
    arguments.add_argument("--to", help="of a link: the node that receives")
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
            apply(docker, lab, Fault(arguments.kind, arguments.node, percent, arguments.to))
        elif arguments.command == "hide":
            clear(docker, lab)
            node = random.choice(lab["nodes"])["name"]
            apply(docker, lab, Fault(random.choice(HIDDEN_KINDS), node, random.randint(*HIDDEN_PERCENT)))
            print("fault: one node of the lab is slower now; `make demo-locate` reveals it at the end.")
        else:
            faults = clear(docker, lab)
            if arguments.command == "reveal":
                sentences = "; ".join(fault.sentence() for fault in faults)
                print(f"Hidden fault: {sentences or 'none'}.\nAnswer:       {answer() or 'none'}")
    except LabError as error:
        raise SystemExit(f"fault: {error}") from error


if __name__ == "__main__":
    main()
