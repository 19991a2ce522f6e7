# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Read in NCCL's own log lines which network it uses.

The lines are those of NCCL with NCCL_DEBUG=INFO (https://github.com/NVIDIA/nccl, src/init.cc and src/transport/net.cc of
v2.8.4-1 and v2.9.9-1, and the plugin's lines of later versions): each is "<host>:<pid>:<tid> [<device>] NCCL INFO <text>",
and every communicator says "Using network <name>".
"""

import re
from typing import Any, Iterable, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.log_lines import lines_of

# The names of NCCL's own transports; any other is a plugin's.
INTERNAL = ("Socket", "IB")
NETWORK = re.compile(r"NCCL INFO Using network (\S[^\r\n]{0,63}?)\s*$")
# v2.8: the file isn't there. v2.21 and later: the same by another name.
NO_PLUGIN = re.compile(r"NCCL INFO NET/Plugin ?: (?:No plugin found \(libnccl-net\.so\)|Using internal network plugin)")


def networks(lines: Iterable[str]) -> list[str]:
    """Return the networks in the order in which they first appear."""
    return list(dict.fromkeys(match.group(1) for match in map(NETWORK.search, lines) if match))


def joined(names: Sequence[str]) -> str | None:
    """Return the networks as a record keeps them, None when NCCL said nothing."""
    return ", ".join(names) or None


def problems(names: Sequence[str]) -> list[str]:
    return ["The ranks used different networks: {}.".format(", ".join(names))] if len(names) > 1 else []


def plugin_in_use(text: Any) -> bool | None:
    """Return whether NCCL sent through a plugin, such as HARP, on every rank that says so; None when no line tells.

    That a plugin was loaded proves nothing: NCCL falls back to its own transports when it can't be initialised.
    """
    lines = lines_of(text)
    names = networks(lines)
    if names:
        return not any(name in INTERNAL for name in names)
    return False if any(NO_PLUGIN.search(line) for line in lines) else None
