# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a rank prints of its own failure, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

# MPICH's stack of an error ends with what failed first.
MPICH_STACK = r"(?:^\w+\(\d+\)\.{0,20}: ?.{0,300}\n){1,12}^\w+\(\d+\)\.{0,20}(?P<stack>: +[^\s].{0,200})"
COMPONENTS_FIX = (
    "install Open MPI anew in taco_image: one version, with its whole folder lib/openmpi; set OPAL_PREFIX in benchmark_env if it was "
    "moved, and remove LD_LIBRARY_PATH and OMPI_MCA_* of another MPI"
)
RANK = table(
    r"""
wrong_data
  pattern (?P<what>Out of bounds values : [1-9]\d* FAILED)
  found   the ranks received wrong data ({what}), and the host's IOMMU refused accesses of a GPU ({fault})
  fix     switch the IOMMU off or to pass-through (amd_iommu=off, intel_iommu=off or iommu=pt on the kernel's command line, or in the BIOS)
          and ACS off on this host; until then set NCCL_P2P_DISABLE: 1 in benchmark_env
  context (?P<fault>AMD-Vi: Event logged \[IO_PAGE_FAULT.{0,80}|DMAR: \[DMA (?:Read|Write).{0,100})
wrong_data
  pattern (?P<what>Out of bounds values : [1-9]\d* FAILED)
  found   the ranks received wrong data ({what})
  fix     run again with NCCL_P2P_DISABLE: 1, NCCL_SHM_DISABLE: 1, NCCL_IB_DISABLE: 1 and another NCCL_ALGO, one at a time, in benchmark_env
          to find the transport that is at fault; check ACS and the IOMMU on the hosts, and use another version of NCCL or its plugin
test_cuda
  pattern ^(?:[\w.-]+: )?Test (?:CUDA|HIP) failure (?P<where>\S+) '(?P<why>[^']+)'|(?:WARN |^)Cuda failure (?:\d+ )?'(?P<nccl>[^']+)'
          |CUDA (?:runtime |driver )?(?:error|failure)(?: \(\d+\))?:? (?P<other>(?!.*driver shutting down).{1,160})
          |cudaError\w+: (?P<third>.{1,160})|CUDA_ERROR_\w+: (?P<fourth>.{1,100})
  found   CUDA failed ({why}{nccl}{other}{third}{fourth})
  fix     run the script with one rank on that GPU: if it fails too, look for Xid in the host's dmesg and compare driver and CUDA, else at
          what the script passes to CUDA
# No operation of the group has worked before.
nccl_watchdog
  pattern [Ww]atchdog caught collective operation timeout:? ?(?P<what>\w{0,20}\(SeqNum=1,.{0,140})
  found   the first collective operation of a group did not end in time: a rank has not come to it, or the ranks do not reach each other
          ({what})
  fix     see what each rank prints last (one may have failed, or load data longer than the timeout); if all wait, test the transport with
          nccl-tests and NCCL_DEBUG: INFO on the same hosts: NCCL_P2P_DISABLE: 1 (IOMMU, ACS), NCCL_IB_DISABLE: 1, NCCL_SOCKET_IFNAME
nccl_watchdog
  pattern [Ww]atchdog caught collective operation timeout:? ?(?P<what>.{0,160})
          |Some NCCL operations have failed or timed out|NCCL (?:watchdog|operation).{0,60}tim(?:ed out|eout)
          |(?P<what2>Timed out waiting \d+ms for (?:recv|send) operation|watchdog got stuck for \d+ seconds)
  found   a collective operation did not end in time: another rank is missing, late, or calls other operations ({what})
  fix     look at what the other ranks print last (an error, data, a checkpoint), and at the network between the hosts
# The flight recorder's: one rank tells all others through the store.
nccl_watchdog
  pattern [Rr]eceived a dump signal due to a collective timeout from +rank (?P<rank>\d+)
  found   its collective operation timed out first, and the other ranks then wrote their state
  fix     look at the log of this rank (operation, sequence number), and compare the dumps of the flight recorder of all ranks
          (TORCH_NCCL_TRACE_BUFFER_SIZE, torchfrtrace): the rank whose last operation has the lowest number is behind
nccl_watchdog
  pattern (?P<what>[Rr]eceived a dump signal due to a collective timeout from +this local rank
          |[Rr]eceived a (?:global )?timeout (?:signal )?from (?:another|this local) rank
          |(?:Observed|Received a?) ?flight recorder dump signal.{0,60}|[Hh]eartbeat monitor timed out
          |[Ee]xception \(either an error or timeout\) detected by watchdog|[Tt]imeout at NCCL work|[Ff]ailure detected by watchdog at work)
  found   a collective operation did not end in time, here or on another rank ({what})
  fix     look for the first rank whose watchdog reports a timeout, and at what the ranks that are behind it print last; then at the network
          between the hosts
stalled
  pattern (?:Missing|Stalled) ranks:|\[missing ranks: (?P<rank>\d+)|marked by "!"\) is stalled
          |waiting for send/recv from rank (?P<rank2>\d+)|Ranks? (?P<rank3>\d+)[\d, ]{0,200} failed to pass monitoredBarrier
          |submitted to be reduced, gathered or broadcasted by subset of ranks
  found   a rank did not take part in an exchange that the others wait for
  fix     look at the last line that this rank prints: it has failed, waits (for data, a lock, a download), or skips the operation
  near    (?:[Mm]issing|Stalled) ranks:\s*(?P<rank>\d+)
tensor_mismatch
  pattern (?P<what>Mismatched \w+ CPU/GPU device selection.{1,160})
  found   one rank uses its CPU where another uses a GPU ({what})
  fix     look for the rank that finds no GPU (nvidia-smi, CUDA_VISIBLE_DEVICES, a framework without CUDA), or set one device in the script
          for all
tensor_mismatch
  pattern (?P<what>Mismatched collective detected.{0,80} at and around rank (?P<rank>\d+))
  found   the ranks exchange different things ({what})
  fix     make every rank call the same operations in the same order, with the same sizes: look at what this rank and those next to it call,
          with NCCL_DEBUG: INFO and NCCL_DEBUG_SUBSYS: COLL in benchmark_env
tensor_mismatch
  pattern (?P<what>DDP expects same model across all ranks.{0,120}|Rank \d+ is missing param.{0,80}|in this process with (?:sizes
          |strides) .{0,100}|Mismatched (?!response size)(?:allreduce|allgather|broadcast|data types|\w+) .{1,160})
  found   the ranks exchange different things ({what})
  fix     make every rank call the same operations in the same order, with the same shape and type: look at code under a condition on the
          rank or the data, such as validation; name the tensors, and convert them to one type
nan
  pattern (?P<what>\b(?i:loss (?:is|was|became|went|turned) (?:nan|inf\b))|[Nn]on-finite loss|NanLossDuringTrainingError
          |Model diverged with loss = NaN|[Nn]aN loss)
  found   training diverged ({what})
  fix     use a smaller learning rate, or mixed precision off (benchmark_options.mixed_precision); if only some hosts or one arm have it,
          test the data that they exchange (nccl-tests with -c 1)
harp
  pattern (?i)\b(?P<what>(?:harp|ztcp|tfabric)\b.{0,40}(?:error|fail|fatal|abort|cannot|can't).{0,160})
  found   HARP failed ({what})
  fix     run the harp role (playbook prepare), or use an arm without the plugin
nccl_test
  pattern ^(?:[\w.-]+: )?Test NCCL failure (?P<where>\S+) '(?P<why>(?!unhandled system|internal error|remote process)[^'/]+?)\s*(?:/[^']*)?'
  found   NCCL failed ({why})
  fix     <<NCCL_INFO>>
nccl_error
  pattern (?P<what>ncclCommInitRank failed: (?!unhandled system|internal|remote).{0,100}|unhandled cuda error.{0,100}
          |NCCL [Ee]rror.{0,120}invalid (?:usage|argument).{0,60}|ncclUnhandledCudaError.{0,100}|ncclInvalid(?:Usage|Argument).{0,100})
  found   NCCL failed ({what})
  fix     <<NCCL_INFO>>
traceback
  pattern ^(?:E +)?(?P<what>(?:\w+\.)*(?!Error\b(?<!\.Error)|nccl\w*Error|HorovodInternal|Connection|BrokenPipe|Timeout|EOFError|Rendezvous
          |Dist(?:Backend|Network|Store)|Aborted|ChildFailed|CalledProcess|ProcessExited|WorkerStopped|HostsUpdated|Signal)\w*(?:Error
          |Exception|NotFound|Exit|StopIteration|AssertionError)(?: \(see above for traceback\))?(?::(?! *(?:Aborted: )?(?:ncclCommInitRank
          |NCCL [Ee]rror|NCCL async|(?:Horovod|Gloo job) (?:has been|detected)|mpirun failed|work = |NCCL communicator|[Tt]imed out
          |Socket Timeout|Connection (?:reset|refused\s*$|closed)|[Bb]roken pipe|.{0,60}ncclCommInitRank|\[\S+:\d+\])) *.{1,300})?)\s*$
  found   the script failed with {what}
  fix     look at the traceback in the log
ucx
  pattern (?P<what>(?:UCX +ERROR|Failed to create UCP worker|pml_ucx\S+ +Error:).{0,160})
  found   UCX, MPI's transport, failed ({what})
  fix     set pml: ob1 and btl_tcp_if_include in benchmark_mca, or UCX_NET_DEVICES in benchmark_env to an interface that every host has
# Also of PSM2, which libfabric and Open MPI use for Omni-Path.
ucx
  pattern (?P<what>Open MPI failed an OFI Libfabric library call.{0,60}|OFI MTL was not able to find endpoint.{0,60}
          |Initialization of PSM2? library failed|PSM2? was unable to open an endpoint
          |Error \S+ occurred in attempting to make network progress)
  found   libfabric, MPI's transport, failed ({what})
  fix     check the network's devices and provider on that host (fi_info, ibstat); or set mtl: ^ofi,psm2 and pml: ob1 in benchmark_mca, with
          btl_tcp_if_include for the interface that every host has
  fields  <<NODE>>
mpi_component
  pattern requested component was not found, or was unable to be opened|No components were able to be opened in the (?P<framework2>\w+)
          |unable to open (?P<component2>mca_\w+): \S+\.so: undefined symbol
  found   MPI has no component {component} ({framework}), or can't load its libraries
  fix     leave it out of benchmark_mca, and run the same taco_image on every host
  fields  <<NODE>>; framework: framework; component: component
# The line of the abort has the host.
mpi_component
  pattern (?P<what>\b(?:opal|orte|ompi|prte|pmix|mca)_\w*(?:base_select|base_open|framework_open)) failed
  found   Open MPI in the image found none of its components that it can use ({what})
  fix     <<COMPONENTS_FIX>>
  context ^\[(?P<host>[\w.-]+):\d+\] Local abort before MPI_INIT
mpi_component
  pattern (?P<what>\b(?:opal|orte|ompi|prte|pmix|mca)_\w*(?:base_select|base_open|framework_open)) failed
  found   Open MPI in the image found none of its components that it can use ({what})
  fix     <<COMPONENTS_FIX>>
mpi_error
  pattern MPICH ERROR \[Rank (?P<rank>\d+)\].{0,120}?\[(?P<host>[A-Za-z][\w.-]{0,252})\] - (?:Abort\(-?\d+\) \([^)]{1,80}\): )?
          (?P<what>.{1,200}?)(?:, error stack:.{0,80})?\s*$
  found   MPI failed ({what}{stack})
  fix     run hostname in place of the script: if that fails too, compare MPI and its modules on the hosts, else look at what the script
          passes to MPI and at MPICH_* in benchmark_env
  near    <<MPICH_STACK>>
mpi_error
  pattern \*\*\* (?P<what>MPI_ERR\w*: .{1,100})|\*\*\* An error occurred in (?P<call>\w+)
          |PML add procs failed|Abort\(\d+\) on node \d+ \(rank (?P<rank2>\d+) in comm \S+ Fatal error in (?P<call3>\w+)
          |^\[(?P<host2>[\w.-]+):\d+\] Local abort before MPI_INIT|Fatal error in (?P<call2>(?:PMPI|MPI|internal)_\w+)|PMI_Init returned
          |It looks like (?P<init>[\w ]{1,40}) failed for some reason|(?:PMIX|PRTE|ORTE) ERROR: (?P<pmix>.{1,100})|(?:MPI_INIT|MPI_Init
          |PMIx_Init|ompi_mpi_init|orte_init)\w* (?:has )?failed|OPAL ERROR: (?P<opal>.{1,100})|(?:ORTE|PRTE)_ERROR_LOG: (?P<log>.{1,100})
  found   MPI failed ({what}{call}{init}{opal}{pmix}{log}{stack})
  fix     run hostname in place of the script: if that fails too, compare the versions of MPI on the hosts (mpirun --version) and set
          taco_interface; else look at what the script passes to MPI
  near    reported by process \[\d+,(?P<rank>\d+)\]|<<MPICH_STACK>>
# Open MPI's line of the signal, also where the number of the process was taken out.
segfault
  pattern ^\[(?P<host2>[A-Za-z][\w.-]{0,252})\] Signal: Segmentation fault|process (?P<rank2>\d+) terminated with signal SIGSEGV
          |Segmentation fault|SIGSEGV|\]: segfault at |exitcode *: -11\b|[Ss]ignal(?: code)?:? 11\b|(?i:exit code|status(?: code)?):? +139\b
          |KILLED BY SIGNAL: 11
  found   a rank crashed (segmentation fault)
  fix     see in the stack (or with PYTHONFAULTHANDLER: 1 in benchmark_env) which library crashed; check that Horovod, the framework, NCCL
          and MPI in taco_image were built for each other
  near    process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 11
# What glibc prints before it aborts.
memory_corrupt
  pattern (?P<what>malloc\.c:\d+: \w+: Assertion|(?:free|malloc|realloc|munmap_chunk|_int_malloc)\(\): (?:invalid
          |corrupted|unaligned|smallbin|memory|mismatching|unsorted|largebin|double).{0,60}|double free or corruption.{0,20}
          |corrupted (?:size vs\. prev_size|double-linked list)|stack smashing detected|\*\*\* Error in `.{1,100})
  found   a rank crashed: its memory is corrupt ({what})
  fix     check that Horovod, the framework, NCCL and MPI in taco_image were built for each other, with one compiler
instruction
  pattern Illegal instruction|SIGILL|trap invalid opcode|(?i:exit code):? +132\b|was compiled to use \S+ instructions, but these
          |[Ss]ignal:? 4\b
  found   the host's CPU lacks an instruction that the program uses, such as AVX
  fix     use a taco_image built for this CPU, or other hosts
  near    process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 4
nccl_warn
  pattern \[\d+\] (?:\S+ )?(?:\([^)]*\) )?(?:NCCL )?WARN (?!NET/(?!IB\b|Socket\b|Plugin\b))(?!.*(?:libibverbs
          |dlvsym|NUMA|iommu|perf|greater than the maximum|Connection closed by remote peer|recv from|Proxy (?:Call|Service)
          |Service thread|before the previous operation|Socket recv|Accept failed|[Cc]onnection reset|[Bb]roken pipe|Missing
          |ignor|falling back|GID table changed|non-fatal async event|using point-to-point network instead|libgdrapi|nccl\.conf|TUNER/Plugin
          |PROFILER/Plugin))(?P<what>.{1,300})
  found   NCCL says {what}
  fix     run all_reduce_perf of nccl-tests on the same hosts with NCCL_DEBUG: INFO: if it fails too, the host or the network is at fault,
          else the script
terminate
  pattern what\(\): +(?!.*(?:NCCL|nccl[A-Z]\w* failed|remote process|Connection (?:reset|closed)|[Bb]roken pipe
          |Horovod has been|what\(\)))(?P<why>.{1,200})|(?:F tensorflow\S*\] (?:Check failed: )?|Check failed: )(?P<check>.{1,200})
          |Fatal Python error: (?!Aborted)(?P<fatal>.{1,100})|[Aa]ssertion [`'\u2018]?(?P<assertion>.{1,160}) failed
  found   the program aborted ({what}{why}{check}{fatal}{assertion})
  fix     run the script with one rank: if it aborts too, its arguments or taco_image are at fault, else what the ranks exchange
""",
    COMPONENTS_FIX=COMPONENTS_FIX,
    MPICH_STACK=MPICH_STACK,
)
