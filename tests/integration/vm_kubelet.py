# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kubelet for a machine of the VM lab, on a cluster that runs in the test: it reports the machine as a node."""

import contextlib
import subprocess
import threading

from faults import command
from kubelab.conditions import set_condition
from kubelab.resources import NODE

LOOK = "cat /proc/sys/kernel/random/boot_id /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
LOOK_SECONDS = 1.0
SSH_SECONDS = 5


def look(name):
    """Return the boot id of a machine and its pages of 1 GiB, or None when it doesn't answer."""
    try:
        done = subprocess.run(command(name, LOOK), capture_output=True, text=True, timeout=SSH_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    lines = done.stdout.split()
    return (lines[0], int(lines[1])) if done.returncode == 0 and len(lines) == 2 else None


def report(cluster, name, known, found):
    """Write what a kubelet would of what was found, if it isn't what was known."""
    if found == known:
        return

    def write(node):
        if found is None:
            set_condition(node, "Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
            return
        boot_id, pages = found
        # It counts pages only when it starts.
        if node["status"]["nodeInfo"].get("bootID") != boot_id:
            node["status"]["nodeInfo"]["bootID"] = boot_id
            for part in ("allocatable", "capacity"):
                node["status"][part]["hugepages-1Gi"] = f"{pages}Gi"
        set_condition(node, "Ready", "True", "KubeletReady", "kubelet is posting ready status")

    cluster.storage.update(NODE, None, name, write)


@contextlib.contextmanager
def kubelet(cluster, name):
    """Report a machine while the context lasts."""
    ended = threading.Event()

    def run(known):
        while not ended.wait(LOOK_SECONDS):
            found = look(name)
            report(cluster, name, known, found)
            known = found

    first = look(name)
    report(cluster, name, None, first)

    thread = threading.Thread(target=run, args=(first,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(SSH_SECONDS + LOOK_SECONDS)
