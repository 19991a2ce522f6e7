# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of hosts that a log shows elsewhere: that of an address by a query of the name server, and the whole one of a short name."""

import re
from typing import Dict, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# What nslookup, host and dig -x print.
POINTER = re.compile(
    r"^(?P<address>\d{1,3}(?:\.\d{1,3}){3})\.in-addr\.arpa\b.{0,60}?(?:name ?= ?|pointer |PTR\s+)(?P<name>[A-Za-z][\w-]{0,62})"
)
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
# The list of hosts of a launcher.
LIST = re.compile(
    r"\b(?:mpirun|mpiexec|mpirun_rsh|horovodrun|shmemrun|oshrun)\b|(?:^|\s)(?:-H|-{1,2}hosts?)[ =]|\bslots=\d"
)


def looked_up(lines: Sequence[Line]) -> Dict[str, str]:
    """The names of addresses that a log has from the name server, without their domains."""
    found: Dict[str, str] = {}
    for match in (POINTER.match(line.text) for line in lines if ".in-addr.arpa" in line.text):
        if match:
            found.setdefault(".".join(reversed(match["address"].split("."))), match["name"])
    return found


def refusing_host(lines: Sequence[Line], values: Mapping[str, str]) -> Optional[str]:
    """The name of a peer that refused a connection: its process is not there. None for an address without a name in the log."""
    address = ADDRESS.match(values.get("peer", "")) if "refused" in values.get("why", "") else None
    return looked_up(lines).get(address[0]) if address else None


def whole_name(lines: Sequence[Line], short: str) -> Optional[str]:
    """The name with a domain that the launcher was given for a host, None without one."""
    if not short or "." in short:
        return None
    whole = re.compile(rf"(?<![\w.-]){re.escape(short)}\.[A-Za-z][\w.-]{{0,200}}")
    matches = (whole.search(line.text) for line in lines if LIST.search(line.text))
    return next((match[0].rstrip(".") for match in matches if match), None)
