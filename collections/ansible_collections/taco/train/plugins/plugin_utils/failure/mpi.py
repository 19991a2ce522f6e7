# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes that an MPI library reports while it starts: its parameters, its transports and what it needs of a host, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

MPI = table(r"""
# Of Cray. The library between MPI and the GPU.
mpi_gpu_buffer
  pattern (?:MPICH ERROR \[Rank (?P<rank>\d+)\].{0,120}?\[
          (?P<host>[A-Za-z][\w.-]{0,252})\] - .{0,160}?)?GPU_SUPPORT_ENABLED is requested, but (?P<what>GTL library is not linked)
  found   MPI is told to work with memory of GPUs, but the program has not its library for that ({what})
  fix     load the module of the GPU (craype-accel-*) and link the program again, or set LD_PRELOAD in benchmark_env to libmpi_gtl_cuda.so
          (libmpi_gtl_hsa.so); or MPICH_GPU_SUPPORT_ENABLED: 0 where MPI exchanges no memory of GPUs
# Each thread has a context of its own, as that of PyTorch for MPI.
ucx
  pattern (?P<what>cuda_\w+\.c:\d+ +UCX +(?:ERROR|FATAL) .{0,120}(?:invalid device context|context is destroyed|no CUDA context
          |(?:CUDA_ERROR_)?(?:INVALID_CONTEXT|CONTEXT_IS_DESTROYED)).{0,40})
  found   UCX, MPI's transport, reads memory of a GPU in a thread without a CUDA context ({what}), and crashes then
  fix     set UCX_TLS: ^cuda_ipc in benchmark_env, or the backend nccl (HOROVOD_GPU_OPERATIONS=NCCL) in place of MPI for tensors on GPUs;
          else call cudaSetDevice in the thread that calls MPI (a newer framework does)
mpirun_argument
  pattern an MCA parameter was listed more than once|The "(?P<option>[^"]{1,60})" command line option was listed more than once
          |Two mutually-exclusive MCA variables were specified|attempted to pass environment variables to Open MPI
          |More than one hostfile was passed
  found   mpirun was given a parameter twice, with other values ({option}{param})
  fix     give it in one place: benchmark_mca, OMPI_MCA_* in benchmark_env, or benchmark_options.extra_args
  fields  param: param, 1st mca variable
mpirun_argument
  pattern An invalid value was supplied for an (?:MCA|enum) variable|can only take a single negation operator
          |specified more than one of the btl_openib_if_include
  found   Open MPI does not take the value {value} of its parameter {param} ({valid})
  fix     set it in benchmark_mca (OMPI_MCA_* in benchmark_env) as ompi_info --all has it, or leave it out
  fields  param: variable; value: value; valid: valid values
mpi_prefix
  pattern unable to find an underlying prterun|could not execute the underlying prterun
  found   Open MPI's mpirun does not find its program prterun ({why})
  fix     set benchmark_mpirun to the whole path of mpirun in the folder where Open MPI 5 was installed, or OPAL_PREFIX in benchmark_env to
          that folder
  fields  why: error message
open_files
  pattern system limit exceeded on number of (?:pipes|network connections) that can be open|ran out of file descriptors
  found   a process of mpirun has as many open files and connections as its limit allows
  fix     raise the limit of open files (nofile in training_container_ulimits, ulimit -n on the host), or start fewer ranks on each host
  near    when attempting to start process rank (?P<rank>\d+)
  fields  <<NODE>>
mpi_security
  pattern connection was refused due to a failure to authenticate|An attempt was made to make a TCP connection between two hosts
  found   mpirun's daemons do not accept each other ({initiator} and {receiver}): one uses Munge, and the other does not
  fix     set sec: basic in benchmark_mca, or run munge on all hosts; <<IMAGE>>
  fields  initiator: initiating host; receiver: receiving host
# One host has several addresses, or its own are translated.
mpi_address
  pattern inbound MPI TCP connection request
  found   a peer of MPI connects from an address that it did not announce ({source})
  fix     set taco_interface (btl_tcp_if_include in benchmark_mca) to one network that all hosts share and that is not translated (NAT), so
          that docker0, virbr0 and second adapters are left out
  fields  host: peer hostname; source: source ip of socket
oob_interface
  pattern No network interfaces were found for out-of-band|excluded for TCP out-of-band communications resulted in no networks
          |No sockets were able to be opened on the available protocols|No usable network interfaces were found on this host
  found   mpirun found no interface for its daemons ({value})
  fix     <<INTERFACE>>; leave oob_tcp_if_* out of benchmark_mca and benchmark_env
  fields  <<NODE>>; value: value given
# libfabric on the other host.
mpi_ofi
  pattern not able to find endpoint information for a remote endpoint
  found   a process of MPI has no endpoint of libfabric: it could not open the network adapter of its host
  fix     check that adapter and its devices in the container (fi_info, ibstat, /dev/infiniband), or leave libfabric out: pml: ob1 and mtl:
          ^ofi in benchmark_mca
  fields  host: remote host
mpi_ofi
  pattern failed an OFI Libfabric library call \((?P<call>fi_(?:endpoint|getinfo|domain|fabric|enable|\w+_open|ep_bind)\w*)\)
          |(?P<call2>OFI (?:addrinfo|fi_getinfo|endpoint open|fi_\w+)\S*(?: open)?(?:\(\))? fail(?:ed|ure).{0,160})
          |(?P<call4>MPIDI_OFI_find_provider.{0,80})
  found   MPI can't use libfabric ({call} {why})
  fix     check fi_info -l and fi_info -p NAME in the container: set FI_PROVIDER in benchmark_env to a provider that every host has (tcp
          always works; verbs and efa need /dev/infiniband), for Open MPI also mtl: ^ofi in benchmark_mca
  near    on node \d+ \(rank (?P<rank>\d+) in comm
  fields  <<NODE>>; why: error
ucx
  pattern (?P<what>(?:no usable transports/devices|network devices? .{1,120} (?:is|are) not available).{0,160})
  found   UCX finds none of the devices or transports that it was told to use ({what})
  fix     set UCX_NET_DEVICES and UCX_TLS in benchmark_env to what ucx_info -d prints on every host, or leave them out; a container needs
          /dev/infiniband for RDMA
# The other processes then say that their peer is unreachable.
ucx
  pattern UCX +ERROR +connect\(.{0,40}dest_addr=(?P<peer><<UNREACHED>>)(?::\d+)?\) failed: (?P<why>[^(]+)
  found   UCX, MPI's transport, could not connect to {peer} ({why}), an address of docker0 or the like, or link-local: its peer uses the
          wrong interface
  fix     set UCX_NET_DEVICES in benchmark_env to the interface or adapter of the network that the hosts share; or pml: ob1 in
          benchmark_mca, with taco_interface (btl_tcp_if_include) set to it
# Without the words of the context, the processes may only have lost one that ended.
ucx
  pattern UCX +ERROR +connect\(.{0,40}dest_addr=(?P<peer>[\da-f.:]{2,60}|\[[\da-f:]{2,40}\]:\d+)\) failed: (?P<why>[^(]+)
  found   UCX, MPI's transport, could not connect to {peer} ({why})
  fix     <<OPEN_NETWORK>>; UCX_NET_DEVICES in benchmark_env must name an interface or adapter of that network on every host
  context pml_ucx.{0,80}Destination is unreachable
ucx
  pattern (?P<what>(?:UCX +ERROR|pml_ucx\S+).{0,120}(?:Destination is unreachable|no active messages transport|no peer failure).{0,160})
  found   UCX has no transport that two ranks share ({what})
  fix     compare ucx_info -d on the hosts: the same adapters, one kind of link and UCX of one version; add tcp to UCX_TLS in benchmark_env,
          or set pml: ob1 in benchmark_mca
mpi_architecture
  pattern configured without support for heterogeneous architectures|does not currently support multi-endian
  found   a host has another architecture than the others
  fix     leave that host out of benchmark_hosts: MPI needs one kind of CPU
  fields  host: node, nodename
mpi_cma
  pattern ^\s*ERROR: Linux kernel CMA support was requested
  found   MPI may not copy memory between the ranks of a host: they run in containers with namespaces of their own
  fix     start the ranks of a host in one container, or set OMPI_MCA_btl_vader_single_copy_mechanism: none (OMPI_MCA_smsc: ^cma for Open
          MPI 5) in benchmark_env
  fields  <<NODE>>
mpi_version
  pattern UI version string does not match proxy version|PMI version mismatch|An unexpected version of PMIx was loaded
          |A version of PMIx was detected that is too old|compression support enabled on one node
  found   the hosts run different versions of MPI or of PMIx
  fix     <<IMAGE>>
  fields  <<NODE>>
session_folder
  pattern location for the temporary directories required by \S+(?: \S+)? is on the list of prohibited
          |restriction for Unix's socket's path-length|not enough space for \S+ \(the shared-memory
          |(?:PMIX|PRTE) ERROR: (?:PMIX_ERR_)?(?:OUT-OF-RESOURCE|NO-PERMISSIONS)\b
  found   MPI can't write its session folder or its shared memory on a host
  fix     set TMPDIR in benchmark_env to a short path of a folder that every container can write to, and not full (df /tmp /dev/shm), and
          training_container_shm_size to a larger size
  fields  <<NODE>>
""")
