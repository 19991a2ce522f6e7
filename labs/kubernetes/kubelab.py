#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start and stop a stand-in for a Kubernetes cluster whose nodes are those of the Docker lab.

kubelab.py up [--nodes N] [--serve v1,v1alpha1] [--gpus G]    the lab with N nodes (2), and the cluster; can be run again
kubelab.py status                                            say what runs
kubelab.py down                                              remove the cluster and its pods; the lab stays
"""

import argparse
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LAB = HERE.parent / "docker"
FOLDER = ROOT / ".lab" / "kube"
VERSIONS = ("v1", "v2beta1", "v1alpha1")
START_SECONDS = 60
DOUBLES = {"kubectl": "kubelab.double_kubectl", "arena": "kubelab.double_arena"}
FOLDERS = [str(HERE), str(LAB), str(ROOT / "collections")]
PATHS = os.pathsep.join(FOLDERS)
sys.path[:0] = FOLDERS

import machine
import state
from engine import Engine, existing
from shell import LabError


def saved():
    """The state that the cluster saved at its start, or None."""
    try:
        return json.loads((FOLDER / "state.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def process(pid):
    """Return whether the cluster's process runs under this id."""
    try:
        return str(FOLDER).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def lab_nodes(started=True):
    """Return the nodes of the lab that is up, or an empty list."""
    from kubelab.lab_nodes import LabNode

    lab = state.load()
    if not lab:
        return []
    engine = Engine(lab["engine"] == "own")
    if not started and not engine.succeeds("info"):
        return []
    return [LabNode(engine, index, node) for index, node in enumerate(lab["nodes"])]


def write_doubles():
    """Write the commands by which pods and Arena are reached."""
    folder = FOLDER / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in DOUBLES.items():
        script = f'#!/bin/sh\nPYTHONPATH="{PATHS}" exec "{sys.executable}" -m {module} "$@"\n'
        state.write(folder / name, script, 0o755)


def start(settings):
    """Start the process in the background and wait until it answers."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "settings.json"
    state.write(path, json.dumps(settings) + "\n", 0o600)
    if (FOLDER / "state.json").exists():
        (FOLDER / "state.json").unlink()
    with open(FOLDER / "server.log", "ab") as log:
        daemon = subprocess.Popen(
            [sys.executable, "-m", "kubelab.server", str(path)],
            env={**os.environ, "PYTHONPATH": PATHS},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )
    deadline = time.monotonic() + START_SECONDS
    while not saved():
        if daemon.poll() is not None or time.monotonic() > deadline:
            tail = (FOLDER / "server.log").read_text(errors="replace").strip().splitlines()[-3:]
            raise LabError("the cluster didn't start; the end of its log:\n" + "\n".join(tail))
        time.sleep(0.1)


def stop():
    """End the process; returns whether there was one."""
    found = saved()
    if not found or not process(found["pid"]):
        return False
    os.kill(found["pid"], signal.SIGTERM)
    deadline = time.monotonic() + START_SECONDS
    while process(found["pid"]):
        if time.monotonic() > deadline:
            os.kill(found["pid"], signal.SIGKILL)
        time.sleep(0.1)
    return True


def up(arguments):
    from kubelab import kubeconfig
    from kubelab import lab_nodes as nodes

    serve = [version for version in arguments.serve.split(",") if version]
    wrong = [version for version in serve if version not in VERSIONS]
    if wrong:
        raise LabError(f"--serve is {arguments.serve}; it must name some of {', '.join(VERSIONS)}")
    subprocess.run([sys.executable, str(LAB / "lab.py"), "up", "--nodes", str(arguments.nodes)], check=True)
    found, names = saved(), [node.name for node in lab_nodes()]
    settings = {"serve": serve, "gpus": arguments.gpus, "nodes": names}
    same = found and process(found["pid"]) and all(found[key] == value for key, value in settings.items())
    nodes.prepare(lab_nodes())
    if not same:
        if stop():
            nodes.clear(lab_nodes())
            nodes.prepare(lab_nodes())
        start({**settings, "token": secrets.token_hex(16), "admin_token": secrets.token_hex(16)})
        kubeconfig.forget_discovery(saved()["url"])
    write_doubles()
    print(f"kubelab: MPIJobs are served in {', '.join(serve) or 'no version'} at {saved()['url']}")
    print(
        f"kubelab: export KUBECONFIG={FOLDER / 'config'} PATH={FOLDER / 'bin'}:$PATH; the inventory is inventories/kubelab."
    )


def down(_arguments):
    from kubelab import kubeconfig
    from kubelab import lab_nodes as nodes

    found = saved()
    stop()
    if found:
        kubeconfig.forget_discovery(found["url"])
        existing()
        nodes.clear(lab_nodes(started=False))
    if FOLDER.exists():
        shutil.rmtree(str(FOLDER))
    print("kubelab: down")


def status(_arguments):
    found = saved()
    if not found or not process(found["pid"]):
        raise LabError("down; start it with: kubelab.py up")
    print(f"kubelab: {found['url']} serves MPIJobs in {', '.join(found['serve']) or 'no version'}")


def parse(argv):
    parser = argparse.ArgumentParser(
        description="Start and stop a stand-in for a Kubernetes cluster on the Docker lab."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("up", help="start the lab and the cluster")
    command.add_argument("--nodes", type=int, default=2, help="how many nodes (2)")
    command.add_argument("--serve", default="v1,v1alpha1", help="in which versions, the stored one first (v1,v1alpha1)")
    command.add_argument("--gpus", type=int, default=2, help="how many GPUs each node says that it has (2)")
    command.set_defaults(do=up)
    commands.add_parser("down", help="remove the cluster and its pods").set_defaults(do=down)
    commands.add_parser("status", help="say what runs").set_defaults(do=status)
    return parser.parse_args(argv)


def main():
    arguments = parse(sys.argv[1:])
    machine.complete_path()
    try:
        arguments.do(arguments)
    except LabError as error:
        raise SystemExit(f"kubelab: {error}") from error
    except subprocess.CalledProcessError as error:
        raise SystemExit(error.returncode) from error


if __name__ == "__main__":
    main()
