# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that Slurm reports, and the hosts that it lost, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause, cause

# What Slurm refuses: an allocation, or a step of a job that has one.
JOB = r"(?:Unable to allocate resources|(?:submit/)?allocate failed|Batch job submission failed): "
STEP = r"Unable to create step for job \d+: "
BOTH = rf"(?:{JOB}|{STEP})"
LAUNCH = r"(?:Task launch for (?:StepId=\S+|\d+\.\d+) failed on node (?P<host>[\w.-]+)|task \d+ launch failed|Application launch failed): "
NOT_ALLOCATED = "Slurm does not give the job what it requests ({why})"
NO_STEP = "Slurm does not start the ranks in this job ({why})"
OTHER_USER = (
    "use an account, a partition and a QOS that are allowed (sacctmgr show assoc user=$USER), within their limits"
)
STEP_FIT = (
    "request in the step at most what the job has (scontrol show job: hosts, tasks, CPUs, GPUs), and name hosts as Slurm does (scontrol "
    "show hostnames)"
)


def refused(begin: str, why: str, fix: str, found: str = "") -> Cause:
    """What Slurm does not grant, with its reason."""
    return cause(
        "slurm_resources",
        rf"{begin}(?P<why>{why}.{{0,160}})",
        found or (NO_STEP if begin == STEP else NOT_ALLOCATED),
        fix,
    )


def options(pattern: str, found: str, fix: str) -> Cause:
    """Options of Slurm's commands or its variables that can't be used."""
    return cause("slurm_options", rf"(?:srun|salloc|sbatch): (?:error: |fatal: )?{pattern}", found, fix)


