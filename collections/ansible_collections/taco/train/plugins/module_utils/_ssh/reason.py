# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell from the message of ssh why a host can't be reached. Values in, values out."""

import re
from typing import Tuple

# In this order: a changed key is followed by the line of an unknown one, and a proxy's own failure by a closed connection.
PATTERNS = (
    ("name", r"Could not resolve hostname|Name or service not known|Temporary failure in name resolution"),
    ("host_key_changed", r"REMOTE HOST IDENTIFICATION HAS CHANGED"),
    (
        "host_key_unknown",
        r"Host key verification failed|host key is known for|authenticity of host|Host Key checking is",
    ),
    (
        "authentication",
        r"Permission denied[ ,]+(?:\(|please)|Too many authentication failures|No supported authentication methods",
    ),
    ("refused", r"Connection refused"),
    ("timeout", r"timed out|took longer than"),
    ("route", r"No route to host|Network is unreachable|Network is down|Host is down"),
    ("closed", r"kex_exchange_identification|ssh_exchange_identification|Connection (?:closed|reset) by"),
)


def reason_of(message: str) -> Tuple[str, str]:
    """Return the kind of the reason in the message of ssh and the line that says so; an empty kind with the message for another reason."""
    for kind, pattern in PATTERNS:
        for line in message.splitlines():
            if re.search(pattern, line, re.IGNORECASE):
                return kind, line.strip(" @\r\n")
    return "", " ".join(message.split())
