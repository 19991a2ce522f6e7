# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that Slurm reports, and the hosts that it lost, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

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
COMMAND = "(?:srun|salloc|sbatch): (?:error: |fatal: )?"
SLURM = table(
    r"""
# What a cloud answers to the programs that make nodes.
cloud_quota
  pattern (?P<what>Quota '[\w-]{1,80}' exceeded[^"]{0,100}|(?:Vcpu|Instance|MaxSpotInstanceCount)LimitExceeded.{0,120}
          |(?:InsufficientInstanceCapacity|ZONE_RESOURCE_POOL_EXHAUSTED|LimitExceeded\.\w+|ResourceInsufficient\.\w+).{0,120}
          |exceeding approved [^"]{1,80}quota[^"]{0,100})
  found   the cloud gives no more nodes: a quota is used up, or it has none of this type ({what})
  fix     have the quota raised, end instances that are not needed, or use another type of instance, zone or region, or fewer hosts
slurm_prolog
  pattern (?P<what>PrologSlurmctld failed)
  found   the script that Slurm's controller runs before a job failed ({what})
  fix     look at slurmctld.log on the controller, and at resume.log where Slurm makes its nodes in a cloud: a quota, a type of instance or
          an image that is not there
lost_node
  pattern Node failure on (?P<host>\S+)|io error with slurmstepd on node|DUE TO NODE (?P<host2>(?!FAILURE)\S+) FAILURE
          |(?:ON (?P<host3>[\w.-]+) CANCELLED AT \S+ )?DUE TO NODE FAILURE
  found   Slurm lost a host: it is down, rebooted or cut off
  fix     look at that host (uptime, dmesg, scontrol show node), and run again without it
# It prepares a host for a job: the GPUs, mounts, the network.
slurm_prolog
  pattern Prolog (?P<what>failure|hung) on node (?P<host>[\w.-]+)
          |Task launch for StepId=\S+ failed on node (?P<host2>[\w.-]+): (?P<what2>Job prolog failed)
  found   Slurm's prolog did not end well on a host ({what}), so the job can't start there
  fix     run again without that host (--exclude={host}), and tell the administrators of the cluster: its slurmd.log has why the prolog
          failed, such as a check of the GPUs or a mount
slurm_prolog
  pattern (?P<what>srun prolog failed rc ?= ?\d+)
  found   the script that srun runs before the ranks failed ({what})
  fix     look at the script of --prolog, and at what it prints above this line
slurm_version
  pattern (?P<what>Incompatible versions of client and server code|Header lengths are longer than data received)
  found   two programs of Slurm have different versions ({what})
  fix     use the srun of the cluster's own Slurm, not one in taco_image; compare srun --version with scontrol version on every host
slurm_credential
  pattern (?:failed on node (?P<host>[\w.-]+): )?(?P<why>Job credential expired)
  found   Slurm refused the credential of the job ({why}): the clocks of two hosts differ, or a host was very slow
  fix     compare the clocks of all hosts (chronyc tracking), and start again
slurm_credential
  pattern (?:failed on node (?P<host>[\w.-]+): |launch failed: )(?P<why>Invalid job credential
          |Job credential \w+|Invalid node name|(?:Invalid a|A)uthentication credential\b.{0,20})
          |(?P<why2>Error generating job credential|Credential (?:replayed|signature check)|Munge (?:encode|decode) failed.{0,80}
          |Protocol authentication error|Zero Bytes were transmitted or received|Invalid authentication credential)
  found   Slurm refused the credential of the job ({why})
  fix     check that munge runs with the same key on all nodes, and that their clocks agree (chronyc tracking)
slurm_user
  pattern <<LAUNCH>>(?P<why>Slurmd could not set UID or GID|User not found on host)
  found   Slurm can't start the ranks as this user ({why})
  fix     make the user and its groups known on that host as on the others (getent passwd $USER, id)
# The ranks connect to srun for their output.
slurm_io
  pattern <<LAUNCH>>(?P<why>Slurmd could not connect IO|Communication connection failure|Connection refused|No route to host
          |Connection timed out.{0,20})
  found   a host of the job can't connect to srun, or srun to its slurmd ({why})
  fix     check that slurmd runs there (sinfo -R, systemctl status slurmd), and allow connections in both directions between the hosts: port
          6818 of slurmd, and srun's ports (SrunPortRange)
slurm_resolve
  pattern (?:Unable to resolve "|can't find address for host |[Uu]nable to get address for )(?P<host>[\w.-]+)
  found   Slurm can't resolve the name of the host {host}
  fix     give {host} an address in /etc/hosts or the DNS of the host where srun runs and of all hosts of the job (getent hosts {host});
          else NodeAddr in slurm.conf
# What the environment of an older job has.
slurm_job_over
  pattern (?P<why>(?:Unable to confirm allocation for job \d+|Unable to create step for job \d+): (?:Invalid job id specified
          |Job/step already completing or completed|Expired or invalid job \d+)|Slurm job \d+ has expired)
  found   the job of Slurm does not exist any more ({why})
  fix     start a new job (squeue -u $USER has the present ones); in a shell of an old job unset SLURM_JOB_ID and SLURM_JOBID
slurm_controller
  pattern (?P<why>Unable to contact slurm controller.{0,60}
          |(?:allocate|allocate resources|create step for job \d+|submit/allocate failed|submission failed): Socket timed out.{0,40}
          |Unable to confirm allocation for job \d+: .{1,80}|Slurm backup controller in standby mode)
  found   Slurm's controller does not answer or does not know the job ({why})
  fix     check slurmctld (scontrol ping), and that the job is still running (squeue)
slurm_resources
  pattern <<BOTH>>(?P<why>Requested GRES option unsupported.{0,160})
  found   this Slurm does not know the options --gpus and --gpus-per-* ({why})
  fix     request the GPUs with --gres=gpu:N for each host, or whole hosts where there is no gres (sinfo -o '%N %G'): --gpus and
          --gpus-per-* need SelectType=select/cons_tres (scontrol show config)
slurm_resources
  pattern <<BOTH>>(?P<why>Invalid GRES specification \(with and without.{0,160})
  found   the options for GPUs name a type in one place and none in another ({why})
  fix     write the type of GPU in all of --gres and --gpus*, or in none (SLURM_GPUS* in the environment count, too)
slurm_resources
  pattern <<BOTH>>(?P<why>(?:Invalid|Duplicate) generic resource.{0,160})
  found   <<NOT_ALLOCATED>>
  fix     request GPUs by the name and the number that the nodes have (sinfo -o '%N %G'; --gres, --gpus)
slurm_resources
  pattern <<STEP>>(?P<why>(?:Insufficient GRES|Invalid Trackable RESource).{0,160})
  found   <<NO_STEP>>
  fix     request in srun no more GPUs than the job has (scontrol show job: TRES; --gres or --gpus-per-node of sbatch and of srun)
slurm_resources
  pattern <<BOTH>>(?P<why>Memory (?:required|specification).{0,160})
  found   <<NOT_ALLOCATED>>
  fix     request as much memory as the nodes have (sinfo -N -o '%N %m'; --mem), and no more in a step than the job has
slurm_resources
  pattern <<BOTH>>(?P<why>User's group not permitted.{0,160})
  found   <<NOT_ALLOCATED>>
  fix     use a partition that this user's groups may use (scontrol show partition: AllowGroups, AllowAccounts)
slurm_resources
  pattern <<JOB>>(?P<why>Job violates accounting/QOS policy.{0,160})
  found   <<NOT_ALLOCATED>>
  fix     request fewer hosts, GPUs or less time than the limits of the account and QOS (sacctmgr show assoc user=$USER; sacctmgr show qos;
          squeue -u $USER for what is in use), or use another one
slurm_resources
  pattern <<BOTH>>(?P<why>(?:Invalid (?:qos|QOS|account|partition|or unknown association)|Access/permission denied|No partition).{0,160})
  found   <<NOT_ALLOCATED>>
  fix     <<OTHER_USER>>
slurm_resources
  pattern <<BOTH>>(?P<why>(?:Requested time limit|Time limit).{0,160})
  found   <<NOT_ALLOCATED>>
  fix     request no more time than the partition allows (scontrol show partition; --time)
slurm_resources
  pattern (?P<why>Required node not available.{0,60}|ReqNodeNotAvail.{0,80}|Nodes? \S{1,200} (?:is|are) (?:DOWN|DRAIN|not available).{0,60})
  found   <<NOT_ALLOCATED>>
  fix     see why these hosts are down, drained or reserved (sinfo -R, scontrol show node, scontrol show reservation), and request others
          (no --nodelist, or another)
slurm_resources
  pattern <<BOTH>>(?P<why>(?:Required partition not available|Requested partition configuration not available|Partition in DOWN state
          |Requested nodes not in this partition).{0,160})
  found   <<NOT_ALLOCATED>>
  fix     use a partition that is up and has these hosts, within its limits of hosts and time (sinfo, scontrol show partition)
slurm_resources
  pattern <<BOTH>>(?P<why>(?:Invalid feature|Requested reservation|Access denied to requested reservation|Invalid license|Licenses).{0,160})
  found   <<NOT_ALLOCATED>>
  fix     give --constraint, --reservation and --licenses values that this cluster has (scontrol show node: features; scontrol show
          reservation)
slurm_resources
  pattern <<STEP>>(?P<why>(?:Requested nodes are busy|Job/step already|Step limit).{0,160})
  found   another step of the job has the resources that this one requests ({why})
  fix     end the other steps of the job (squeue -s, scancel JOB.STEP), or share their resources with srun --overlap
slurm_resources
  pattern <<STEP>>(?P<why>(?:Requested node config|More processors|Node count|Task count|CPU count|Invalid node name
          |Unable to satisfy cpu bind).{0,160})
  found   <<NO_STEP>>
  fix     <<STEP_FIT>>
slurm_resources
  pattern <<JOB>>(?P<why>(?:Immediate execution impossible|Requested nodes are busy|Job is held).{0,160})
  found   <<NOT_ALLOCATED>>
  fix     leave out --immediate, so that the job waits, or request fewer hosts (squeue --start)
slurm_resources
  pattern <<BOTH>>(?P<why>(?:Requested|Job size|Node count|More processors|CPU count|Task count|Invalid node name).{0,160})
  found   <<NOT_ALLOCATED>>
  fix     request what the partition has (sinfo -N -l, scontrol show partition): hosts, CPUs and GPUs of each
slurm_resources
  pattern (?P<why>Only allocated \d+ nodes asked for \d+|SLURM_JOB_NUM_NODES environment variable conflicts.{0,60}
          |CPU binding outside of job step allocation.{0,80}|You asked for \d+ tasks but hostlist specified \d+ nodes
          |Too few (?:processes|NodeNames).{0,60})
  found   <<NO_STEP>>
  fix     <<STEP_FIT>>
slurm_options
  pattern <<COMMAND>>(?P<what>(?:SLURM_|--).{1,120}are mutually exclusive.{0,10}|.{1,80}set by two different environment variables.{1,80})
  found   options of Slurm exclude each other ({what})
  fix     give only one of them; srun also takes the job's SLURM_* variables: unset the others in the batch script
slurm_options
  pattern <<COMMAND>>(?:unrecognized option|invalid option|option requires|ambiguous option
          |option '[^']{1,60}' is ambiguous)[ :-]*(?P<what>.{0,80})|<<COMMAND>>(?P<what2>(?:Invalid (?:--(?!mpi)|-W)|invalid number of
          |Invalid numeric value|Invalid node list|Invalid directive found|Bad value).{0,120})
  found   Slurm does not know an option or its value ({what})
  fix     write the option as this version of Slurm has it (srun --help, srun --version)
slurm_options
  pattern <<COMMAND>>(?P<what>Batch script contains DOS line breaks.{0,20}|This does not look like a batch script
          |Batch script (?:is empty|contains only whitespace)|Unable to open file \S{1,200})
  found   Slurm does not take the batch script ({what})
  fix     begin the script with #!/bin/bash in its first line, with line breaks of Unix (dos2unix), and give sbatch its path
""",
    BOTH=BOTH,
    COMMAND=COMMAND,
    JOB=JOB,
    LAUNCH=LAUNCH,
    NOT_ALLOCATED=NOT_ALLOCATED,
    NO_STEP=NO_STEP,
    OTHER_USER=OTHER_USER,
    STEP=STEP,
    STEP_FIT=STEP_FIT,
)
