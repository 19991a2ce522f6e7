# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin: on which hosts and CPU cores mpirun places the ranks, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause, cause

# The texts of a mapping name a host so, not "Local host".
NODE = {"host": ("node", "host", "missing requested host")}
NO_BINDING = "set bind-to: none in benchmark_mca or start fewer ranks on each host"
SLOTS = "set the slots in benchmark_hosts or taco_gpus_per_node"


def option(pattern: str, fields: str = "") -> Cause:
    """An option for the mapping, the ranks' order or the binding that mpirun can't follow."""
    return cause(
        "mapping",
        pattern,
        "mpirun can't follow an option for where the ranks run ({what})",
        "leave --map-by, --rank-by, --bind-to and their values out of benchmark_mca, benchmark_env (OMPI_MCA_rmaps_*, "
        "OMPI_MCA_hwloc_base_*, PRTE_MCA_*) and benchmark_options.extra_args, or write them as mpirun --help map-by has them",
        fields={**NODE, **({"what": tuple(fields.split(","))} if fields else {})},
    )


MAPPING = [
    cause(
        "hostfile",
        r"(?:Unable to|unable to|[Cc]ould not) open (?:the hostfile|host ?file)|The hostfile given is not a regular file",
        "mpirun can't open the hostfile",
        "give the path of a file that the launcher's host or container has, or leave it out: benchmark_hosts makes the list of hosts",
    ),
    cause(
        "hostfile",
        r"[Pp]lease correct the hostfile|parse error in the hostfile|bad parameter in the hostfile|hostname format not recognized|"
        r"node list format not recognized|error parsing hostfile|multiple definitions of the slot count",
        "mpirun can't read the hostfile",
        "write one host a line there, with slots=N behind it (Open MPI) or :N (MPICH, Intel MPI), each host once; benchmark_hosts makes "
        "such a list",
    ),
    cause(
        "hostfile",
        r"Invalid host input, please make sure|A hostfile was provided that|"
        r"requested hosts (?:are|is) not included in the current allocation|at least one node not present in the allocation|"
        r"hosts in .{0,40}not (?:included|present) in the allocation|contained a node \((?P<host>[\w.-]+)\) that is not in your allocation",
        "mpirun does not take the list of hosts",
        "set benchmark_hosts to hosts that the scheduler gave, and check the hostfile",
        fields=NODE,
    ),
    cause(
        # A name of the scheduler's or the hostfile's, and another that the host has itself.
        "host_names",
        r"a node was detected to be missing a daemon|A daemon has no recorded node|difference between the names of nodes",
        "a host has another name than mpirun was given for it",
        "give benchmark_hosts the names that hostname prints on each host (short and long names differ), or give them one address in "
        "/etc/hosts",
        fields={"host": ("node", "reported from nodename")},
    ),
    cause(
        # Slots do not count for it.
        "sequential",
        r"A sequential map was requested, but not enough",
        "mpirun maps the ranks by the lines of the host list (sequential), and there are fewer entries ({entries}) than ranks ({ranks})",
        "remove what requests this mapper: seq in --map-by or rmaps, and a file of orte_default_hostfile (benchmark_mca, OMPI_MCA_*, "
        "openmpi-mca-params.conf); else list a host once for each rank",
        fields={"ranks": ("num procs",), "entries": ("num nodes",)},
    ),
    cause(
        # PRRTE does not know which of the two it was.
        "slots",
        r"Either there are not enough slots available in the system to launch",
        "there are fewer slots than ranks, or fewer CPU cores than ranks that are bound to them (binding {binding})",
        f"compare both with the number of ranks: {SLOTS} where slots are short; where CPU cores are (lscpu), set bind-to: none in "
        "benchmark_mca or start fewer ranks",
        fields={"binding": ("binding",)},
        # A text without such a line is about slots.
        context=r"^\s*Binding: *(?P<binding>\S+)",
    ),
    cause(
        # mpirun takes the tasks of the job as its slots.
        "slots",
        r"There are not enough slots available|[Nn]ot enough slots(?! left| remain)|"
        r"All nodes which are allocated for this job are already filled",
        "there are fewer slots than ranks: mpirun takes Slurm's tasks as slots, and the job has {tasks}",
        "request as many tasks as ranks for the job (sbatch --ntasks, --ntasks-per-node with the GPUs of a host), or start mpirun with "
        "--map-by :OVERSUBSCRIBE",
        context=r"\bSLURM_(?:NTASKS|NPROCS|TASKS_PER_NODE)=(?P<tasks>\d[\w(),]{0,60})",
    ),
    cause(
        "slots",
        r"There are not enough slots available|[Nn]ot enough slots(?! left| remain)|Process number should not be larger than|"
        r"There are not enough nodes in your allocation|[Rr]equested more processes \((?P<ranks>\d+)\) than there are available slots|"
        r"All nodes which are allocated for this job are already filled|rmaps-base:\S*alloc-error|asked for more slots on a node than|"
        r"There are no (?:allocated resources|nodes allocated)",
        "there are fewer slots than ranks",
        SLOTS,
    ),
    cause(
        # Elastic Horovod, after it left hosts out.
        "slots",
        r"Timed out waiting for (?P<ranks>\d+) slots|minimum number of slots not available|[Nn]ot enough slots (?:left|remain)",
        "elastic Horovod waits for hosts: fewer are left than --min-np needs ({ranks} slots)",
        "see why hosts were left out (blacklist, and the first error of their ranks), and check what --host-discovery-script prints",
    ),
    cause(
        # What mpirun 1 to 4 print where the slots are short, and no word of them.
        "slots",
        r"Your job failed to map",
        "there are fewer slots than ranks",
        SLOTS,
        context=r"^\s*Mapper result: +Out of resource",
    ),
    cause(
        "no_hosts",
        r"There are no available nodes allocated to this job|No nodes are available for this job|We were unable to find an allocation for "
        r"this job|didn't find any hosts in the map",
        "mpirun has no host for the ranks",
        "set benchmark_hosts to hosts of the allocation that are up (sinfo, scontrol show job), and leave out --nolocal where the launcher "
        "is one of them",
    ),
    cause(
        "ranks_per_host",
        r"requested a conflicting number of processes|resulted in too many processes being placed on a node|"
        r"requested more processes than the ppr|not enough resources on the available nodes to meet the requested mapping|"
        r"More processes were requested than there are devices",
        "the number of ranks does not fit the number for each host or device that --map-by ppr, -N or a device gives",
        "make -np the number of hosts times the ranks of each host (taco_gpus_per_node), or leave one of both out",
        fields=NODE,
    ),
    cause(
        "binding",
        r"binding more\s+processes than cpus|would (?:result in|require) binding (?:more|processes to more)|"
        r"Not enough \S+ were found on the local host to meet|more processes on a node than available cpus|"
        r"found no available cpus on the following node|lacks enough CPUs to|more cpus per process ?\(rank\) than",
        "a host has fewer CPU cores than ranks that mpirun binds to cores",
        NO_BINDING,
        fields=NODE,
    ),
    cause(
        # The kernel or the container does not allow it, or does not show the cores.
        "binding",
        r"NOT support binding (?:processes to cpus|memory)|tried to bind (?:a new process|memory for a new process),? "
        r"but something went wrong(?! and the)|appropriate target could not be found on node (?P<host>[\w-]+(?:\.[\w-]+)*)|"
        r"No bindable objects of the specified|No objects of the specified type were found|attempt to assign hardware locations|"
        r"has no object of that type|HWLOC failure binding|bind process failed|Open MPI failed to bind internal memory",
        "mpirun can't bind a rank to a CPU core or a memory node of a host ({why})",
        NO_BINDING + "; a container needs the cores (--cpuset-cpus) and the call set_mempolicy (capability SYS_NICE)",
        fields={"host": ("node", "local host"), "why": ("error message", "message", "target", "type", "policy")},
    ),
    option(
        r"[Tt]he specified \S+ (?:policy|directive) is not recognized|(?:mapping|binding|ranking) request contains an unrecognized \w+|"
        r"mapping request contains a pattern that doesn't match|\S+ directive contains an unrecognized qualifier",
        "policy,directive,request,pattern,qualifier",
    ),
    option(
        r"Conflicting directives for|multiple cpus-per-proc was given|contradict each other|value given for the number of processes per "
        r"resource|proc-per-resource request is not correct|Unknown binding level|mapping is not possible|is missing a value|"
        r"PE=<list> mapping directive cannot be combined|requested mapping policy cannot be performed|Your job failed to map|"
        r"requires knowledge of a remote node's topology|not supported in combination with",
        "new policy,qualifier,ppr,specified option,binding policy given,directive,mapping policy,policy,mapper result",
    ),
    cause(
        "rankfile",
        r"open the rankfile|parse error in the rankfile|[Rr]ankfile claimed|rankfile that was used|in the rankfile \(|"
        r"A rank is missing its location|requested ranks are not included|filename of the rankfile",
        "mpirun can't use the rankfile",
        "leave the rankfile out of benchmark_mca (rankfile, rmaps_rank_file_path), or give each rank a line with a host of benchmark_hosts",
        fields=NODE,
    ),
]
