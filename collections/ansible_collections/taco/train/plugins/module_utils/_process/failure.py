# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the message of a failure.

The message of a module does not name the host. A module knows the name that the machine gives itself, which need not be the name in the
inventory; Ansible prints the latter beside every message.
"""

import os
from typing import Iterable

MOST_NAMES = 5


def failure(error: BaseException, user: int = -1) -> str:
    """Build the message from the error. If only rights are missing, add how to get them."""
    user = os.geteuid() if user < 0 else user
    denied = isinstance(error, PermissionError) or isinstance(error.__cause__, PermissionError)
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return text + ("; it needs root: set become: true" if denied and user != 0 else "")


def some(names: Iterable[str], most: int = MOST_NAMES, separator: str = ", ") -> str:
    """Return the first names of a list, and how many more there are: no message grows with the number of hosts."""
    listed = list(names)
    more = len(listed) - most
    return separator.join(listed[:most]) + (f" and {more} more" if more > 0 else "")
