# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may be the cause, and may be a warning only or what follows from another rank's end: causes where no clear one is found."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table
from ansible_collections.taco.train.plugins.plugin_utils.failure.scheduler import NOT_STARTED

# The plugin prints through NCCL, and in a format of its own outside of it.
OFI_WARN = r"WARN(?:: Function: \w+ Line: \d+:)? NET/OFI "
ENGINE = "the container engine reports: {what}"
DOUBTFUL = table(
    r"""
# Open MPI goes on without the value.
wrong_interface
  pattern invalid value was given for (?:btl|oob)_tcp_if_(?:include|exclude)
          |(?:btl|oob)_tcp\S*.{0,80}\b(?:invalid|unknown) interface(?: name)?:? "?(?P<value>[\w.:-]+)
  found   a host has no network interface {value}
  fix     set benchmark_interface or taco_interface
  fields  <<NODE>>; value: value
nccl_plugin
  pattern <<OFI_WARN>>(?P<what>\w.{1,200})
  found   libfabric finds no device for NCCL's plugin (aws-ofi-nccl): {none}; the plugin reports: {what}
  fix     check fi_info (-p efa for EFA) in the container: it needs the devices of the network (/dev/infiniband for EFA, /dev/cxi* for
          Slingshot) and their provider; for EFA also a security group that allows all traffic of itself; or set NCCL_NET: Socket in
          benchmark_env to go without the plugin
  context (?P<none>provider \w+ output empty list|No (?:eligible )?providers)
# A status. What the container engine says of the container has the reason.
pod_pending
  pattern \b(?P<why>(?:Create|Run)Container(?:Error)\b.{0,120})
  found   <<NOT_STARTED>>
  fix     look at the pod's events (kubectl describe pod) for what its container engine reports: the command, the mounts, the devices
# Kubernetes starts a container again and again. What it prints says why.
pod_crash
  pattern CrashLoopBackOff|Back-off restarting failed container
  found   a container of a pod ends and is started again and again
  fix     look at its last output (kubectl logs POD --previous) and its status (kubectl describe pod)
pod_pending
  pattern (?P<why>timed out waiting for the condition) on pods/(?P<host>[\w.-]+)|(?P<why2>can't allocate unhealthy devices [\w./-]+)
  found   <<NOT_STARTED>>
  fix     look at the pod and its node (kubectl describe pod, kubectl describe node): whether it was scheduled, its image pulled, its
          devices healthy (the device plugin's log, nvidia-smi on the node)
pod_crash
  pattern Job has reached the specified backoff limit|BackoffLimitExceeded
  found   a pod of the job ended with an error as often as the job allows
  fix     look at the output of its pods (kubectl logs), the launcher's first
engine_error
  pattern [Ee]rror response from daemon: (?P<what>.{0,200}?(?:(?:is already in use by container|name \S+ is already in use)).{0,100})
  found   <<ENGINE>>
  fix     remove the old container (docker rm -f NAME), or set taco_container_name to another name
engine_error
  pattern [Ee]rror response from daemon: (?P<what>.{0,200}?(?:(?:port is already allocated|address already in use)).{0,100})
  found   <<ENGINE>>
  fix     see who has the port on the host (ss -ltnp, docker ps), end it, or use another one (taco_ssh_port)
engine_error
  pattern [Ee]rror response from daemon: (?P<what>.{0,200}?(?:(?:bind source path does not exist|error mounting|not a directory: unknown
          |invalid mount config)).{0,100})
  found   <<ENGINE>>
  fix     create the folder or file on the host, and check the mounts of the training container (training_container_*): both sides are
          folders or both are files
engine_error
  pattern [Ee]rror response from daemon: (?P<what>.{0,200}?(?:(?:adding custom device|error gathering device|no such device)).{0,100})
  found   <<ENGINE>>
  fix     load the driver that makes the device on the host, or take it out of the devices of the training container
engine_error
  pattern [Ee]rror response from daemon: (?P<what>.{0,200}?(?:(?:cgroup|systemd|OCI runtime state|shim)\b.{0,80}(?:not supported|not found
          |unable to apply|failed to)).{0,100})
  found   <<ENGINE>>
  fix     restart the container engine, and check that it and the host use one cgroup driver and version (docker info)
engine_error
  pattern [Ee]rror response from daemon: (?P<what>.{1,240})
  found   <<ENGINE>>
  fix     check the ports, mounts, devices and the name of the training container (variables training_container_*), and run its role again
# The plugin finds no device or no provider.
nccl_plugin
  pattern <<OFI_WARN>>(?P<what>.{0,80}(?:[Nn]o (?:such )?(?:eligible )?(?:device|provider)|[Ff]ailed to (?:open|find|discover)
          |[Cc]ould ?n[o']t (?:open|find)).{0,120})
  found   NCCL's plugin for libfabric (aws-ofi-nccl) finds no device ({what})
  fix     check fi_info (-p efa for EFA) in the container: it needs the devices of the network (/dev/infiniband for EFA, /dev/cxi* for
          Slingshot) and their provider; or set NCCL_NET: Socket in benchmark_env to go without the plugin
# NCCL goes on with its own transports.
# The plugin for libfabric, which is that of AWS, HPE and others.
nccl_plugin
  pattern <<OFI_WARN>>(?P<what>\w.{1,200})|(?P<what2>OFI .{0,60}No (?:eligible )?providers.{0,80})
  found   NCCL's plugin for libfabric (aws-ofi-nccl) failed ({what})
  fix     load the libfabric that the plugin was built for: its folder (for EFA /opt/amazon/efa/lib) first in LD_LIBRARY_PATH of
          benchmark_env, no libfabric of the distribution; update both together, and check fi_info and that the container has the devices of
          the network
nccl_plugin
  pattern (?:NET/Plugin|Net plugin).{0,80}(?:fail|error)|WARN NET/(?!IB\b|Socket\b|Plugin\b)(?P<what>\w.{1,160})
          |OFI .{0,60}No (?:eligible )?providers
  found   NCCL's network plugin failed ({what})
  fix     check the plugin in the container (role acceleration), or use an arm without it
# The thread of a rank that serves its peers: its error follows from that of a rank, where another is known.
nccl_warn
  pattern \[\d+\] (?:\S+ )?(?:NCCL )?WARN (?P<what>(?:\[(?:Proxy Service|Service thread)|Proxy Call to rank (?P<rank>\d+)|Socket recv
          |\w+: (?:Accept|Call to (?:recv|send))).{1,300})
  found   NCCL says {what}
  fix     look at the first error of the other ranks; without one run again with NCCL_DEBUG: INFO in benchmark_env
nccl_test
  pattern ^(?:[\w.-]+: )?Test NCCL failure (?P<where>\S+) '(?P<why>[^'/]+?)\s*(?:/[^']*)?'
  found   NCCL failed ({why})
  fix     <<NCCL_INFO>>
# PyTorch adds what NCCL said last.
nccl_error
  pattern (?P<what>ncclCommInitRank failed.{0,100}|unhandled system error.{0,100}|NCCL (?:[Ee]rror|failure).{0,160}|ncclSystemError.{0,100}
          |ncclInternalError.{0,100}|ncclRemoteError.{0,100})
  found   NCCL failed ({what})
  fix     <<NCCL_INFO>>
  near    ^Last error:[^\S\n]*\n(?P<what>(?!Traceback)\S.{3,200})
# NCCL's line of a new try. It says so as a warning only when it gives up.
nccl_connect
  pattern (?:socket\w+: connect returned|Call to connect returned) (?P<why><<LINK>>)
  found   NCCL could not connect to its peer ({why})
  fix     <<OPEN_NETWORK>>
# Open MPI copies between processes of a host (CMA), which Docker forbids without SYS_PTRACE. It may go on.
mpi_cma
  pattern Read -\d+, expected \d+, errno = 1\b|process_vm_(?:readv|writev).{0,80}Operation not permitted
          |(?P<what>(?:CMA|ptrace).{0,60}(?:not permitted|Permission denied|ptrace_scope).{0,80})
  found   MPI may not copy memory between the ranks of a host ({what})
  fix     add SYS_PTRACE to the capabilities of the training container, or set OMPI_MCA_btl_vader_single_copy_mechanism: none
          (OMPI_MCA_smsc: ^cma for Open MPI 5) in benchmark_env
# /tmp of Open MPI, where a harmless old folder is also named.
session_folder
  pattern unable to create the desired directory|[Uu]nable to (?:create|open|write to) .{0,40}session dir
          |Please set TMPDIR to something shorter|system call failed during shared memory initialization
  found   MPI can't write its session folder in /tmp, or its files in /dev/shm, on a host
  fix     check that both are writable and not full in the container, or set TMPDIR in benchmark_env to a folder that every container can
          write to
  fields  <<NODE>>
# Python's handler prints the second one of every abort.
terminate
  pattern terminate called after throwing an instance of '(?P<what>(?!gloo::|c10::DistBackend)[^']+)'|Fatal Python error: (?P<what2>Aborted)
  found   the program aborted ({what})
  fix     run the script with one rank: if it aborts too, its arguments or taco_image are at fault, else what the ranks exchange
gloo_connect
  pattern ^(?:[\w.]+\.)?(?P<why>ConnectionRefusedError.{0,80})|^(?:[\w.]+: )?RuntimeError: (?P<why2>Connection refused)\s*$
  found   a process could not connect: nothing listens at the other end ({why})
  fix     see in the traceback to whom it connects (rank 0 at MASTER_ADDR, a server of data or metrics), and whether that process was
          started and has not ended before
traceback
  pattern ^(?:E +)?(?P<what>(?:\w+\.)*(?!Error\b(?<!\.Error)|ChildFailed|CalledProcess|ProcessExited
          |WorkerStopped|HostsUpdated|Signal|HorovodInternal|AbortedError|ConnectionReset|BrokenPipe|nccl\w*Error|DistBackend)\w*(?:Error
          |Exception|TimeoutExpired)(?::(?!.{0,60}(?:ncclCommInitRank|NCCL [Ee]rror|(?:Horovod|Gloo job) (?:has been|detected)|mpirun failed
          |Job has been shutdown)) *.{1,300})?)\s*$
  found   the script failed with {what}
  fix     look at the traceback in the log
""",
    ENGINE=ENGINE,
    NOT_STARTED=NOT_STARTED,
    OFI_WARN=OFI_WARN,
)
