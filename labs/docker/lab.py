#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start and stop the lab: nodes on this machine that the collection treats as any host.

lab.py up [--nodes N] [--rate RATE]    build what is missing, start N nodes (2); can be run again at any time
       [--image horovod --horovod-script PATH]    with upstream Horovod and its own benchmark as the training image
lab.py status                          say what runs
lab.py down [--purge]                  remove everything but the images that were built, or those too
"""

import argparse
import contextlib
import fcntl
import shutil
import sys

import engine
import fault
import horovod_image
import images
import keys
import machine
import nodes
import state
from shell import LabError


@contextlib.contextmanager
def locked():
    """Let one command at a time work on the lab; the lock ends with the process, however it ends."""
    state.LAB.mkdir(exist_ok=True)
    with open(state.LAB / "lock", "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("lab: another command is at work on the lab; waiting for it", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def training_image(arguments):
    """Return the training image that is asked for, and the GiB of disk that a lab with it takes; keep its benchmark."""
    if arguments.image == "horovod":
        horovod_image.keep_script(horovod_image.find_script(arguments.horovod_script))
        return horovod_image.image(), horovod_image.DISK_GIB
    if arguments.horovod_script:
        raise LabError("--horovod-script is of the image horovod only; add: --image horovod")
    return images.TRAINING, machine.DISK_GIB


def up(arguments):
    """Bring the lab up with the asked number of nodes."""
    if not 1 <= arguments.nodes <= nodes.MOST_NODES:
        raise LabError(f"--nodes is {arguments.nodes}; it must be from 1 to {nodes.MOST_NODES}")
    training, disk_gib = training_image(arguments)
    machine.require_disk(state.LAB, disk_gib)
    machine.require(["ssh-keygen"])
    docker = engine.get()
    archives = images.build_all([images.NODE, training])
    # Until the nodes are up again nobody shall read that they are.
    if state.FILE.exists():
        state.FILE.unlink()
    found = nodes.up(docker, arguments.nodes, arguments.rate, archives, training.name)
    keys.pin(found)
    state.save(docker.kind, arguments.rate, found)
    said = "1 node is up; its" if len(found) == 1 else f"{len(found)} nodes are up; their"
    print(f"lab: {said} inventory is inventories/lab.")


def down(arguments):
    """Remove everything of the lab."""
    found = engine.existing() if engine.FOLDER.exists() or state.FILE.exists() or keys.FOLDER.exists() else None
    # While the slot of the lab is known, from which names are made.
    fault.forget()
    if found:
        print("lab: removing the nodes", flush=True)
        nodes.down(found)
    engine.stop()
    if state.FILE.exists():
        state.FILE.unlink()
    for folder in [keys.FOLDER, state.LAB / "build"] + (
        [images.FOLDER, horovod_image.FOLDER, horovod_image.KEPT] if arguments.purge else []
    ):
        if folder.exists():
            shutil.rmtree(str(folder))
    print("lab: down")


def status(_arguments):
    """Print the running nodes; fails when there are none."""
    content = state.load()
    if not content:
        raise LabError("down; start it with: make lab-up")
    docker = engine.Engine(own=content["engine"] == "own")
    if not docker.succeeds("info"):
        raise LabError("the Docker Engine of the nodes doesn't run; start it and them with: make lab-up")
    running = docker.lines("container", "ls", "--filter", "label=" + nodes.LABEL, "--format", "{{.Names}}")
    for node in content["nodes"]:
        print(f"lab: {node['name']} {node['address']} {'running' if node['name'] in running else 'stopped'}")
    if not {node["name"] for node in content["nodes"]} <= set(running):
        raise LabError("not all nodes run; start them with: make lab-up")


def parse(argv):
    parser = argparse.ArgumentParser(description="Start and stop the lab of the taco.train collection.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("up", help="build what is missing and start the nodes")
    command.add_argument("--nodes", type=int, default=2, help="how many nodes (2)")
    command.add_argument("--rate", default="200mbit", help="what a node may send on eth0, in the words of tc (200mbit)")
    command.add_argument("--image", choices=["training", "horovod"], default="training", help="what trains (training)")
    command.add_argument(
        "--horovod-script",
        metavar="PATH",
        help="for the image horovod: its own %s, or a copy of Horovod's repository" % horovod_image.SCRIPT,
    )
    command.set_defaults(do=up)
    command = commands.add_parser("down", help="remove everything of the lab")
    command.add_argument("--purge", action="store_true", help="the images that were built too")
    command.set_defaults(do=down)
    commands.add_parser("status", help="say what runs").set_defaults(do=status)
    return parser.parse_args(argv)


def main():
    arguments = parse(sys.argv[1:])
    machine.complete_path()
    try:
        with locked():
            arguments.do(arguments)
    except LabError as error:
        raise SystemExit(f"lab: {error}") from error
    except KeyboardInterrupt:
        raise SystemExit("lab: interrupted; `up` goes on from here, `down` removes what there is") from None


if __name__ == "__main__":
    main()
