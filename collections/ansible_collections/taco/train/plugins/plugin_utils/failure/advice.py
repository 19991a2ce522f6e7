# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do about a cause in this log: the fix of the table, or the one for pods, a stack, an exception or a result with problems."""

import re
from typing import Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.hosts import whole_name
from ansible_collections.taco.train.plugins.plugin_utils.failure.pods import (
    BARE_NAME,
    FIXES,
    MASTER,
    MOST_CHARACTERS,
    NAMES,
    NO_NAME,
    in_pods,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.tracebacks import BEGIN, FRAME, LAUNCHER
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import filled
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# Files that are not the user's.
INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python\d|^<|importlib|/__autograph_generated_file")
MOST_FRAMES = 400


def fix_of(cause: Cause, lines: Sequence[Line], place: int, values: Mapping[str, str]) -> str:
    """What to do about a cause that a line shows with its values."""
    if cause.name == "master_address" and NO_NAME.search(lines[place].text[:MOST_CHARACTERS]) and in_pods(lines):
        return MASTER
    if cause.name == "master_address" and BARE_NAME.search(lines[place].text[:MOST_CHARACTERS]):
        return f"{filled(cause.fix, values)}; for a pod {MASTER}"
    # A fix with values of the line is for this log already.
    fix = FIXES.get(cause.name) if "{" not in cause.fix else None
    if fix and in_pods(lines):
        return fix
    if fix == NAMES and BARE_NAME.search(lines[place].text[:MOST_CHARACTERS]):
        return f"{cause.fix}; for a pod {fix}"
    whole = whole_name(lines, values.get("host", "")) if cause.name == "ssh_resolve" else None
    if whole:
        return (
            f"Open MPI cuts the domain off {whole}: set orte_keep_fqdn_hostnames: 1 in benchmark_mca (before 5.0), or "
            "plm_rsh_no_tree_spawn: 1 where the launcher knows the name and other hosts do not, or make the short name known on every host "
            "(/etc/hosts, search in resolv.conf)"
        )
    crash = crash_at(lines, place) if cause.name == "segfault" and not cause.context else None
    if crash:
        return advice_of(crash)
    raised = frame(lines, place) if cause.name == "traceback" else None
    if raised and LAUNCHER.search(raised[0]):
        return (
            f"the launcher failed, not the script (line {raised[1]} of {raised[0]}): check its options, the hosts and their slots, and its "
            "version on every host"
        )
    if raised:
        return f"look at line {raised[1]} of {raised[0]}, and at {what_to_see(lines[place].text)}"
    return filled(cause.fix, values)


def frame(lines: Sequence[Line], place: int) -> Optional[Tuple[str, str]]:
    """File and line of the last call of the user's own code in the traceback above a line, of any code without one."""
    last, rank = None, lines[place].rank
    for line in reversed(lines[max(place - MOST_FRAMES, 0) : place]):
        if line.rank != rank:
            continue
        if line.text.rstrip().endswith(BEGIN):
            break
        match = FRAME.match(line.text)
        if match and not INSTALLED.search(match["path"]):
            return match["path"], match["number"]
        last = last or match
    return (last["path"], last["number"]) if last else None


# As UCX, Open MPI, glibc's backtrace() and gdb print it.
STACK_FRAME = re.compile(
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
        match = STACK_FRAME.match(line.text)
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


ARGUMENTS = "benchmark_options.extra_args, the data, the number of ranks"
# The first that fits counts.
KINDS = [
    (
        re.compile(
            r"(?i)dataset\w*NotFound|\b(?:data ?set|builder|split)\b.{0,120}(?:not found|unknown|doesn't exist|should be one of)"
        ),
        "the name, the folder and the parts of the data set that benchmark_options.extra_args give",
    ),
    (
        re.compile(
            r"(?i)(?:does(?:n't| not) match|mismatch|must match|must be equal|incompatible|expected [^\n,]{1,60},? (?:but )?got|!=)"
        ),
        "both values that the message compares: make the configuration, the data and the model agree",
    ),
    (
        re.compile(r"(?i)\b(?:shape|size|dimension)s?\b"),
        "the sizes in the message: those of the model, the data and benchmark_options.batch_size must fit together",
    ),
    (
        re.compile(r"^(?:\w+\.)*PermissionError\b"),
        "the owner and the mode of what it opens, for the user of the container",
    ),
    (
        re.compile(r"^(?:\w+\.)*(?:FileNotFoundError|NotADirectoryError|IsADirectoryError)\b"),
        "the path that it opens, which starts at benchmark_options.chdir where it begins without /: every host needs it",
    ),
    (
        re.compile(r"^(?:\w+\.)*KeyError\b"),
        "the name in the message: the configuration, the checkpoint, the data or the environment (benchmark_env) lacks it",
    ),
    (
        re.compile(r"^(?:\w+\.)*(?:AttributeError|TypeError)\b"),
        "the versions of the libraries in taco_image, whose functions the script may know in another version, and at "
        "benchmark_options.extra_args",
    ),
]


def what_to_see(text: str) -> str:
    """What the fix names besides the line of the script."""
    return next((words for pattern, words in KINDS if pattern.search(text[:1000])), f"what it gets: {ARGUMENTS}")


OF_PROBLEMS = [
    (
        r"build nccl-tests with MPI=1",
        "build nccl-tests in taco_image with MPI=1 and MPI_HOME, and set benchmark_options.binary to that build",
    ),
    (
        r"counted .* at its start",
        "run again with the same hosts from start to end: a result is that of one number of ranks",
    ),
    (
        r"ranks were started and|don't agree on how many",
        "start all ranks with one mpirun, and build Horovod or the test for that MPI",
    ),
    (
        r"and not by horovod",
        "leave --variable_update out of benchmark_options.extra_args: each GPU is a rank of Horovod here, and one process with several "
        "GPUs exchanges nothing between ranks",
    ),
    (
        r"run on GPUs where|ran on .* where|runs on .* where",
        "check nvidia-smi in the container, and that the framework there has CUDA; or set benchmark_device",
    ),
    (
        r"matches benchmark_",
        "set benchmark_options.pattern or benchmark_options.total_pattern to what the script prints, and let the script run to its end",
    ),
    (
        r"several (?:runs|models)|where one is expected|stand in it twice",
        "run again, with one benchmark in the command",
    ),
    (
        r"different networks",
        "set NCCL_SOCKET_IFNAME, NCCL_IB_HCA and the plugin in benchmark_env so that all hosts take the same network",
    ),
    (
        r"did not finish",
        "look at the last lines of the log: something ended the script early without a status, or its output was cut",
    ),
    (
        r"below what NCCL_TESTS_MIN_BW",
        "look for the slow host or link, or set NCCL_TESTS_MIN_BW in benchmark_env to a smaller number",
    ),
    (
        r"^One rank exchanges",
        "set benchmark_hosts, the slots in it or taco_gpus_per_node so that two ranks or more take part; if more were started, each ran "
        "alone: build nccl-tests in taco_image with MPI=1",
    ),
    (r"not a usable number|not that of|not the mean", "run again, and check the script for changes of what it prints"),
]


def fix_of_problem(problem: str) -> str:
    """What to do about what is wrong with the output of a run."""
    return next(
        (fix for pattern, fix in OF_PROBLEMS if re.search(pattern, problem)),
        "compare the log with the output of a whole run of this workload",
    )
