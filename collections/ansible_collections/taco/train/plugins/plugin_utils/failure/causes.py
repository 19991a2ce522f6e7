# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of the causes that the output of a failed run can show, and which of several is that of the others.

The order is the priority: what stands higher is the cause of what stands lower, and mpirun's epilogue comes last. The wordings
are those of the programs' own sources, over the versions in use.
"""

import re
from typing import Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.failure.containers import CONTAINERS
from ansible_collections.taco.train.plugins.plugin_utils.failure.cuda import CUDA
from ansible_collections.taco.train.plugins.plugin_utils.failure.doubtful import DOUBTFUL
from ansible_collections.taco.train.plugins.plugin_utils.failure.epilogue import BATCH_LIMITS, ENDED, EPILOGUE
from ansible_collections.taco.train.plugins.plugin_utils.failure.launch import LAUNCH
from ansible_collections.taco.train.plugins.plugin_utils.failure.libraries import LIBRARIES
from ansible_collections.taco.train.plugins.plugin_utils.failure.mapping import MAPPING
from ansible_collections.taco.train.plugins.plugin_utils.failure.mpi import MPI
from ansible_collections.taco.train.plugins.plugin_utils.failure.nccl import NCCL
from ansible_collections.taco.train.plugins.plugin_utils.failure.network import NETWORK
from ansible_collections.taco.train.plugins.plugin_utils.failure.programs import PROGRAMS
from ansible_collections.taco.train.plugins.plugin_utils.failure.ranks import RANK
from ansible_collections.taco.train.plugins.plugin_utils.failure.rendezvous import RENDEZVOUS
from ansible_collections.taco.train.plugins.plugin_utils.failure.scheduler import SCHEDULER
from ansible_collections.taco.train.plugins.plugin_utils.failure.script import SCRIPT
from ansible_collections.taco.train.plugins.plugin_utils.failure.slurm import SLURM
from ansible_collections.taco.train.plugins.plugin_utils.failure.software import SOFTWARE
from ansible_collections.taco.train.plugins.plugin_utils.failure.ssh import SSH
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

CAUSES = [
    *SCHEDULER,
    *SLURM,
    *BATCH_LIMITS,
    *CONTAINERS,
    *SSH,
    *MAPPING,
    *LAUNCH,
    *MPI,
    *PROGRAMS,
    *LIBRARIES,
    *SOFTWARE,
    *NETWORK,
    *RENDEZVOUS,
    *SCRIPT,
    *CUDA,
    *NCCL,
    *RANK,
    *ENDED,
    *DOUBTFUL,
    *EPILOGUE,
]
# A run that is still going on hasn't ended by one of these.
ENDS = {cause.name for cause in [*ENDED, *EPILOGUE]}
# What ends a run from outside. The processes that it ends fail in many ways afterwards.
FROM_OUTSIDE = {"preempted", "time_limit", "hangup", "terminated", "interrupted"}
FOLLOWS = {cause.name for cause in [*NETWORK, *RENDEZVOUS, *SCRIPT, *RANK, *ENDED, *DOUBTFUL, *EPILOGUE]}
# What launchers say of the processes that ended, each in a line: the first ended first, and the launcher ended the others.
FIRST_COUNTS = {"killed", "signal", "exit_code"}
LISTED = re.compile(r"srun: error: |Process \d{1,7} exit with")
# A connection also fails when the process at its other end has failed: such a failure is then the cause.
OF_TWO = {
    "nccl_connect",
    "nccl_ib",
    "nccl_ofi",
    "nccl_watchdog",
    "mpi_connect",
    "mpi_ib",
    "gloo_connect",
    "rendezvous",
    "stalled",
    "nccl_truncated",
}
# One failed call of MPI is that of the process that lost another, or the error itself.
OF_TWO_AFTERWARDS = {"mpi_error"}
# The kernel ends a process, and its launcher tells of it.
CRASHES = {"segfault", "bus_error", "instruction"}
# Ranks that are gone, where others go on.
LOST = {*(cause.name for cause in ENDED), "horovod_down", "signal", "exit_code", "lost_node", "memory", "segfault"}
# Between ranks: a process that loses another one then fails in its own way, too.
OF_LOSS = OF_TWO - {"stalled"} | {"peer_closed", "lost_node"}
# What such a process prints, besides what stands lower in the table: kernels of an ended communicator, files and sockets that are gone.
AFTER_LOSS = {"illegal_access", "shm_gone", "storage", "ssh_closed"}
# The driver's messages are not in the order of the log.
OF_KERNEL = re.compile(r"NVRM: |\bkernel: ")
# A rank reports it of another.
OF_OTHERS = {"stalled", "peer_closed", "horovod_down"}
OF_ONE = {"traceback", "segfault", "instruction", "killed", *(cause.name for cause in SCRIPT)}
# What explains a cause that it comes with, and is a warning only without it.
EXPLAINED_BY = {
    # sshd of a container that could not start.
    "ssh_connect": ("driver", "disk"),
    "mpi_ofi": ("memory_locked",),
    "cudnn": ("gpu_memory", "cublas"),
    "cublas": ("gpu_memory",),
    "mpi_unreachable": ("wrong_interface",),
    "mpi_connect": ("wrong_interface",),
    "nccl_error": ("nccl_warn",),
    "nccl_test": ("nccl_warn",),
}
# The error of a process has no host; its other lines, which NCCL prints, have it.
OF_NCCL = {"nccl_interface", "nccl_error"}
# A process prints a help text without its host, and a line with its header before or behind it.
OF_MPI = {"mpi_pmi", "mpi_component", "mpi_ofi", "mpi_error", "mpi_prefix", "session_folder"}
# Each host has its own reason: the first that fails counts.
FIRST_OF_NAME = {"ssh_connect"}
# Failures to log in to hosts, of which a log may have several.
OF_LOGIN = {"mpi_resolve", "ssh_key", "ssh_host_key", "ssh_resolve", "ssh_connect"}
# A rank that mpirun could not start.
OF_START = {"executable", "mpirun_argument"}
# A host prints them through ssh, before it has ranks.
OF_REMOTE = {"daemon_absent", "daemon_library", "mpi_version", "mpi_prefix", "ssh_host_key"}
# Rank 0 prints them of all ranks, or Slurm of the whole job on its first host.
OF_ALL = {"wrong_data", "time_limit", "preempted", "cancelled"}
# A process of a rank prints them of itself.
OF_PROCESS = (
    {cause.name for cause in [*LIBRARIES, *SOFTWARE, *NETWORK, *RENDEZVOUS, *SCRIPT, *CUDA, *NCCL, *RANK, *DOUBTFUL]}
    - {cause.name for cause in [*SCHEDULER, *SLURM, *BATCH_LIMITS, *CONTAINERS, *ENDED, *EPILOGUE]}
    - OF_ALL
    - OF_OTHERS
)
# Every rank of MPICH prints it with its number.
OF_EACH = {"aborted"}
# Causes of a run that ends with status 0.
OF_RESULT = {"wrong_data"}


def the_first(places: Mapping[int, int], lines: Sequence[Line]) -> int:
    """The cause of highest priority, and not what follows from the end of another process."""
    best = min(places)
    name = CAUSES[best].name
    explained = [
        index for other in EXPLAINED_BY.get(name, ()) for index in sorted(places) if CAUSES[index].name == other
    ]
    if explained and name in FIRST_OF_NAME:
        return explained[0]
    if name in FIRST_OF_NAME:
        return min((index for index in places if CAUSES[index].name == name), key=lambda index: places[index])
    outside = [index for index in places if CAUSES[index].name in FROM_OUTSIDE and places[index] < places[best]]
    if outside and name in FOLLOWS - FROM_OUTSIDE:
        return min(outside, key=lambda index: places[index])
    if explained:
        return explained[0]
    if name in FIRST_COUNTS and LISTED.match(lines[places[best]].text):
        listed = [
            index for index in places if CAUSES[index].name in FIRST_COUNTS and LISTED.match(lines[places[index]].text)
        ]
        return min(listed, key=lambda index: places[index])
    if name in OF_TWO or name in OF_TWO_AFTERWARDS:
        of_one = [index for index in places if CAUSES[index].name in OF_ONE]
        return min((index for index in of_one if places[index] < places[best] or decides(index, name)), default=best)
    return best


def decides(index: int, name: str) -> bool:
    """Whether the cause of one process comes before another between processes wherever it stands: launchers say it at their end."""
    return name in OF_TWO and (CAUSES[index].name == "killed" or name == "stalled")
