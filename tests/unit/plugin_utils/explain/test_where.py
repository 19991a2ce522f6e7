# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host and the rank of a failure: by the tag of its line, by headers, by what ranks print of themselves, by mpirun's end."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.explain.symptoms import explain

RULE = "-" * 74 + "\n"
MEMORY = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
BUSY = "4:9 [1] init.cc:1 NCCL WARN Duplicate GPU detected : rank 0 and rank 1\n"
DEVICES = "#  Rank  6 Group  0 Pid      4 on       gpu2 device  1 [0x18] NVIDIA H200\n"
JOINED = "gpu2:4:9 [1] NCCL INFO ncclCommInitRank comm 0x5 rank 6 nranks 8 cudaDev 1 - Init COMPLETE\n"
ENDED = f"{RULE}mpirun noticed that process rank 6 with PID 4 on node gpu2 exited on signal 9 (Killed).\n{RULE}"
EXITED = f"{RULE}mpirun detected that one or more processes exited\n\n  Process name: [[27433,1],6]\n  Exit code:    1\n{RULE}"
CLOSED = "NCCL WARN socketProgress: Connection closed by remote peer"
PLACES = {
    "tag": (f"[1,6]<stderr>:{MEMORY}", None, 6),
    "tag with a host": (f"[1,6][gpu2:44]<stderr>:{MEMORY}", "gpu2", 6),
    "tag, the host of the rank elsewhere": (f"{DEVICES}[1,6]<stderr>:{MEMORY}", "gpu2", 6),
    "rank of PyTorch": (f"[rank6]: {MEMORY}", None, 6),
    "header of NCCL": (f"gpu2:{BUSY}", "gpu2", None),
    "header of a listed process": (f"{DEVICES}gpu2:{BUSY}", "gpu2", 6),
    "header of a process of a communicator": (f"{JOINED}gpu2:{BUSY}", "gpu2", 6),
    "header, and the end of a process there": (f"gpu2:{BUSY}{EXITED}", "gpu2", 6),
    "end of a process": (f"{MEMORY}{ENDED}", "gpu2", 6),
    "end of a process without a host": (f"{MEMORY}{EXITED}", None, 6),
    "pod": (f"[pod/job-worker-2/mpi] {MEMORY}", "job-worker-2", None),
    "peer by its name": (f"gpu1:3:9 [0] {CLOSED} gpu2<4>\n", "gpu2", None),
    "peer by the address that it uses": (
        f"gpu2:4:9 [1] NCCL INFO Bootstrap : Using eth0:198.51.100.7<0>\ngpu1:3:9 [0] {CLOSED} 198.51.100.7<4>\n",
        "gpu2",
        None,
    ),
    "peer that is not known": (f"gpu1:3:9 [0] {CLOSED} 198.51.100.7<4>\n", None, None),
    "rank that others wait for": (
        "[1,0]<stderr>:One or more tensors were broadcasted by subset of ranks\n[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:6: [a]\n",
        None,
        6,
    ),
    "rank that could not start": (
        f"{RULE}mpirun was unable to launch the specified application as it could not find an executable:\n\n"
        f"Executable: train\nNode: gpu2\n\nwhile attempting to start process rank 6.\n{RULE}",
        "gpu2",
        6,
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_failure_has_the_host_and_the_rank_that_the_log_shows(name):
    text, host, rank = PLACES[name]
    why = explain(text)
    assert (why.host, why.rank) == (host, rank), why


def test_who_reports_the_end_of_a_peer_is_not_to_blame():
    why = explain(f"[1,3][gpu1:3]<stderr>:gpu1:3:9 [0] {CLOSED} gpu2<4>\n")
    assert why.host == "gpu2" and why.found.endswith(", as rank 3 on gpu1 reports")
