# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Say why a module failed, so that the sentence can be understood far from the host that it is about."""

import os


def failure(error: BaseException, host: str = "", user: int = -1) -> str:
    """Return on which host what went wrong, and what to do where only rights are missing."""
    host = host or os.uname().nodename
    user = os.geteuid() if user < 0 else user
    denied = isinstance(error, PermissionError) or isinstance(error.__cause__, PermissionError)
    return f"{host}: {error}" + ("; it needs root: set become: true" if denied and user != 0 else "")
