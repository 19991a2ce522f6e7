# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The process in the background that is the cluster of the lab: python -m kubelab.server FILE, with the settings in FILE."""

import json
import os
import signal
import sys
import threading
from pathlib import Path

import state
from engine import Engine

from kubelab import kubeconfig
from kubelab.cluster import Cluster
from kubelab.lab_nodes import LabNode
from kubelab.lab_runtime import LabRuntime

TICK = 0.1


def main():
    path = Path(sys.argv[1])
    settings = json.loads(path.read_text(encoding="utf-8"))
    lab = state.load()
    nodes = [LabNode(Engine(lab["engine"] == "own"), index, node) for index, node in enumerate(lab["nodes"])]
    gpus = {"nvidia.com/gpu": settings["gpus"]}
    described = [{"name": node.name, "allocatable": gpus, "address": node.address} for node in nodes]
    runtime = LabRuntime(nodes)
    tokens = {name: settings[name] for name in ("token", "admin_token")}
    cluster = Cluster(described, settings["serve"], operator_pod=True, tick=TICK, runtime=runtime, **tokens)
    runtime.scripts = cluster.scripts
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: done.set())
    runtime.start(cluster.storage)
    cluster.start()
    kubeconfig.write(path.parent / "config", cluster.url, cluster.authority.pem, cluster.token)
    # Last: who waits for this file finds everything else.
    state.write(
        path.parent / "state.json",
        json.dumps({**settings, "url": cluster.url, "ca": cluster.authority.pem, "pid": os.getpid()}, indent=1) + "\n",
        0o600,
    )
    done.wait()
    cluster.stop()
    runtime.close()


if __name__ == "__main__":
    main()
