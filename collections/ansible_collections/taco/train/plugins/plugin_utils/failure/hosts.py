# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of hosts: the one in the inventory for another in the log, that of an address by the name server, the whole one of a short name."""

import re
from typing import Dict, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
# The host name of a container is the begin of its number.
CONTAINER = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])(?:[0-9a-f]{8}|[0-9a-f]{12}|[0-9a-f]{64})")


def inventory_name(host: Optional[str], hosts: Sequence[str], text: str, lines: Sequence[Line] = ()) -> Optional[str]:
    """The name that the inventory has for a host; else the only host of the run that a line names; else the host itself."""
    if host and hosts and host not in hosts:
        short = [name for name in hosts if not ADDRESS.match(host) and name.partition(".")[0] == host.partition(".")[0]]
        # A Job adds the number and a suffix to its name for each pod.
        short = short or [name for name in hosts if host.startswith(f"{name}-")]
        short = short or (of_container(host, hosts, lines) if CONTAINER.fullmatch(host) else [])
        host = short[0] if len(short) == 1 else host
    if host in hosts or not hosts:
        return host
    mentioned = mentions(text, hosts)
    return mentioned[0] if len(mentioned) == 1 else host


def of_container(container: str, hosts: Sequence[str], lines: Sequence[Line]) -> List[str]:
    """The hosts that may have a container: those that a line names with it, or the only one of the run."""
    lists = (mentions(line.text, hosts) for line in lines if container in line.text)
    named = {names[0] for names in lists if len(names) == 1}
    return sorted(named) if named else list(hosts)


def mentions(text: str, hosts: Sequence[str]) -> List[str]:
    """The hosts of the run that a text names."""
    return [name for name in hosts if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text)]


# What nslookup, host and dig -x print.
POINTER = re.compile(
    r"^(?P<address>\d{1,3}(?:\.\d{1,3}){3})\.in-addr\.arpa\b.{0,60}?(?:name ?= ?|pointer |PTR\s+)(?P<name>[A-Za-z][\w-]{0,62})"
)
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
