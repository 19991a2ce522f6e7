# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What follows from another rank's failure, and what launchers conclude: causes only where nothing else is found."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.batch import BATCH_ENDED
from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import STORE_LOST, cause

# How a process or the run was ended.
ENDED = [
    *BATCH_ENDED,
    cause(
        "hangup",
        r"closing signal SIGHUP|Received 1 death signal|[Gg]ot signal: 1\b|process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) "
        r"exited\s+on\s+signal 1\b|KILLED BY SIGNAL: 1\b",
        "the terminal or ssh session of the launcher was closed (signal 1, SIGHUP)",
        # PyTorch's launcher has a handler of its own for this signal.
        "start it in tmux, as a job of the scheduler or as a service (systemd-run); nohup does not protect torchrun",
    ),
    cause(
        "preempted",
        r"ON (?P<host>[\w.-]+) CANCELLED AT \S+ (?P<why>DUE TO (?:PREEMPTION|JOB REQUEUE))",
        "Slurm cancelled the job ({why})",
        "run again in a partition or with a QOS that is not preempted; else write checkpoints, and begin each attempt with a new "
        "rendezvous (id, port, init file)",
    ),
    cause(
        "time_limit",
        r"DUE TO TIME LIMIT|time limit for job execution has been reached|DeadlineExceeded(?!Error)",
        "the scheduler's or mpirun's time limit ended the run",
        "raise that limit, or use fewer iterations (benchmark_options.num_iters); if the iterations had stopped before, look for what the "
        "ranks waited for",
    ),
    cause(
        "killed",
        r"exitcode *: -9\b|process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 9\b|KILLED BY SIGNAL: 9|"
        r"died with <Signals\.SIGKILL|line \d+: +\d+ Killed\b|(?i:exit|status)(?:ed with)?(?: status| exit)?(?: code)?:?\s+(?:137|-9)\b|"
        r"^Killed$|[Ss]ignal 9 \(?(?:SIGKILL|Killed)|Killed \(signal 9\)|srun: error: (?P<host2>[\w.-]+): (?:task (?P<rank2>\d+)|"
        r"tasks [\d,-]+): (?:Killed|Out Of Memory)|^Process (?P<rank3>\d+) exit with status code (?:137|-9)\b|"
        r"process (?P<rank4>\d+) terminated with signal SIGKILL|return code = -9\b",
        "a rank was killed (signal 9), which the kernel does when memory is full",
        "look for oom-kill in the host's dmesg; use fewer huge pages (hugepages_count), slots or data loader workers; without it look for "
        "who ended it: a limit of the scheduler, a user, the launcher after another rank's end",
    ),
    cause(
        "rendezvous",
        r"has failed to shutdown the rendezvous .{0,80} due to an error of type (?P<what>RendezvousConnectionError)",
        *STORE_LOST,
    ),
    cause(
        "rendezvous",
        r"RendezvousClosedError|Error waiting on exit barrier",
        "the rendezvous of torchrun was closed: the agent of another host ended first",
        "look at the log of that host, and use another --rdzv_id for each run",
    ),
    cause(
        # PyTorch's older versions name no peer.
        "peer_closed",
        r"^(?:[\w.]+: )?RuntimeError: (?P<what>Connection (?:reset|closed) by peer)\s*$",
        "the process at the other end, or something between them, closed the connection while the group of processes was made ({what})",
        "look at rank 0: whether it listens at MASTER_ADDR and MASTER_PORT and no other service does, and whether it ended first (its "
        "log); then at what is between them: the sidecar of a service mesh, a NetworkPolicy, a firewall",
        context=r"\binit_process_group\(",
    ),
    cause(
        "peer_closed",
        r"retrieving ncclUniqueId from \[(?P<rank>\d+)\].*got error: (?P<what>(?:Connection reset|Broken pipe|"
        r"[Ff]ailed to recv, got 0 bytes).{0,60})",
        "it closed its connection to the other ranks: it ended first ({what})",
        "look at what this rank prints, and at the end of its host's log",
    ),
    cause(
        # The store is that of rank 0, or of torchrun on its host.
        "peer_closed",
        r"(?:send|recv)\w+ failed on SocketImpl\(.{0,120}remote=\[?(?P<peer>[\w.:-]+?)\]?:\d+\): (?P<what>.{1,60})",
        "the process with the store (rank 0 or torchrun on {peer}) closed its connection: it ended first ({what})",
        "look at what rank 0 and torchrun print on that host, and at the end of its log",
    ),
    cause(
        "peer_closed",
        r"(?P<what>Connection closed by remote peer(?: (?P<peer>[\w.:%-]+(?:<\d+>)?))?.{0,60}|Call to (?:recv|send) (?:from|"
        r"to) (?P<peer2>[\w.:%-]+(?:<\d+>)?) failed : (?:Connection reset|Broken pipe).{0,20}|(?:(?:Read|Write) error|(?:read|"
        r"write)v?) \[(?P<peer3>[\w.:]+)\]:\d+: (?:Connection reset by peer|Broken pipe)|Connection closed by peer \[(?P<peer4>[\w.:]+)\]|"
        r"[Ff]ailed to recv, got 0 bytes|peer process has unexpectedly disconnected|remote process exited or there was a network error|"
        r"[Cc]onnection reset by peer|[Bb]roken pipe|Connection closed by peer.{0,60}|readv?\S* ?(?:failed|error).{0,20}reset)",
        "a peer {peer} closed its connection: it ended first ({what})",
        "look for the rank that ended first, and at the network between the hosts",
        fields={"host": ("peer host",)},
    ),
]
EPILOGUE = [
    cause(
        "horovod_down",
        r"(?P<what>Horovod has been shut down|HorovodInternalError.{0,100})",
        "Horovod was shut down because another rank failed",
        "look at what the other ranks print",
    ),
    cause(
        "aborted",
        r"(?:MPI_ABORT was invoked|NCCL communicator was aborted) on rank (?P<rank>\d+)|application called MPI_Abort\([^)]{1,60}\) - "
        r"process (?P<rank3>\d+)|process rank (?P<rank2>\d+) with PID \S+ on\s+node (?P<host>\S+) (?:calling|exiting)",
        "a rank called MPI_Abort or left without MPI_Finalize",
        "look at what this rank prints",
    ),
    cause(
        "interrupted",
        r"^\^?C?KeyboardInterrupt\b|signal 2 \(Interrupt\)|[Gg]ot signal: 2\b",
        "the run was interrupted from the keyboard",
        "run again, and do not press Ctrl-C; if nobody did, look for who sent signal 2: a scheduler, or a launcher after "
        "another rank's end",
    ),
    cause(
        "terminated",
        r"Received 15 death signal|[Gg]ot signal: 15\b|process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+"
        r"signal 15\b|KILLED BY SIGNAL: 15\b",
        "the run was ended from outside (signal 15, SIGTERM)",
        "look for who ended it: a time limit or scancel of the scheduler, an eviction, a user",
    ),
    cause(
        "signal",
        r"process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal (?P<signal>\d+(?: \([^)]*\))?)|KILLED "
        r"BY SIGNAL: (?P<signal2>\d+)|TERMINATED BY SIGNAL: (?P<signal3>\d+)|srun: error: (?P<host2>[\w.-]+): (?:task (?P<rank2>\d+)|"
        r"tasks [\d,-]+): (?P<signal7>Aborted|Floating point exception|Trace/breakpoint trap)\b|died with <Signals\.(?P<signal9>SIG\w+)|"
        r"process (?P<rank5>\d+) terminated with signal (?P<signal10>SIG\w+)|exitcode *: -(?P<signal8>\d+)\b|"
        r"Signal: (?P<signal4>[\w ]{1,40} \(\d+\))|failed \(exitcode: -(?P<signal5>\d+)\)|line \d+: +\d+ (?P<signal6>Aborted|Terminated)\b",
        "a rank ended with signal {signal}",
        "look at what this rank prints",
    ),
    cause(
        "daemon",
        r"^\[mpiexec@[\w.-]+\] HYD(?!U_sock|\w+_wait)|unable to run (?:bstrap_proxy|proxy)(?: on (?P<host3>[\w.-]+))?|"
        r"unable to reliably start one or more daemons|daemon has unexpectedly failed after launch|A daemon .{0,40}died unexpectedly|"
        r"daemon \S+ on node (?P<host>\S+)|could not connect to some hosts via ssh|ssh not successful for host (?P<host2>[\w.-]+)",
        "mpirun could not start its daemon on a host",
        "run the ssh_trust role, and the same taco_image on every host; where the daemon starts, check that it reaches the launcher "
        "(firewall, taco_interface)",
    ),
    cause(
        "srun_step",
        r"Task launch for StepId=\S+ failed on node (?P<host>[\w.-]+): (?P<why>.{1,160})|Unable to create step for job "
        r"\d+: (?P<why2>.{1,160})|(?:Application|task \d+) launch failed: (?P<why3>.{1,160})|"
        r"(?P<why4>timeout waiting for task launch.{0,60}|Timed out waiting for job step to complete)",
        "srun could not start the ranks ({why})",
        "look at the slurmd of that node and at what the job was allocated (scontrol show job)",
    ),
    cause(
        # Pyxis starts containers so. Its lines above it have the reason.
        "srun_step",
        r"(?P<why>spank: required plugin \S+: \w+\(\) failed with rc=-?\d+)",
        "a plugin of Slurm failed before the ranks ({why}): {words}",
        "look at the lines above it: a container that does not start, its image or its mounts, or a plugin that a host does not have",
        r"pyxis: {2,}(?:\[ERROR\] )?(?P<words>\S.{1,160})",
    ),
    cause(
        "exit_code",
        r"failed \(exitcode: \d+\) local_rank: \d+|CalledProcessError: Command .{1,1500}? returned non-zero exit status [1-9]|"
        r"process (?P<rank5>\d+) terminated with exit code [1-9]|DUE TO TASK FAILURE|"
        r"\[FAILURE\] (?P<host4>\S{1,253}) Exited with error code|\b(?P<host5>[A-Za-z0-9][\w.-]{0,252}): ssh exited with exit code [1-9]|"
        r"Process name: (?:\[(?:\[[\d,]+\],|[^\]\s,]+,))?(?P<rank>\d+)\]?|Process name: (?P<host3>[\w.-]+)\[\d+\]|srun: "
        r"error: (?P<host>[\w.-]+): (?:task (?P<rank2>\d+)|tasks [\d,-]+): Exited with exit code|^command terminated with exit code [1-9]|"
        r"Process (?P<rank3>\d+) exit with status code|(?:RANK (?P<rank4>\d+) )?PID \d+ RUNNING AT (?P<host2>[\w.-]+)",
        "a rank ended with an error and printed no known cause",
        "look at what this rank prints",
    ),
    cause(
        "slurm",
        r"^(?:srun|salloc|sbatch|slurmstepd): (?:error|fatal): (?![\w.-]+: tasks? |\*|task_p_pre_launch)(?P<what>.{1,200})",
        "Slurm reports: {what}",
        "check the options of srun, and what the job was allocated (scontrol show job) and the nodes have (sinfo -N -l)",
    ),
    cause(
        "cancelled",
        r"CANCELLED AT [^\s*]+ \*\*\*|srun: Force Terminated (?:job|Step)|srun: error: [\w.-]+: tasks? [\d,-]+: Terminated",
        "Slurm cancelled the job or its step",
        "look for who cancelled it (sacct -j JOB, squeue), such as scancel",
    ),
]