SLURM = [
    cause(
        # What a cloud answers to the programs that make nodes.
        "cloud_quota",
        r"(?P<what>Quota '[\w-]{1,80}' exceeded[^\"]{0,100}|(?:Vcpu|Instance|MaxSpotInstanceCount)LimitExceeded.{0,120}|"
        r"(?:InsufficientInstanceCapacity|ZONE_RESOURCE_POOL_EXHAUSTED|LimitExceeded\.\w+|ResourceInsufficient\.\w+).{0,120}|"
        r"exceeding approved [^\"]{1,80}quota[^\"]{0,100})",
        "the cloud gives no more nodes: a quota is used up, or it has none of this type ({what})",
        "have the quota raised, end instances that are not needed, or use another type of instance, zone or region, or fewer hosts",
    ),
    cause(
        "slurm_prolog",
        r"(?P<what>PrologSlurmctld failed)",
        "the script that Slurm's controller runs before a job failed ({what})",
        "look at slurmctld.log on the controller, and at resume.log where Slurm makes its nodes in a cloud: a quota, a type of instance or "
        "an image that is not there",
    ),
    cause(
        "lost_node",
        r"Node failure on (?P<host>\S+)|io error with slurmstepd on node|DUE TO NODE (?P<host2>(?!FAILURE)\S+) FAILURE|"
        r"(?:ON (?P<host3>[\w.-]+) CANCELLED AT \S+ )?DUE TO NODE FAILURE",
        "Slurm lost a host: it is down, rebooted or cut off",
        "look at that host (uptime, dmesg, scontrol show node), and run again without it",
    ),
    cause(
        # It prepares a host for a job: the GPUs, mounts, the network.
        "slurm_prolog",
        r"Prolog (?P<what>failure|hung) on node (?P<host>[\w.-]+)|"
        r"Task launch for StepId=\S+ failed on node (?P<host2>[\w.-]+): (?P<what2>Job prolog failed)",
        "Slurm's prolog did not end well on a host ({what}), so the job can't start there",
        "run again without that host (--exclude={host}), and tell the administrators of the cluster: its slurmd.log has why the prolog "
        "failed, such as a check of the GPUs or a mount",
    ),
    cause(
        "slurm_prolog",
        r"(?P<what>srun prolog failed rc ?= ?\d+)",
        "the script that srun runs before the ranks failed ({what})",
        "look at the script of --prolog, and at what it prints above this line",
    ),
    cause(
        "slurm_version",
        r"(?P<what>Incompatible versions of client and server code|Header lengths are longer than data received)",
        "two programs of Slurm have different versions ({what})",
        "use the srun of the cluster's own Slurm, not one in taco_image; compare srun --version with scontrol version on every host",
    ),
    cause(
        "slurm_credential",
        r"(?:failed on node (?P<host>[\w.-]+): )?(?P<why>Job credential expired)",
        "Slurm refused the credential of the job ({why}): the clocks of two hosts differ, or a host was very slow",
        "compare the clocks of all hosts (chronyc tracking), and start again",
    ),
    cause(
        "slurm_credential",
        r"(?:failed on node (?P<host>[\w.-]+): |launch failed: )(?P<why>Invalid job credential|Job credential \w+|Invalid node name|"
        r"(?:Invalid a|A)uthentication credential\b.{0,20})|"
        r"(?P<why2>Error generating job credential|Credential (?:replayed|signature check)|Munge (?:encode|decode) failed.{0,80}|"
        r"Protocol authentication error|Zero Bytes were transmitted or received|Invalid authentication credential)",
        "Slurm refused the credential of the job ({why})",
        "check that munge runs with the same key on all nodes, and that their clocks agree (chronyc tracking)",
    ),
    cause(
        "slurm_user",
        LAUNCH + r"(?P<why>Slurmd could not set UID or GID|User not found on host)",
        "Slurm can't start the ranks as this user ({why})",
        "make the user and its groups known on that host as on the others (getent passwd $USER, id)",
    ),
    cause(
        # The ranks connect to srun for their output.
        "slurm_io",
        LAUNCH
        + r"(?P<why>Slurmd could not connect IO|Communication connection failure|Connection refused|No route to host|"
        r"Connection timed out.{0,20})",
        "a host of the job can't connect to srun, or srun to its slurmd ({why})",
        "check that slurmd runs there (sinfo -R, systemctl status slurmd), and allow connections in both directions between the hosts: "
        "port 6818 of slurmd, and srun's ports (SrunPortRange)",
    ),
    cause(
        "slurm_resolve",
        r"(?:Unable to resolve \"|can't find address for host |[Uu]nable to get address for )(?P<host>[\w.-]+)",
        "Slurm can't resolve the name of the host {host}",
        "give {host} an address in /etc/hosts or the DNS of the host where srun runs and of all hosts of the job (getent hosts {host}); "
        "else NodeAddr in slurm.conf",
    ),
    cause(
        # What the environment of an older job has.
        "slurm_job_over",
        r"(?P<why>(?:Unable to confirm allocation for job \d+|Unable to create step for job \d+): (?:Invalid job id specified|"
        r"Job/step already completing or completed|Expired or invalid job \d+)|Slurm job \d+ has expired)",
        "the job of Slurm does not exist any more ({why})",
        "start a new job (squeue -u $USER has the present ones); in a shell of an old job unset SLURM_JOB_ID and SLURM_JOBID",
    ),
    cause(
        "slurm_controller",
        r"(?P<why>Unable to contact slurm controller.{0,60}|"
        r"(?:allocate|allocate resources|create step for job \d+|submit/allocate failed|submission failed): Socket timed out.{0,40}|"
        r"Unable to confirm allocation for job \d+: .{1,80}|Slurm backup controller in standby mode)",
        "Slurm's controller does not answer or does not know the job ({why})",
        "check slurmctld (scontrol ping), and that the job is still running (squeue)",
    ),
    refused(
        BOTH,
        r"Requested GRES option unsupported",
        "request the GPUs with --gres=gpu:N for each host, or whole hosts where there is no gres (sinfo -o '%N %G'): --gpus and "
        "--gpus-per-* need SelectType=select/cons_tres (scontrol show config)",
        "this Slurm does not know the options --gpus and --gpus-per-* ({why})",
    ),
    refused(
        BOTH,
        r"Invalid GRES specification \(with and without",
        "write the type of GPU in all of --gres and --gpus*, or in none (SLURM_GPUS* in the environment count, too)",
        "the options for GPUs name a type in one place and none in another ({why})",
    ),
    refused(
        BOTH,
        r"(?:Invalid|Duplicate) generic resource",
        "request GPUs by the name and the number that the nodes have (sinfo -o '%N %G'; --gres, --gpus)",
    ),
    refused(
        STEP,
        r"(?:Insufficient GRES|Invalid Trackable RESource)",
        "request in srun no more GPUs than the job has (scontrol show job: TRES; --gres or --gpus-per-node of sbatch and of srun)",
    ),
    refused(
        BOTH,
        r"Memory (?:required|specification)",
        "request as much memory as the nodes have (sinfo -N -o '%N %m'; --mem), and no more in a step than the job has",
    ),
    refused(
        BOTH,
        r"User's group not permitted",
        "use a partition that this user's groups may use (scontrol show partition: AllowGroups, AllowAccounts)",
    ),
    refused(
        JOB,
        r"Job violates accounting/QOS policy",
        "request fewer hosts, GPUs or less time than the limits of the account and QOS (sacctmgr show assoc user=$USER; sacctmgr show qos; "
        "squeue -u $USER for what is in use), or use another one",
    ),
    refused(
        BOTH,
        r"(?:Invalid (?:qos|QOS|account|partition|or unknown association)|Access/permission denied|No partition)",
        OTHER_USER,
    ),
    refused(
        BOTH,
        r"(?:Requested time limit|Time limit)",
        "request no more time than the partition allows (scontrol show partition; --time)",
    ),
    cause(
        "slurm_resources",
        r"(?P<why>Required node not available.{0,60}|ReqNodeNotAvail.{0,80}|"
        r"Nodes? \S{1,200} (?:is|are) (?:DOWN|DRAIN|not available).{0,60})",
        NOT_ALLOCATED,
        "see why these hosts are down, drained or reserved (sinfo -R, scontrol show node, scontrol show reservation), and request others "
        "(no --nodelist, or another)",
    ),
    refused(
        BOTH,
        r"(?:Required partition not available|Requested partition configuration not available|Partition in DOWN state|"
        r"Requested nodes not in this partition)",
        "use a partition that is up and has these hosts, within its limits of hosts and time (sinfo, scontrol show partition)",
    ),
    refused(
        BOTH,
        r"(?:Invalid feature|Requested reservation|Access denied to requested reservation|Invalid license|Licenses)",
        "give --constraint, --reservation and --licenses values that this cluster has (scontrol show node: features; scontrol show "
        "reservation)",
    ),
    refused(
        STEP,
        r"(?:Requested nodes are busy|Job/step already|Step limit)",
        "end the other steps of the job (squeue -s, scancel JOB.STEP), or share their resources with srun --overlap",
        "another step of the job has the resources that this one requests ({why})",
    ),
    refused(
        STEP,
        r"(?:Requested node config|More processors|Node count|Task count|CPU count|Invalid node name|Unable to satisfy cpu bind)",
        STEP_FIT,
    ),
    refused(
        JOB,
        r"(?:Immediate execution impossible|Requested nodes are busy|Job is held)",
        "leave out --immediate, so that the job waits, or request fewer hosts (squeue --start)",
    ),
    refused(
        BOTH,
        r"(?:Requested|Job size|Node count|More processors|CPU count|Task count|Invalid node name)",
        "request what the partition has (sinfo -N -l, scontrol show partition): hosts, CPUs and GPUs of each",
    ),
    cause(
        "slurm_resources",
        r"(?P<why>Only allocated \d+ nodes asked for \d+|SLURM_JOB_NUM_NODES environment variable conflicts.{0,60}|CPU binding outside of "
        r"job step allocation.{0,80}|You asked for \d+ tasks but hostlist specified \d+ nodes|Too few (?:processes|NodeNames).{0,60})",
        NO_STEP,
        STEP_FIT,
    ),
    options(
        r"(?P<what>(?:SLURM_|--).{1,120}are mutually exclusive.{0,10}|.{1,80}set by two different environment variables.{1,80})",
        "options of Slurm exclude each other ({what})",
        "give only one of them; srun also takes the job's SLURM_* variables: unset the others in the batch script",
    ),
    options(
        r"(?:unrecognized option|invalid option|option requires|ambiguous option|option '[^']{1,60}' is ambiguous)[ :-]*"
        r"(?P<what>.{0,80})|(?:srun|salloc|sbatch): (?:error: |fatal: )?(?P<what2>(?:Invalid (?:--(?!mpi)|-W)|invalid number of|"
        r"Invalid numeric value|Invalid node list|Invalid directive found|Bad value).{0,120})",
        "Slurm does not know an option or its value ({what})",
        "write the option as this version of Slurm has it (srun --help, srun --version)",
    ),
    options(
        r"(?P<what>Batch script contains DOS line breaks.{0,20}|This does not look like a batch script|"
        r"Batch script (?:is empty|contains only whitespace)|Unable to open file \S{1,200})",
        "Slurm does not take the batch script ({what})",
        "begin the script with #!/bin/bash in its first line, with line breaks of Unix (dos2unix), and give sbatch its path",
    ),
]
