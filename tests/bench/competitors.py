# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who competes: the commands, and the inventory, settings and environment that all of them share."""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence

from bench.engine import IMAGE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPT = ROOT / "labs/docker/harp_setup_lab.sh"
GPUS = 8


class Competitor(NamedTuple):
    """A way to the same end state. Its hosts are in that state already, so it has nothing to change."""

    key: str
    name: str
    plays: List[str]  # below ROOT; none for raw ssh
    arguments: Sequence[str] = ()  # further ones of ansible-playbook
    converged: bool = True  # whether a change in its recap is an error
    most: int = 1000  # hosts that it is measured on


COLLECTION = Competitor("a", "taco.train", ["playbooks/prepare.yml", "playbooks/deploy.yml"])
STEPS = Competitor("b", "the documents' steps", ["tests/bench/playbooks/steps.yml"])
ROLES = Competitor("c", "general roles", ["tests/bench/playbooks/roles.yml"])
RAW = Competitor("d", "raw ssh, the same modules", [])
CHECKS = Competitor("e", "raw ssh, checks by the shell", [])
# No ways to the same end state: what it costs to plan the changes of hosts that need none, and of hosts that need some. Only
# `make bench-plan` has them.
PLAN = Competitor("p", "taco.train, a plan", ["playbooks/plan.yml"])
CHANGES = Competitor(
    "q", "a plan with changes", ["playbooks/plan.yml"], ["-e", "hugepages_count=40"], converged=False, most=100
)
PLANS = [PLAN, CHANGES]
ALL = [COLLECTION, STEPS, ROLES, RAW, CHECKS]
# Those that a target holds against each other are near each other, as most of a run on many hosts is (b) and (c).
TURNS = [COLLECTION, RAW, CHECKS, STEPS, ROLES]

# What the lab's inventory has, for hosts of eight GPUs. The engine is a stand-in; it has every image.
VARIABLES = {
    "ansible_user": "root",
    "ansible_python_interpreter": "/usr/bin/python3",
    "taco_lab": True,
    "taco_gpus_per_node": GPUS,
    "taco_image": IMAGE,
    "eni_pattern": "^eth[1-8]$",
    "harp_script": str(SCRIPT),
    "hugepages_count": 50,
    # To try SSH from each host to each other one, once when the files were written, takes minutes on hundreds of hosts.
    "ssh_trust_prove": False,
    # All hosts share the disk of one machine, and no image is pulled.
    "preflight_min_disk_gib": 1,
}


def ssh_arguments(work: Path) -> List[str]:
    """Return the options with which every competitor logs in, beside those in ansible.cfg."""
    options = [f"UserKnownHostsFile={work}/known_hosts", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes"]
    return [part for option in options for part in ("-o", option)]


def inventory(hosts, work: Path) -> Dict:
    """Return the inventory of these hosts."""
    digest = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
    variables = dict(
        VARIABLES,
        ansible_ssh_private_key_file=f"{work}/id_ed25519",
        ansible_ssh_common_args=" ".join(ssh_arguments(work)),
        harp_script_sha256=digest,
    )
    return {"gpu_nodes": {"hosts": {host.name: {"ansible_host": host.address} for host in hosts}, "vars": variables}}


def environment(work: Path) -> Dict[str, str]:
    """Return the environment of a control node: nothing of the person's own settings, no colours, one folder for all."""
    known = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return dict(
        known,
        HOME=str(work / "home"),
        PWD=str(ROOT),
        ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
        ANSIBLE_HOME=str(work / "home/.ansible"),
        ANSIBLE_SSH_CONTROL_PATH_DIR=str(work / "cp"),
        ANSIBLE_NOCOLOR="1",
        NO_COLOR="1",
    )


def keeping(work: Path) -> Dict[str, str]:
    """Return what the environment has in the run that keeps what Ansible sends."""
    return {"ANSIBLE_SSH_EXECUTABLE": str(HERE / "capture.sh"), "TACO_BENCH_SENT": str(work / "sent")}


def command(competitor: Competitor, hosts, work: Path, forks: int, rounds: int) -> List[str]:
    """Return the command line of a competitor. rounds is how often raw ssh goes to each host."""
    if competitor.plays:
        path = work / f"inventory-{len(hosts)}.json"
        path.write_text(json.dumps(inventory(hosts, work), indent=1), encoding="utf-8")
        extra = ["-e", f"taco_results_dir={work}/results"]
        return [
            "ansible-playbook",
            *competitor.plays,
            "-i",
            str(path),
            "--forks",
            str(forks),
            *extra,
            *competitor.arguments,
        ]
    path = work / f"addresses-{len(hosts)}"
    path.write_text("".join(host.address + "\n" for host in hosts), encoding="utf-8")
    kind = "modules" if competitor is RAW else "checks"
    each = ["sh", str(HERE / "raw_ssh.sh"), str(work), str(rounds), kind]
    return ["xargs", "--arg-file", str(path), "-n", "1", "-P", str(forks), *each]


def in_turn(competing: Sequence[Competitor], repeat: int) -> List[Competitor]:
    """Return the competitors in the order of a repeat: everybody has every place in it, as far as the repeats go."""
    order = [one for one in [*TURNS, *PLANS] if one in competing]
    first = repeat % len(order)
    return order[first:] + order[:first]


def recap(output: str) -> Dict[str, Dict[str, int]]:
    """Return {host: {"ok": 1, ...}} of the lines under PLAY RECAP."""
    rows = re.findall(r"(?m)^(\S+)\s+: (ok=.*)$", output)
    return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", row)} for host, row in rows}


def trouble(competitor: Competitor, hosts, status: int, output: str, converged: bool) -> str:
    """Return what is wrong with a run, empty when nothing is: all hosts done, and nothing changed on converged ones."""
    if status != 0:
        return f"exit status {status}"
    if not competitor.plays:
        return ""
    rows = recap(output)
    wrong = [
        host.name
        for host in hosts
        if host.name not in rows or rows[host.name]["failed"] or rows[host.name]["unreachable"]
    ]
    if wrong:
        return f"failed on {', '.join(wrong[:5])}"
    changed = [host.name for host in hosts if rows[host.name]["changed"]]
    if converged and changed:
        return f"changed something on {', '.join(changed[:5])}, whose state it should have found right"
    return ""
