# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NCCL's warnings by the part of NCCL that prints them, each with its own fix, and what it reports of RDMA."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

NCCL = table(r"""
nccl_warn
  pattern (?:NCCL )?WARN (?P<what>nvmlDeviceGetHandleByPciBusId(?:_v\d)?\(\) failed: Not Found.{0,40})
  found   NCCL asks for a GPU of a rank of the same host, and this process does not see it ({what})
  fix     give every container of a host all its GPUs and choose by CUDA_VISIBLE_DEVICES, or set another NCCL_HOSTID for each container in
          benchmark_env; otherwise a GPU is gone: nvidia-smi -L on the host, Xid in its dmesg
nccl_warn
  pattern (?:NCCL )?WARN (?P<what>No transport found for rank (?P<rank>\d+)\[\w+\] -> rank (?P<other>\d+)\[\w+\].{0,40}
          |Could not find NET with id.{0,40})
  found   NCCL has no way between two ranks ({what})
  fix     remove NCCL_P2P_DISABLE, NCCL_SHM_DISABLE, NCCL_NET and NCCL_TOPO_FILE from benchmark_env unless all hosts need them; hosts need
          one network in common (NET in the log with NCCL_DEBUG: INFO)
nccl_warn
  pattern (?:NCCL )?WARN (?P<what>Invalid NCCL_COMM_ID.{0,120}|(?:Invalid|Unknown|Unrecognized|Bad) .{0,40}NCCL_[A-Z_]+.{0,80}
          |NCCL_[A-Z_]+ .{0,60}(?:invalid|not valid|unknown).{0,60})
  found   NCCL does not take a variable's value ({what})
  fix     set this variable in benchmark_env to a value that NCCL's documentation has, or remove it
nccl_warn
  pattern (?:NCCL )?WARN (?P<what>\w+ ?: (?:\w+ (?:\S{1,20} )?(?:is not a valid pointer|argument is NULL|allocated on device)
          |invalid (?:root|type|reduction operation|count|rank).{0,80}).{0,80}|Mixing .{0,80}graph.{0,60}
          |Invalid (?:config|rank requested|call to).{0,100}|(?:ncclGroupEnd|ncclCommInit\w*).{0,20} (?:called|invalid).{0,80})
  found   the script passes to NCCL what it does not take ({what})
  fix     look at the call in the script: tensors on the GPU of this rank (torch.cuda.set_device(local_rank)), a root and ranks below the
          number of ranks, a type that NCCL has; the versions of the framework and NCCL must fit
nccl_warn
  pattern (?:NCCL )?WARN (?P<what>No algorithm/protocol available for function.{0,120})
  found   NCCL has no algorithm for an operation with its settings ({what})
  fix     remove NCCL_ALGO and NCCL_PROTO from benchmark_env, or add those that this operation has
nccl_warn
  pattern (?:NCCL )?WARN (?P<what>Detected mixed local (?:Coll)?Net device counts across ranks.{0,120})
  found   the hosts or the ranks of a host have different numbers of network adapters ({what})
  fix     set NCCL_IB_HCA in benchmark_env to adapters that every host has in the state Active (ibstat), and look for one that is missing
nccl_warn
  pattern (?:NCCL )?WARN (?P<what>Bootstrap Root : (?:rank \d+ of \d+ ranks has already checked in|mismatch in info from procs).{0,80}
          |rank \d+ exceeds ndev.{0,20}|improper usage of ncclCommInitRank.{0,60}|[Ii]nvalid device count.{0,40})
  found   the ranks do not agree on their numbers or on how many they are ({what})
  fix     start all ranks by one launcher, and give each its own RANK and the same WORLD_SIZE; another run must not use the same address and
          port
nccl_warn
  pattern WARN (?P<what>XML Import Channel : dev .{1,60})
  found   the file of NCCL_GRAPH_FILE names a device that this process does not see ({what})
  fix     remove NCCL_GRAPH_FILE from {file}, or give the process all GPUs of the host (CUDA_VISIBLE_DEVICES): the file is for those
  context \b(?:cat|source|grep\b.{0,80}) (?P<file>(?:/etc/|~/\.|/root/\.|/home/\w+/\.)nccl\.conf)
nccl_warn
  pattern WARN (?P<what>XML Import Channel : dev .{1,60})
  found   the file of NCCL_GRAPH_FILE names a device that this process does not see ({what})
  fix     remove NCCL_GRAPH_FILE from benchmark_env, /etc/nccl.conf and ~/.nccl.conf, or give the process all GPUs of the host
          (CUDA_VISIBLE_DEVICES): the file is for those
nccl_warn
  pattern graph/\w+\.cc.{0,40} (?:NCCL )?WARN (?P<what>(?!Could not find a path for pattern).{1,200})
  found   NCCL can't read the topology of the host ({what})
  fix     remove NCCL_TOPO_FILE and NCCL_GRAPH_FILE from benchmark_env, and give the container /sys of the host; a virtual machine may need
          the file of its provider for NCCL_TOPO_FILE
""")
RDMA = table(r"""
# The adapter's own word. Its peers get no answer afterwards.
nccl_ib
  pattern (?P<what>NET/IB ?:? ?(?:(?P<device>\w+_?\d+(?::\d+)?) ?:? ?)?Got async (?:\w+ )?event ?: ?port error)
  found   the link of an RDMA adapter went down ({what})
  fix     check the port {device} on this host (ibstat, dmesg), its cable and the switch; or leave it out by NCCL_IB_HCA in benchmark_env
nccl_ib
  pattern (?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?12\b.{0,240})
  found   RDMA in NCCL got no answer from a peer ({what})
  fix     look first for a rank of the peer's host that ended; check the link and the switch between the two hosts (ibstat, PFC), that
          NCCL_IB_GID_INDEX is right for RoCE and NCCL_IB_HCA for both, or set NCCL_IB_DISABLE: 1 in benchmark_env
nccl_ib
  pattern (?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?13\b.{0,240})
  found   a peer of RDMA in NCCL was not ready to receive ({what})
  fix     check the peer's host for load and errors; set NCCL_IB_RETRY_CNT and NCCL_IB_TIMEOUT higher in benchmark_env
nccl_ib
  pattern (?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?(?:4|9|10|11)\b.{0,240})
  found   RDMA in NCCL was refused access to memory ({what})
  fix     load nvidia_peermem, and switch ACS and the IOMMU off on the host, or set NCCL_NET_GDR_LEVEL: LOC in benchmark_env
# Its connection is made by addresses (GID) of the adapters, which have networks of their own.
nccl_ib
  pattern (?P<what>(?:Call to )?ibv_modify_qp.{0,40}failed with (?:error )?(?:\d+ )?(?:Connection timed out|Network is unreachable
          |No route to host|Host is unreachable).{0,260})
  found   an RDMA adapter can't reach the address (GID) of its peer ({what})
  fix     compare the subnets of the local and the remote GID (show_gids) and test them with ib_write_bw: add routes between them, or, where
          each rail is a network of its own, set NCCL_CROSS_NIC: 0 in benchmark_env; set NCCL_IB_GID_INDEX to a routed RoCE v2 address, and
          NCCL_IB_HCA to the same rails on every host
nccl_ib
  pattern (?P<what>(?:Call to )?ibv_modify_qp.{0,40}failed with (?:error )?(?:\d+ )?(?:Invalid argument|No such device
          |No data available).{0,260})
  found   the RDMA adapters of two hosts do not fit together ({what})
  fix     set NCCL_IB_HCA to ports of one kind (all InfiniBand or all RoCE) and state Active on every host (ibstat), and NCCL_IB_GID_INDEX
          to an index that each has (show_gids)
# IBV_WC_WR_FLUSH_ERR: the connection had failed before.
nccl_ib
  pattern (?P<what>Got completion.{0,80} with (?:error|status=) ?(?:\w+\()?5\b.{0,240})
  found   an RDMA connection of NCCL was closed by an earlier error or by the end of a peer ({what})
  fix     look for the first error of any rank, in its log and that of the peer's host; without one check the link between the two hosts
          (ibstat, dmesg)
# On the host alone: no cable and no peer has a part in it.
nccl_ib
  pattern (?P<what>(?:Call to )?ibv_reg_\w*mr\w*.{0,80}failed.{0,120})
  found   memory, such as that of a GPU, can't be registered for RDMA ({what})
  fix     load nvidia_peermem on the host, or use a driver, kernel and OFED with DMA-BUF; ulimit -l in the container must print unlimited
          (memlock=-1 in training_container_ulimits); without GPUDirect: NCCL_NET_GDR_LEVEL: LOC in benchmark_env
nccl_ib
  pattern (?:WARN .*?)?(?P<what>NET/IB ?:? ?(?:[\w/.<>:-]+ ){0,4}Got (?:completion|async (?:\w+ )?event).{0,200}
          |Call to ibv_\w+.{0,120}failed.{0,120}|ibv_\w+\(?\)? (?:failed|returned).{0,120}
          |NET/IB ?: (?:Unable|Attempted to connect incompatible|Remote \S+ device is incompatible|[\w:]{1,40} async fatal event|No
          |[\w:]{1,40} unable|Failed).{0,120})
  found   RDMA failed in NCCL ({what})
  fix     check ibstat, the cables and NCCL_IB_HCA and NCCL_IB_GID_INDEX, or set NCCL_IB_DISABLE: 1 in benchmark_env
""")
