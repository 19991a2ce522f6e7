# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What NCCL reports of RDMA, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause

RDMA = [
    cause(
        # The adapter's own word. Its peers get no answer afterwards.
        "nccl_ib",
        r"(?P<what>NET/IB ?:? ?(?:(?P<device>\w+_?\d+(?::\d+)?) ?:? ?)?Got async (?:\w+ )?event ?: ?port error)",
        "the link of an RDMA adapter went down ({what})",
        "check the port {device} on this host (ibstat, dmesg), its cable and the switch; or leave it out by NCCL_IB_HCA in benchmark_env",
    ),
    cause(
        "nccl_ib",
        r"(?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?12\b.{0,240})",
        "RDMA in NCCL got no answer from a peer ({what})",
        "look first for a rank of the peer's host that ended; check the link and the switch between the two hosts (ibstat, PFC), that "
        "NCCL_IB_GID_INDEX is right for RoCE and NCCL_IB_HCA for both, or set NCCL_IB_DISABLE: 1 in benchmark_env",
    ),
    cause(
        "nccl_ib",
        r"(?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?13\b.{0,240})",
        "a peer of RDMA in NCCL was not ready to receive ({what})",
        "check the peer's host for load and errors; set NCCL_IB_RETRY_CNT and NCCL_IB_TIMEOUT higher in benchmark_env",
    ),
    cause(
        "nccl_ib",
        r"(?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?(?:4|9|10|11)\b.{0,240})",
        "RDMA in NCCL was refused access to memory ({what})",
        "load nvidia_peermem, and switch ACS and the IOMMU off on the host, or set NCCL_NET_GDR_LEVEL: LOC in benchmark_env",
    ),
    cause(
        # Its connection is made by addresses (GID) of the adapters, which have networks of their own.
        "nccl_ib",
        r"(?P<what>(?:Call to )?ibv_modify_qp.{0,40}failed with (?:error )?(?:\d+ )?(?:Connection timed out|Network is unreachable|"
        r"No route to host|Host is unreachable).{0,260})",
        "an RDMA adapter can't reach the address (GID) of its peer ({what})",
        "compare the subnets of the local and the remote GID (show_gids) and test them with ib_write_bw: add routes between them, or, "
        "where each rail is a network of its own, set NCCL_CROSS_NIC: 0 in benchmark_env; set NCCL_IB_GID_INDEX to a routed RoCE v2 "
        "address, and NCCL_IB_HCA to the same rails on every host",
    ),
    cause(
        "nccl_ib",
        r"(?P<what>(?:Call to )?ibv_modify_qp.{0,40}failed with (?:error )?(?:\d+ )?(?:Invalid argument|No such device|"
        r"No data available).{0,260})",
        "the RDMA adapters of two hosts do not fit together ({what})",
        "set NCCL_IB_HCA to ports of one kind (all InfiniBand or all RoCE) and state Active on every host (ibstat), and NCCL_IB_GID_INDEX "
        "to an index that each has (show_gids)",
    ),
    cause(
        # IBV_WC_WR_FLUSH_ERR: the connection had failed before.
        "nccl_ib",
        r"(?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?5\b.{0,240})",
        "an RDMA connection of NCCL was closed by an earlier error or by the end of a peer ({what})",
        "look for the first error of any rank, in its log and that of the peer's host; without one check the link between the two hosts "
        "(ibstat, dmesg)",
    ),
    cause(
        # On the host alone: no cable and no peer has a part in it.
        "nccl_ib",
        r"(?P<what>(?:Call to )?ibv_reg_\w*mr\w*.{0,80}failed.{0,120})",
        "memory, such as that of a GPU, can't be registered for RDMA ({what})",
        "load nvidia_peermem on the host, or use a driver, kernel and OFED with DMA-BUF; ulimit -l in the container must print unlimited "
        "(memlock=-1 in training_container_ulimits); without GPUDirect: NCCL_NET_GDR_LEVEL: LOC in benchmark_env",
    ),
    cause(
        "nccl_ib",
        r"(?:WARN .*?)?(?P<what>NET/IB ?:? ?(?:[\w/.<>:-]+ ){0,4}Got (?:completion|async (?:\w+ )?event).{0,200}|Call "
        r"to ibv_\w+.{0,120}failed.{0,120}|ibv_\w+\(?\)? (?:failed|returned).{0,120}|NET/IB ?: (?:Unable|Attempted to connect incompatible|"
        r"Remote \S+ device is incompatible|[\w:]{1,40} async fatal event|No|[\w:]{1,40} unable|Failed).{0,120})",
        "RDMA failed in NCCL ({what})",
        "check ibstat, the cables and NCCL_IB_HCA and NCCL_IB_GID_INDEX, or set NCCL_IB_DISABLE: 1 in benchmark_env",
    ),
]
