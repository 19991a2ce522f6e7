# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NCCL's warnings by the part of NCCL that prints them, each with its own fix. Those of the network are in another list."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause, cause


def warning(where: str, what: str, found: str, fix: str) -> Cause:
    """A warning by the file of NCCL's source and its text."""
    begin = rf"{where}.{{0,40}} " if where else ""
    return cause("nccl_warn", rf"{begin}(?:NCCL )?WARN (?P<what>{what})", f"{found} ({{what}})", fix)


NCCL = [
    warning(
        "",
        r"nvmlDeviceGetHandleByPciBusId(?:_v\d)?\(\) failed: Not Found.{0,40}",
        "NCCL asks for a GPU of a rank of the same host, and this process does not see it",
        "give every container of a host all its GPUs and choose by CUDA_VISIBLE_DEVICES, or set another NCCL_HOSTID for each container in "
        "benchmark_env; otherwise a GPU is gone: nvidia-smi -L on the host, Xid in its dmesg",
    ),
    warning(
        "",
        r"No transport found for rank (?P<rank>\d+)\[\w+\] -> rank (?P<other>\d+)\[\w+\].{0,40}|Could not find NET with id.{0,40}",
        "NCCL has no way between two ranks",
        "remove NCCL_P2P_DISABLE, NCCL_SHM_DISABLE, NCCL_NET and NCCL_TOPO_FILE from benchmark_env unless all hosts need them; hosts need "
        "one network in common (NET in the log with NCCL_DEBUG: INFO)",
    ),
    warning(
        "",
        r"Invalid NCCL_COMM_ID.{0,120}|(?:Invalid|Unknown|Unrecognized|Bad) .{0,40}NCCL_[A-Z_]+.{0,80}|"
        r"NCCL_[A-Z_]+ .{0,60}(?:invalid|not valid|unknown).{0,60}",
        "NCCL does not take a variable's value",
        "set this variable in benchmark_env to a value that NCCL's documentation has, or remove it",
    ),
    warning(
        "",
        r"\w+ ?: (?:\w+ (?:\S{1,20} )?(?:is not a valid pointer|argument is NULL|allocated on device)|"
        r"invalid (?:root|type|reduction operation|count|rank).{0,80}).{0,80}|Mixing .{0,80}graph.{0,60}|"
        r"Invalid (?:config|rank requested|call to).{0,100}|(?:ncclGroupEnd|ncclCommInit\w*).{0,20} (?:called|invalid).{0,80}",
        "the script passes to NCCL what it does not take",
        "look at the call in the script: tensors on the GPU of this rank (torch.cuda.set_device(local_rank)), a root and ranks below the "
        "number of ranks, a type that NCCL has; the versions of the framework and NCCL must fit",
    ),
    warning(
        "",
        r"No algorithm/protocol available for function.{0,120}",
        "NCCL has no algorithm for an operation with its settings",
        "remove NCCL_ALGO and NCCL_PROTO from benchmark_env, or add those that this operation has",
    ),
    warning(
        "",
        r"Detected mixed local (?:Coll)?Net device counts across ranks.{0,120}",
        "the hosts or the ranks of a host have different numbers of network adapters",
        "set NCCL_IB_HCA in benchmark_env to adapters that every host has in the state Active (ibstat), and look for one that is missing",
    ),
    warning(
        "",
        r"Bootstrap Root : (?:rank \d+ of \d+ ranks has already checked in|mismatch in info from procs).{0,80}|"
        r"rank \d+ exceeds ndev.{0,20}|improper usage of ncclCommInitRank.{0,60}|[Ii]nvalid device count.{0,40}",
        "the ranks do not agree on their numbers or on how many they are",
        "start all ranks by one launcher, and give each its own RANK and the same WORLD_SIZE; another run must not use the same address "
        "and port",
    ),
    *(
        cause(
            "nccl_warn",
            r"WARN (?P<what>XML Import Channel : dev .{1,60})",
            "the file of NCCL_GRAPH_FILE names a device that this process does not see ({what})",
            f"remove NCCL_GRAPH_FILE from {where}, or give the process all GPUs of the host (CUDA_VISIBLE_DEVICES): the file is for those",
            context=context,
        )
        for where, context in (
            ("{file}", r"\b(?:cat|source|grep\b.{0,80}) (?P<file>(?:/etc/|~/\.|/root/\.|/home/\w+/\.)nccl\.conf)"),
            ("benchmark_env, /etc/nccl.conf and ~/.nccl.conf", ""),
        )
    ),
    warning(
        r"graph/\w+\.cc",
        r"(?!Could not find a path for pattern).{1,200}",
        "NCCL can't read the topology of the host",
        "remove NCCL_TOPO_FILE and NCCL_GRAPH_FILE from benchmark_env, and give the container /sys of the host; a virtual machine may need "
        "the file of its provider for NCCL_TOPO_FILE",
    ),
]
