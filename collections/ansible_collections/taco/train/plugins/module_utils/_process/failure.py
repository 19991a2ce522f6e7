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
    return _words(error) + ("; it needs root: set become: true" if denied and user != 0 else "")


def _words(error: BaseException) -> str:
    """Name the path of an error of the system without its number, and what stands in the place of a file or a folder."""
    path = error.filename if isinstance(error, OSError) else None
    if not isinstance(path, str) or error.__class__ not in (IsADirectoryError, NotADirectoryError):
        return f"{path}: {error.strerror}" if isinstance(error, OSError) and path else str(error)
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder, expected a file: move it away and run this again"
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return f"{path} is no folder, expected one: move it away and run this again"


def some(names: Iterable[str], most: int = MOST_NAMES, separator: str = ", ") -> str:
    """Return the first names of a list, and how many more there are: no message grows with the number of hosts."""
    listed = list(names)
    more = len(listed) - most
    return separator.join(listed[:most]) + (f" and {more} more" if more > 0 else "")
