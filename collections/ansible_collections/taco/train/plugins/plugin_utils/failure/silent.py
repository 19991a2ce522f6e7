# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hosts of a run that print nothing where the others do: a failure that only a missing line shows."""

from typing import List, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.failure.place import Places
from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import in_order

# Fewer hosts that print than these don't make the others conspicuous.
LEAST_THAT_PRINT = 2


def silent_hosts(places: Places, hosts: Sequence[str]) -> List[str]:
    """The few hosts of the run, or of the launcher's command, without a line where most others have one."""
    command = in_order(places.lines)
    expected = list(hosts) or list(dict.fromkeys(command.values()))
    ranks = {line.rank for line in places.lines if line.rank is not None}
    ranks.update(places.ranks.values())
    printing = {line.host for line in places.lines if line.host}
    printing.update(host for host, _process in places.ranks)
    printing.update(places.headers)
    printing.update(places.hosts[rank] for rank in ranks if rank in places.hosts)
    short = {host.partition(".")[0] for host in printing}
    silent = [host for host in expected if host.partition(".")[0] not in short]
    those = len(expected) - len(silent)
    return silent if LEAST_THAT_PRINT <= those > len(silent) else []
