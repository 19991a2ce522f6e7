# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The programs that only wait until work is started beside them."""

import os
from typing import Sequence

VARIABLE = "taco_interrupt_running_work"
IDLE = (
    "sleep",
    "tail",
    "pause",
    "tini",
    "docker-init",
    "dumb-init",
    "catatonit",
    "sshd",
    "sshd-session",
    "ps",
    "agetty",
)
SHELLS = ("sh", "bash", "dash", "ash", "zsh", "busybox")


def is_idle(arguments: Sequence[str]) -> bool:
    """Whether a command line is that of a program in IDLE or of a shell that runs none but such programs."""
    if not arguments:
        return True
    program = os.path.basename(arguments[0].rstrip(":").lstrip("-"))
    if program in SHELLS:
        rest = list(arguments[1:])
        while rest and (rest[0].startswith("-") or rest[0] in SHELLS):
            rest = rest[1:]
        return is_idle(rest)
    return program in IDLE
