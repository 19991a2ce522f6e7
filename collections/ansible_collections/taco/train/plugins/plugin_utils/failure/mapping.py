# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin: on which hosts and CPU cores mpirun places the ranks, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

NO_BINDING = "set bind-to: none in benchmark_mca or start fewer ranks on each host"
SLOTS = "set the slots in benchmark_hosts or taco_gpus_per_node"
# The texts of a mapping name a host so, not "Local host".
NODE = "host: node, host, missing requested host"
OPTION = "mpirun can't follow an option for where the ranks run ({what})"
OPTION_FIX = (
    "leave --map-by, --rank-by, --bind-to and their values out of benchmark_mca, benchmark_env (OMPI_MCA_rmaps_*, OMPI_MCA_hwloc_base_*, "
    "PRTE_MCA_*) and benchmark_options.extra_args, or write them as mpirun --help map-by has them"
)
MAPPING = table(
    r"""
hostfile
  pattern (?:Unable to|unable to|[Cc]ould not) open (?:the hostfile|host ?file)|The hostfile given is not a regular file
  found   mpirun can't open the hostfile
  fix     give the path of a file that the launcher's host or container has, or leave it out: benchmark_hosts makes the list of hosts
hostfile
  pattern [Pp]lease correct the hostfile|parse error in the hostfile|bad parameter in the hostfile|hostname format not recognized
          |node list format not recognized|error parsing hostfile|multiple definitions of the slot count
  found   mpirun can't read the hostfile
  fix     write one host a line there, with slots=N behind it (Open MPI) or :N (MPICH, Intel MPI), each host once; benchmark_hosts makes
          such a list
hostfile
  pattern Invalid host input, please make sure|A hostfile was provided that
          |requested hosts (?:are|is) not included in the current allocation|at least one node not present in the allocation
          |hosts in .{0,40}not (?:included|present) in the allocation|contained a node \((?P<host>[\w.-]+)\) that is not in your allocation
  found   mpirun does not take the list of hosts
  fix     set benchmark_hosts to hosts that the scheduler gave, and check the hostfile
  fields  host: node, host, missing requested host
# A name of the scheduler's or the hostfile's, and another that the host has itself.
host_names
  pattern a node was detected to be missing a daemon|A daemon has no recorded node|difference between the names of nodes
  found   a host has another name than mpirun was given for it
  fix     give benchmark_hosts the names that hostname prints on each host (short and long names differ), or give them one address in
          /etc/hosts
  fields  host: node, reported from nodename
# Slots do not count for it.
sequential
  pattern A sequential map was requested, but not enough
  found   mpirun maps the ranks by the lines of the host list (sequential), and there are fewer entries ({entries}) than ranks ({ranks})
  fix     remove what requests this mapper: seq in --map-by or rmaps, and a file of orte_default_hostfile (benchmark_mca, OMPI_MCA_*,
          openmpi-mca-params.conf); else list a host once for each rank
  fields  ranks: num procs; entries: num nodes
# PRRTE does not know which of the two it was.
# A text without such a line is about slots.
slots
  pattern Either there are not enough slots available in the system to launch
  found   there are fewer slots than ranks, or fewer CPU cores than ranks that are bound to them (binding {binding})
  fix     compare both with the number of ranks: <<SLOTS>> where slots are short; where CPU cores are (lscpu), set bind-to: none in
          benchmark_mca or start fewer ranks
  fields  binding: binding
  context ^\s*Binding: *(?P<binding>\S+)
# mpirun takes the tasks of the job as its slots.
slots
  pattern There are not enough slots available|[Nn]ot enough slots(?! left| remain)
          |All nodes which are allocated for this job are already filled
  found   there are fewer slots than ranks: mpirun takes Slurm's tasks as slots, and the job has {tasks}
  fix     request as many tasks as ranks for the job (sbatch --ntasks, --ntasks-per-node with the GPUs of a host), or start mpirun with
          --map-by :OVERSUBSCRIBE
  context \bSLURM_(?:NTASKS|NPROCS|TASKS_PER_NODE)=(?P<tasks>\d[\w(),]{0,60})
slots
  pattern There are not enough slots available|[Nn]ot enough slots(?! left| remain)|Process number should not be larger than
          |There are not enough nodes in your allocation|[Rr]equested more processes \((?P<ranks>\d+)\) than there are available slots
          |All nodes which are allocated for this job are already filled|rmaps-base:\S*alloc-error|asked for more slots on a node than
          |There are no (?:allocated resources|nodes allocated)
  found   there are fewer slots than ranks
  fix     <<SLOTS>>
# Elastic Horovod, after it left hosts out.
slots
  pattern Timed out waiting for (?P<ranks>\d+) slots|minimum number of slots not available|[Nn]ot enough slots (?:left|remain)
  found   elastic Horovod waits for hosts: fewer are left than --min-np needs ({ranks} slots)
  fix     see why hosts were left out (blacklist, and the first error of their ranks), and check what --host-discovery-script prints
# What mpirun 1 to 4 print where the slots are short, and no word of them.
slots
  pattern Your job failed to map
  found   there are fewer slots than ranks
  fix     <<SLOTS>>
  context ^\s*Mapper result: +Out of resource
no_hosts
  pattern There are no available nodes allocated to this job|No nodes are available for this job
          |We were unable to find an allocation for this job|didn't find any hosts in the map
  found   mpirun has no host for the ranks
  fix     set benchmark_hosts to hosts of the allocation that are up (sinfo, scontrol show job), and leave out --nolocal where the launcher
          is one of them
ranks_per_host
  pattern requested a conflicting number of processes|resulted in too many processes being placed on a node
          |requested more processes than the ppr|not enough resources on the available nodes to meet the requested mapping
          |More processes were requested than there are devices
  found   the number of ranks does not fit the number for each host or device that --map-by ppr, -N or a device gives
  fix     make -np the number of hosts times the ranks of each host (taco_gpus_per_node), or leave one of both out
  fields  host: node, host, missing requested host
binding
  pattern binding more\s+processes than cpus|would (?:result in|require) binding (?:more|processes to more)
          |Not enough \S+ were found on the local host to meet|more processes on a node than available cpus
          |found no available cpus on the following node|lacks enough CPUs to|more cpus per process ?\(rank\) than
  found   a host has fewer CPU cores than ranks that mpirun binds to cores
  fix     <<NO_BINDING>>
  fields  host: node, host, missing requested host
# The kernel or the container does not allow it, or does not show the cores.
binding
  pattern NOT support binding (?:processes to cpus|memory)
          |tried to bind (?:a new process|memory for a new process),? but something went wrong(?! and the)
          |appropriate target could not be found on node (?P<host>[\w-]+(?:\.[\w-]+)*)|No bindable objects of the specified
          |No objects of the specified type were found|attempt to assign hardware locations|has no object of that type|HWLOC failure binding
          |bind process failed|Open MPI failed to bind internal memory
  found   mpirun can't bind a rank to a CPU core or a memory node of a host ({why})
  fix     <<NO_BINDING>>; a container needs the cores (--cpuset-cpus) and the call set_mempolicy (capability SYS_NICE)
  fields  host: node, local host; why: error message, message, target, type, policy
mapping
  pattern [Tt]he specified \S+ (?:policy|directive) is not recognized|(?:mapping|binding|ranking) request contains an unrecognized \w+
          |mapping request contains a pattern that doesn't match|\S+ directive contains an unrecognized qualifier
  found   <<OPTION>>
  fix     <<OPTION_FIX>>
  fields  host: node, host, missing requested host; what: policy, directive, request, pattern, qualifier
mapping
  pattern Conflicting directives for|multiple cpus-per-proc was given|contradict each other
          |value given for the number of processes per resource|proc-per-resource request is not correct|Unknown binding level
          |mapping is not possible|is missing a value|PE=<list> mapping directive cannot be combined
          |requested mapping policy cannot be performed|Your job failed to map|requires knowledge of a remote node's topology
          |not supported in combination with
  found   <<OPTION>>
  fix     <<OPTION_FIX>>
  fields  host: node, host, missing requested host; what: new policy, qualifier, ppr, specified option, binding policy given, directive,
          mapping policy, policy, mapper result
rankfile
  pattern open the rankfile|parse error in the rankfile|[Rr]ankfile claimed|rankfile that was used|in the rankfile \(
          |A rank is missing its location|requested ranks are not included|filename of the rankfile
  found   mpirun can't use the rankfile
  fix     leave the rankfile out of benchmark_mca (rankfile, rmaps_rank_file_path), or give each rank a line with a host of benchmark_hosts
  fields  host: node, host, missing requested host
""",
    NO_BINDING=NO_BINDING,
    OPTION=OPTION,
    OPTION_FIX=OPTION_FIX,
    SLOTS=SLOTS,
)
