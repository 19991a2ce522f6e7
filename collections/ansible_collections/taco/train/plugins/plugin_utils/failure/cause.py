# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cause of a failed run: how its line is recognised, and what the user is told."""

import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Pattern, Tuple

# What several causes have as their fix.
TRUST = "run the ssh_trust role for all hosts"
IMAGE = "run the same taco_image on every host"
OTHER_PORT = f"{IMAGE}; where they are equal, end the other job at that port (ss -tnp), or use another MASTER_PORT"
DRIVER = (
    "install a driver on the host that is new enough for the CUDA version in taco_image, or use an older taco_image"
)
GPUS = (
    "check nvidia-smi on the host and in the container, and taco_gpus_per_node; where it shows GPUs, CUDA_VISIBLE_DEVICES and the GPUs "
    "that the scheduler gives each task (--gpus, --gpu-bind)"
)
HARDWARE = "look for Xid in the host's dmesg, and reset or replace the GPU"
SHM = "set training_container_shm_size (mpijob_shm_size on Kubernetes) to a larger size"
INTERFACE = "set benchmark_interface or taco_interface to an interface that every host has (ip -br address)"
OPEN_NETWORK = (
    "see first whether the process at the other end has ended; allow all ports between the hosts (firewall, security group), and set "
    "taco_interface to the network that they share"
)
BATCH = (
    "set benchmark_options.batch_size to a smaller number, and end other programs on the GPU (nvidia-smi); where this process has it all "
    "and much is reserved but unallocated, PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True in benchmark_env"
)
NCCL_INFO = "run again with NCCL_DEBUG: INFO in benchmark_env and look at the first NCCL WARN"
# torchrun's agents, later than the start of the ranks.
STORE_LOST = "torchrun lost its rendezvous store ({host}): the agent there ended or can't be reached"
STORE_LOST_FIX = (
    "look at the log of the host in --rdzv_endpoint for what ended first there, and at the network to it; give all hosts the same "
    "--rdzv_id, without which each makes one of its own"
)
# Why a connection was not made.
LINK = r"(?:Connection refused|Connection timed out|No route to host|Network is unreachable|Software caused connection abort|timed out)"
# Addresses of the host itself, of its bridges (docker0, virbr0 of libvirt) and of its links: another host does not reach them.
UNREACHED = r"(?:127\.\d{1,3}|172\.17|192\.168\.122|169\.254)\.[\d.]{1,11}|fe80:[\da-f:]{1,40}(?:%[\w.-]{1,16})?"
# The host in a help text of mpirun.
NODE = "host: local host, node, host, local node, my node"
# A part of a table's values.
PART = re.compile(r"<<(\w+)>>")
PATTERNS = {"pattern", "near", "context"}
# Where a value begins in a line of a table.
INDENT = 10


class Cause(NamedTuple):
    """One cause; {names} in the texts are groups of the patterns, and groups named host and rank say where it was."""

    name: str
    pattern: Pattern[str]
    """Matches within one line without prefixes."""
    found: str
    fix: str
    near: Optional[Pattern[str]] = None
    """Searched in the lines around."""
    fields: Mapping[str, Tuple[str, ...]] = {}
    """Groups, and the names of the fields around that have their values, as mpirun's help texts print them."""
    context: Optional[Pattern[str]] = None
    """Matches a line anywhere in the log, without which the pattern shows no such cause; its groups are values, too."""


def fields_of(text: str) -> Mapping[str, Tuple[str, ...]]:
    """Groups and the names of their fields: host: node, peer host; why: error."""
    entries = (entry.partition(": ") for entry in text.split("; ") if entry)
    return {group: tuple(names.split(", ")) for group, _colon, names in entries}


def cause(name: str, pattern: str, found: str, fix: str, near: str = "", fields: str = "", context: str = "") -> Cause:
    return Cause(
        name,
        re.compile(pattern),
        found,
        fix,
        re.compile(near, re.MULTILINE) if near else None,
        fields_of(fields),
        re.compile(context) if context else None,
    )


def table(text: str, **parts: str) -> List[Cause]:
    """The causes in a text: the name of each in a line of its own, and below it what cause() takes, each value behind its word.

    A line without a word goes on with the value above it, behind a blank unless it is a pattern. A blank at the end of a pattern is
    written [ ]. <<NAME>> stands for one of the parts, or for a text of this file.
    """
    known = {**globals(), **parts}
    rows: List[Dict[str, str]] = []
    key = ""
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            rows.append({"name": line})
            continue
        value = PART.sub(lambda match: str(known[match[1]]), line[INDENT:])
        key, goes_on = line[:INDENT].strip() or key, line[:INDENT].isspace()
        blank = "" if key in PATTERNS else " "
        rows[-1][key] = f"{rows[-1][key]}{blank}{value}" if goes_on else value
    return [cause(**row) for row in rows]
