#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's nodes as an inventory, from what `make lab-up` wrote down."""

import json
import re
import sys
from pathlib import Path

LAB = Path(__file__).resolve().parents[2] / ".lab"


def inventory(state, ssh):
    """Return the inventory of the nodes in a state; ssh is the folder of the keys."""
    # Quoted twice: Ansible splits the line into words, then ssh splits the value.
    common = f"""-o 'UserKnownHostsFile="{ssh / "known_hosts"}"' -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes"""
    variables = {
        node["name"]: {
            "ansible_host": node["address"],
            "ansible_port": node["port"],
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(ssh / "id_ed25519"),
            "ansible_ssh_common_args": common,
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        for node in state["nodes"]
    }
    group = {"hosts": [node["name"] for node in state["nodes"]]}
    rate = re.fullmatch(r"(\d+)mbit", state.get("rate") or "")
    if rate:
        group["vars"] = {"lab_rate_mbit": int(rate.group(1))}
    return {
        "gpu_nodes": group,
        "_meta": {"hostvars": variables},
    }


def show(folder, start):
    """Print the inventory of the lab in a folder as Ansible asks for it; start is what starts that lab."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        raise SystemExit("the lab is not up; run " + start) from None
    found = inventory(state, folder / "ssh")
    if "--host" in sys.argv[1:]:
        found = found["_meta"]["hostvars"].get(sys.argv[-1], {})
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    show(LAB, "make lab-up")
