# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say in a sentence why mpirun failed, from what it, ssh, Docker and the script print."""

import re
from typing import List, NamedTuple, Optional


class Reason(NamedTuple):
    """What was found, and what to change."""

    found: str
    fix: str


# The first that matches wins: what ssh says comes before what mpirun concludes from it.
KNOWN = [
    (
        r"Another benchmark holds the training container",
        "another run still goes on in the launcher's training container",
        "wait for it, or end mpirun there",
    ),
    (
        r"(?:ssh: )?Could not resolve hostname ([^\s:]+)",
        "the host {0} is not known to the launcher's ssh",
        "set benchmark_hosts to names from the inventory, or run the ssh_trust role for it",
    ),
    (
        r"ssh: connect to host (\S+) port (\d+): ([^\r\n]+)",
        "ssh to {0} on port {1} failed ({2})",
        "run the ssh_trust role, and check taco_ssh_port and taco_interface",
    ),
    (
        r"Host key verification failed",
        "ssh refused a host's key, which is not the one it knows",
        "run the ssh_trust role for all hosts",
    ),
    (
        r"Permission denied \(([^)]*)\)",
        "ssh was not let in ({0})",
        "run the ssh_trust role for all hosts",
    ),
    (
        r"There are not enough slots available",
        "there are fewer slots than ranks",
        "set the slots in benchmark_hosts or taco_gpus_per_node",
    ),
    (
        r"can't open file '?([^'\r\n]+?)'?: \[Errno 2\]",
        "the script {0} is not there",
        "set benchmark_script to its path in the training image",
    ),
    (
        r"No such container:? (\S+)",
        "the container {0} does not exist",
        "run the training_container role (playbook deploy), or set taco_container_name",
    ),
    (
        r"[Cc]ontainer (\S+) is not running",
        "the container {0} is not running",
        "run the training_container role (playbook deploy)",
    ),
    (
        r"Cannot connect to the Docker daemon",
        "the container engine does not answer",
        "run the container_engine role (playbook deploy)",
    ),
    (
        r"(?:exec: |failed to run command ['\u2018]?)\"?([^\s\"'\u2019:]*mpirun)\"?",
        "{0} is not in the training image",
        "set benchmark_mpirun to the path of mpirun",
    ),
    (
        r"unable to find the specified executable file[\s\S]{0,300}?Executable: (\S+)",
        "a host has no {0}",
        "run the same taco_image on every host",
    ),
    (
        r"invalid value was given for (?:btl|oob)_tcp_if_include[\s\S]{0,200}?Value: +(\S+)",
        "a host has no network interface {0}",
        "set benchmark_interface or taco_interface",
    ),
    (
        r"ztcp\*?\.conf|ztcp config",
        "HARP found no configuration",
        "run the harp role (playbook prepare)",
    ),
    (
        r"CUDA out of memory|OOM when allocating|ResourceExhaustedError",
        "a GPU's memory is full",
        "set benchmark_batch_size to a smaller number",
    ),
    (
        r"unrecognized arguments: ([^\r\n]+)",
        "the script does not know {0}",
        "set benchmark_extra_args or benchmark_script",
    ),
]


def known_reason(text: str) -> Optional[Reason]:
    for pattern, found, fix in KNOWN:
        match = re.search(pattern, text)
        if match:
            return Reason(found.format(*match.groups()), fix)
    return None


def last_line(text: str) -> str:
    """Return the last line that says something; mpirun frames its messages with rules."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" \t-=*")]
    return lines[-1][:200] if lines else ""


def reason(text: str, rc: Optional[int], timed_out: bool, timeout: int, problems: List[str]) -> Optional[Reason]:
    """Return why a run failed, or None when it didn't."""
    if timed_out:
        fix = "look at the log for what it waits for, or set benchmark_timeout higher"
        return Reason(f"it was still running after {timeout} s and was ended", fix)
    if rc:
        known = known_reason(text)
        if known:
            return known
        said = last_line(text)
        return Reason(f"mpirun ended with status {rc}" + (f" and '{said}'" if said else ""), "look at the log")
    if problems:
        return Reason(" ".join(problems).rstrip("."), "look at the log")
    return None
