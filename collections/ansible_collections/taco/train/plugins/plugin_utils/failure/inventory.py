# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The name that the inventory has for a host that a log names in another way: with a domain, as a pod, or by its container."""

import re
from typing import List, Optional, Sequence

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
