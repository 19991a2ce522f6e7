# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes between hosts, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table
from ansible_collections.taco.train.plugins.plugin_utils.failure.nccl import RDMA

NAME = r"[A-Za-z0-9][\w.-]{0,252}"
OFI = (
    r"NET/OFI (?:Request (?:\S+ )?)?(?P<what>[Cc]ompleted with error.{0,240})|(?P<what2>(?:Unresponsive (?:remote|receiver)|"
    r"Unreachable remote|Remote job aborted|Receiver not ready)\b.{0,100})|(?:libfabric|efa)\S*.{0,80}\b(?P<what3>prov_errno:? .{1,120})"
)
NETWORK = [
    *table(
        r"""
# kubectl exec ends with the status of the command, 137 after SIGKILL: no daemon of mpirun ends so by itself.
killed
  pattern command terminated with exit code (?P<status>137|143)\b
  found   the container of a worker was killed (exit code {status} of kubectl exec): its memory is full, or its pod was evicted or deleted
  fix     look at the pod (kubectl describe pod: OOMKilled, Evicted) and the events of its node
  near    Remote daemon: .{0,80} on node (?P<host>[\w.-]+)
# CUDA's error 711: a GPU has at most 8 peers in a process.
p2p
  pattern (?P<what>peer mapping resources exhausted|cudaErrorTooManyPeers|CUDA_ERROR_TOO_MANY_PEERS|Cuda failure 711\b|CUDA error 711\b)
  found   a process uses more GPUs than can be each other's peers ({what}): a GPU has at most 8 peers
  fix     use fewer GPUs in a process (nccl-tests: -g, with more ranks), or set NCCL_P2P_DISABLE: 1 in benchmark_env
p2p
  pattern P2P is disabled between|failed to (?:peer with|open CUDA IPC)|cudaIpc\w+ failed|peer access.{0,40}(?:not supported|failed)
          |not supported between these two devices
  found   GPUs of one host can't reach each other directly
  fix     check nvidia-smi topo -p2p r, IOMMU and ACS on the host, or set NCCL_P2P_DISABLE: 1 in benchmark_env
# NVLink between the hosts of a rack.
nvlink_imex
  pattern MNNVL .{0,60}not working on this system|Check the IMEX channel configuration
  found   NVLink between hosts (MNNVL) does not work: the ranks have no IMEX channel
  fix     run nvidia-imex on all hosts of the rack, and give the container /dev/nvidia-caps-imex-channels, or set NCCL_MNNVL_ENABLE: 0 in
          benchmark_env
nccl_versions
  pattern (?P<what>Mismatched NCCL version detected : rank \d+ version \d+ rank \d+ version \d+)
  found   the ranks use different versions of NCCL ({what})
  fix     <<IMAGE>>, and no other libnccl in LD_LIBRARY_PATH or LD_PRELOAD there
nccl_versions
  pattern Mismatched NCCL version|mix of NCCL versions|wrong (?:magic|type) \S+ != |NCCL version mismatch|Bootstrap.{0,30}version mismatch
          |compiled with too old version of NCCL|NCCL library is (?:too old|not backwards compatible)|Incompatible NCCL versions
  found   the ranks use different versions of NCCL, or another job uses the port
  fix     <<OTHER_PORT>>
pmix_timeout
  pattern mpi/pmix\w*: .{1,200}collective timeout
  found   Slurm's PMIx waited in vain for a host
  fix     <<OPEN_NETWORK>>
  near    wait contrib: (?P<host>[\w.-]+)
# Of libfabric's EFA: no packet of the peer ever came back.
nccl_ofi
  pattern (?P<what>Unresponsive receiver \(reachable by EFA device but handshake failed\))
  found   EFA gets no answer from another rank ({what})
  fix     allow all traffic from and to itself in the security group of the hosts, both inbound and outbound: a rule for 0.0.0.0/0 does not
          count for EFA; where both rules are there, look for a rank that ended first, and test the link (fi_pingpong -p efa)
# The plugin works, and the transfer to a peer failed.
nccl_ofi
  pattern <<OFI>>
  found   a transfer over libfabric (EFA) to another rank failed ({what})
  fix     look for a rank that ended first; then check that the security group of the hosts allows all traffic from and to itself, and test
          the link (fi_pingpong -p efa between the two hosts)
  context (?i:\befa\b|\brdmap\d|amazon)|Unresponsive (?:remote|receiver)
nccl_ofi
  pattern <<OFI>>
  found   a transfer over libfabric to another rank failed ({what})
  fix     look for a rank that ended first; then at the link of the provider (fi_info): EFA needs a security group of the hosts that allows
          all traffic from and to itself, cxi (Slingshot) its NICs and routes (cxi_stat, FI_CXI_* in benchmark_env), verbs active ports
          (ibstat), tcp open ones; test it (fi_pingpong -p PROVIDER between the two hosts)
nccl_plugin
  pattern (?:WARN |^)Error: network (?P<network>.{1,80}?) not found
  found   NCCL has no network {network}, which NCCL_NET names: the plugin that has it (libnccl-net.so) is not loaded
  fix     check the plugin in the container (role acceleration) and LD_LIBRARY_PATH in benchmark_env, or remove NCCL_NET from benchmark_env
nccl_plugin
  pattern tcpx\w* ?.{0,80}NCCL WARN (?P<what2>.{1,160})|Failed to initialize any NET plugin|ncclNetPlugin_v\d+ symbol.*not found
  found   NCCL's network plugin failed ({what})
  fix     check the plugin in the container (role acceleration), or use an arm without it
nccl_connect
  pattern [Cc]onnect to (?P<peer>(?:<<UNREACHED>>)(?:<\d+>)?).{0,60}?(?P<why><<LINK>>)
  found   NCCL could not connect to {peer} ({why}), an address of docker0 or the like, or link-local: its peer uses the wrong interface
  fix     set taco_interface, and NCCL_SOCKET_IFNAME in benchmark_env, to the network that the hosts share (or ^lo,docker0,virbr0)
nccl_connect
  pattern WARN (?:Call to connect (?:failed|timeout) : (?P<why><<LINK>>)|\w+: exceeded (?:timeouts|retries|error retry count))
  found   NCCL could not connect ({why}), and a rank uses the interface {interface}, which other hosts don't reach
  fix     set taco_interface, and NCCL_SOCKET_IFNAME in benchmark_env, to the network that the hosts share (or ^lo,docker0,virbr0)
  context (?:^|\s)(?P<host><<NAME>>):\d+:\d+ \[\d+\] NCCL INFO .{0,40}?Using (?:interface |\[0\])?(?P<interface>(?:lo|docker|virbr|br-)\w*):
# PyTorch's store in a file, which a run that was ended leaves behind.
nccl_connect
  pattern WARN .*?[Cc]onnect to (?P<peer>[\da-f][\w.:%-]*(?:<\d+>)?).{0,40}?(?P<why><<LINK>>)
  found   NCCL could not connect to {peer} ({why}), which may be the address of an earlier run in {file}
  fix     see whether a host has that address and the process there has not ended; end all ranks, remove {file}, and start again: each run
          needs a new file, which all hosts see; then check the ports between the hosts (firewall) and taco_interface
  context (?i:init[-_]?method|dist[-_]url|init[-_]file)["']?[ =:]{1,3}["']?file://(?P<file>/[^\s"',;)]{1,300})
nccl_connect
  pattern (?:WARN .*?|^(?:socket|ncclSocket|ncclOsSocket)\w+ ?: .{0,40}?)(?:Connect to|Call to connect(?: to)?
          |connect to)\s*(?P<peer>(?=\S{0,80}[.:<])[\da-f][\w.:%-]*(?:<\d+>)?|)\s*.{0,40}?(?P<why><<LINK>>)|(?:WARN |^(?:socket
          |ncclSocket)\w+: ).*(?:exceeded (?:timeouts|retries|error retry count)|[Tt]imed? ?out waiting for (?P<waiting>.{1,60}))
          |WARN .*No route to host|Call to (?:recv|send) (?:from|to) (?P<peer2>\S+) failed : (?P<why2>Connection timed out|No route to host)
  found   NCCL could not connect to {peer} ({why}{waiting})
  fix     <<OPEN_NETWORK>>
""",
        NAME=NAME,
        OFI=OFI,
    ),
    *RDMA,
    *table(r"""
# The bootstrap's messages have a fixed size: another program sent this one.
nccl_truncated
  pattern [Mm]essage truncated.{0,200}(?:[Bb]ootstrap|socket\.cc)|(?:[Bb]ootstrap|misc/socket\.cc).{0,200}[Mm]essage truncated
  found   ranks exchanged messages of different sizes at their start: another version of NCCL, or another program uses the port
  fix     <<OTHER_PORT>>
# The network's pieces of an operation. NCCL cuts them by its version and its settings.
nccl_truncated
  pattern (?P<what>NET/[\w/-]{1,40} ?:.{0,80}(?:peer (?P<peer>[\w.:%-]+(?:<\d+>)?) )?(?:collective mismatch|[Mm]essage truncated).{0,200})
  found   two ranks exchange different sizes: NCCL has other versions or settings there, or their scripts took different ways ({what})
  fix     compare the version of NCCL and its plugin and all NCCL_* on the hosts (NCCL_DEBUG: INFO in benchmark_env prints them): the
          same taco_image and benchmark_env everywhere; if they are equal, look in the script for operations with different sizes or in a
          different order
# The amounts of a collective operation differ.
nccl_truncated
  pattern (?P<what>(?:peer (?P<peer>[\w.:%-]+(?:<\d+>)?) )?[Mm]essage truncated.{0,100}
          |collective mismatch.{0,200}|op\.preamble\.length <= op\.nbytes.{0,60}|Received data size doesn't match expected size.{0,100}
          |Detected mismatch between collectives on ranks.{0,200}|SIZE_OR_SYNTAX_MISMATCH.{0,120}|MPI_ERR_TRUNCATE)
  found   two ranks call one collective operation with different sizes: their scripts took different ways ({what})
  fix     make every rank call the same operations with the same shapes in the same order: look for uneven last batches, conditions on the
          rank and unused parameters; compare the ranks with NCCL_DEBUG: INFO and NCCL_DEBUG_SUBSYS: COLL in benchmark_env
  near    reported by process \[\d+,(?P<rank>\d+)\]
# EFAULT of a socket, which can't read a GPU's memory.
mpi_gpu_buffer
  pattern Read -\d+, expected \d+, errno = 14\b|^\s*Bad address ?\(\d+\)|(?:readv|writev|process_vm_readv).{0,80}Bad address
  found   MPI was given memory of a GPU, which it can't read
  fix     build Horovod with HOROVOD_GPU_OPERATIONS=NCCL (benchmark_horovod_build_env), or use an MPI with CUDA in taco_image
  near    \[(?P<host>[\w.-]+)\]\[\[\d+,\d+\],(?P<rank>\d+)\]\[btl_tcp
mpi_pml
  pattern \[\[\d+,\d+\],(?P<rank>\d+)\] (?P<what>selected pml \w+, but peer .{1,60} selected pml \w+)
  found   the ranks use different transports of MPI ({what})
  fix     set pml: ucx or pml: ob1 in benchmark_mca, so that every rank takes the same, and check that UCX finds the same devices (ucx_info
          -d)
mpi_unreachable
  pattern at least one (?:MPI process is unreachable|pair of MPI processes are unable)|processes are unable to reach each other
          |is unreachable\s+from another
  found   MPI found no network between two hosts ({peer})
  fix     set taco_interface to a network that all hosts share
  fields  host: process 1 is on host; peer: process 2 is on host
mpi_connect
  pattern connect\(\) to \[?(?P<peer><<UNREACHED>>)\]?(?:(?: port |:) ?\d+)? failed(?:: (?P<why>[^(]+))?
  found   MPI could not connect to {peer} ({why}), an address of docker0 or the like, or link-local: its peer uses the wrong interface
  fix     set taco_interface, and btl_tcp_if_include in benchmark_mca, to the network that the hosts share
  fields  <<NODE>>; why: error
# The text of mpirun's daemons itself names the remote host's firewall.
mpi_connect
  pattern unable to complete a TCP connection
  found   MPI on {peer} could not connect to {host} over TCP, which a firewall or a policy of the network there causes most often
  fix     open all TCP ports between the hosts in the firewall of this host (firewall-cmd --state, iptables -L, ufw status), and set
          taco_interface to the network that they share
  fields  host: remote host; peer: local host
mpi_connect
  pattern Open MPI failed to (?:TCP connect|handshake)|[bB][tT][lL].?tcp.{0,80}(?:connect\(\)|connection) .{0,60}fail
          |connect\(\) to (?P<peer>[\d.]+) ?(?:port|:)\s*\d+ failed: (?P<why2>[^(]+)
          |mca_btl_tcp_endpoint_complete_connect.{0,80}failed: (?P<why3>[^(]+)
          |ORTE is unable to establish a communication|does not know how to route a message|tcp_peer_send_blocking: send\(\)
          |received unexpected process identifier|inbound MPI TCP connection request
          |cannot find a corresponding process|mca_btl_tcp_frag_recv: readv failed: (?P<why5>Connection timed out|No route to host)
          |Match incoming connection from .{1,120} failed \(iface
          |\[proxy:[\d:]+@(?P<host2>[\w.-]+)\] .{1,80}unable to connect from "[^"]+" to "(?P<peer3>[^"]+)" \((?P<why4>[^)]+)
  found   MPI could not connect two hosts over TCP ({peer} {why})
  fix     <<OPEN_NETWORK>>
  fields  <<NODE>>; peer: peer hostname, remote host, target node, message; why: error
mpi_ib
  pattern error polling \w+ CQ with status (?P<what>[A-Z ]{1,60})|(?P<what2>(?:Transport retry count exceeded|Remote (?:access|operation)
          |Local (?:protection|QP operation)|RNR retry).{0,20} on mlx\d_\d.{0,60})|InfiniBand (?:RNR )?retry count
  found   RDMA failed in MPI between two hosts ({what})
  fix     look for a rank that ended first; else check ibstat and the cables, or set btl: ^openib in benchmark_mca
  fields  <<NODE>>; peer: peer host
"""),
]
