# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a process crashed: the library and the function of the first frame of its stack, behind those of the signal's handler."""

import re
from typing import NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# As UCX, Open MPI, glibc's backtrace() and gdb print it.
FRAME = re.compile(
    r"^(?:\[[\w.-]{1,253}:\d+\] )?\s{0,8}(?:\[ ?\d+\]|\d{1,3}|#\d{1,3}) +(?:0x[\da-f]+ )?"
    r"(?P<path>/?[\w./+-]{1,300}?)\((?P<function>\w*)[^)]{0,200}\)"
)
# What stands in the stack above the function that crashed.
HANDLER = re.compile(r"(?:^|/)(?:libucs|linux-vdso|libpthread|libc|libsystem|libasan)[\w-]{0,20}\.so")
UCX = re.compile(r"(?:^|/)libucs\.so")
MOST_LINES = 60


class Crash(NamedTuple):
    """The file name of the library and its function, empty where it isn't known, and whether UCX's handler printed the stack."""

    library: str
    function: str
    of_ucx: bool


def crash_at(lines: Sequence[Line], place: int) -> Optional[Crash]:
    """What crashed, by the first stack behind a line; None without one, and where no library is in it."""
    of_ucx = begun = False
    for line in lines[place : place + MOST_LINES]:
        match = FRAME.match(line.text)
        if not match:
            if begun:
                return None
            continue
        begun, of_ucx = True, of_ucx or bool(UCX.search(match["path"]))
        if not HANDLER.search(match["path"]):
            library = match["path"].rpartition("/")[2]
            return Crash(library, match["function"], of_ucx) if ".so" in library else None
    return None


def advice_of(crash: Crash) -> str:
    """What to do about it first."""
    where = f"{crash.library} ({crash.function})" if crash.function else crash.library
    handler = (
        "; UCX printed the stack: with UCX_HANDLE_ERRORS: none in benchmark_env the program's own words about an error before it may come"
        if crash.of_ucx
        else ""
    )
    return (
        f"the crash is in {where}, the first library in the stack: use another version of it, and check that the framework, NCCL, MPI "
        f"and Horovod in taco_image were built for each other{handler}"
    )
