# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What follows from another rank's failure, and what launchers and schedulers conclude: causes only where nothing else is found."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

BATCH_LIMITS = table(r"""
memory
  pattern (?P<what>TERM_(?:MEMLIMIT|SWAP)\b.{0,80}|PBS: job killed: p?v?mem .{1,80}|[Ee]xceeded P?V?MEM usage .{1,80}|exceed\w* (?:job )?
          (?:hard|soft) limit "?[hs]_(?:vmem|rss|data)\b.{0,60}|Cgroup mem\w* limit exceeded.{0,80}|memory usage exceeded request_memory)
  found   the scheduler ended the job, which used more memory than it requested ({what})
  fix     request more memory for the job (bsub -M and rusage[mem], qsub -l mem or h_vmem), or use fewer data loader workers or ranks for
          each host
lost_node
  pattern PBS: job killed: node \d+ \((?P<host>[\w.-]+)\) requested job (?:terminate|die)|TERM_(?:ZOMBIE|BUCKET_KILL)\b
          |Connection to (?:sister )?MOM \S{0,60} ?(?:lost|closed)
  found   the scheduler lost a host of the job
  fix     look at that host (uptime, dmesg, pbsnodes or bhosts), and run again without it
""")
ENDED = table(r"""
time_limit
  pattern (?P<what>TERM_(?:RUNLIMIT|CPULIMIT|DEADLINE|WINDOW)\b.{0,80}|PBS: job killed: (?:walltime|cput|pcput) .{1,60}
          |[Ee]xceeded (?:WALLTIME|CPUTIME) usage .{1,60}|exceeded (?:hard|soft) (?:wallclock|CPU) time.{0,40}
          |exceed\w* (?:job )?(?:hard|soft) limit "?[hs]_(?:rt|cpu)\b.{0,60}|enforced h_rt.{0,40}|\bjob \S{1,40} killed after [\d:]+
          |type=timeout\b.{0,60}|resource allocation expired|maximum walltime exceeded)
  found   the scheduler's time limit ended the run ({what})
  fix     raise that limit (bsub -W, qsub -l walltime or h_rt), or use fewer iterations (benchmark_options.num_iters)
preempted
  pattern (?P<why>TERM_(?:PREEMPT|LOAD|REQUEUE_\w+)\b.{0,80}|PBS: job killed: preempt.{0,60}
          |[Jj]ob (?:\S{1,40} )?(?:was )?preempted\b.{0,60}|type=preempt\b.{0,60})
  found   the scheduler took the hosts of the job for another one ({why})
  fix     run again in a queue that is not preempted, and write checkpoints
cancelled
  pattern (?P<what>TERM_(?:FORCE_)?(?:OWNER|ADMIN)\b.{0,80}|TERM_EXTERNAL_SIGNAL\b.{0,60}|[Jj]ob deleted at request of \S{1,80}
          |PBS: job killed: (?:job )?delet.{0,60}|has deleted job \S{1,40}|type=cancel\b.{0,60})
  found   a user or an administrator ended the job ({what})
  fix     look for who ended it (bhist -l, tracejob, qacct -j), such as bkill or qdel
# Schedulers warn a job by these signals. Without a handler they end it.
time_limit
  pattern ^User defined signal (?P<number>[12])\b|process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 1
          [02] \(User defined signal (?P<number2>[12])\)
  found   the signal SIGUSR{number} ended the run, which schedulers send before a time limit or a suspension
  fix     raise the time limit of the job, or use fewer iterations (benchmark_options.num_iters); look at the scheduler's record of the job
          (bhist -l, qacct -j, sacct -j)
# PyTorch's launcher has a handler of its own for this signal.
hangup
  pattern closing signal SIGHUP|Received 1 death signal|[Gg]ot signal: 1\b
          |process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 1\b|KILLED BY SIGNAL: 1\b
  found   the terminal or ssh session of the launcher was closed (signal 1, SIGHUP)
  fix     start it in tmux, as a job of the scheduler or as a service (systemd-run); nohup does not protect torchrun
preempted
  pattern ON (?P<host>[\w.-]+) CANCELLED AT \S+ (?P<why>DUE TO (?:PREEMPTION|JOB REQUEUE))
  found   Slurm cancelled the job ({why})
  fix     run again in a partition or with a QOS that is not preempted; else write checkpoints, and begin each attempt with a new rendezvous
          (id, port, init file)
time_limit
  pattern DUE TO TIME LIMIT|time limit for job execution has been reached|DeadlineExceeded(?!Error)
  found   the scheduler's or mpirun's time limit ended the run
  fix     raise that limit, or use fewer iterations (benchmark_options.num_iters); if the iterations had stopped before, look for what the
          ranks waited for
killed
  pattern exitcode *: -9\b|process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 9\b|KILLED BY SIGNAL: 9
          |died with <Signals\.SIGKILL|line \d+: +\d+ Killed\b|(?i:exit|status)(?:ed with)?(?: status| exit)?(?: code)?:?\s+(?:137|-9)\b
          |^Killed$|[Ss]ignal 9 \(?(?:SIGKILL|Killed)|Killed \(signal 9\)|srun: error: (?P<host2>[\w.-]+): (?:task (?P<rank2>\d+)
          |tasks [\d,-]+): (?:Killed|Out Of Memory)|^Process (?P<rank3>\d+) exit with status code (?:137|-9)\b
          |process (?P<rank4>\d+) terminated with signal SIGKILL|return code = -9\b
  found   a rank was killed (signal 9), which the kernel does when memory is full
  fix     look for oom-kill in the host's dmesg; use fewer huge pages (hugepages_count), slots or data loader workers; without it look for
          who ended it: a limit of the scheduler, a user, the launcher after another rank's end
rendezvous
  pattern has failed to shutdown the rendezvous .{0,80} due to an error of type (?P<what>RendezvousConnectionError)
  found   <<STORE_LOST>>
  fix     <<STORE_LOST_FIX>>
rendezvous
  pattern RendezvousClosedError|Error waiting on exit barrier
  found   the rendezvous of torchrun was closed: the agent of another host ended first
  fix     look at the log of that host, and use another --rdzv_id for each run
# PyTorch's older versions name no peer.
peer_closed
  pattern ^(?:[\w.]+: )?RuntimeError: (?P<what>Connection (?:reset|closed) by peer)\s*$
  found   the process at the other end, or something between them, closed the connection while the group of processes was made ({what})
  fix     look at rank 0: whether it listens at MASTER_ADDR and MASTER_PORT and no other service does, and whether it ended first (its log);
          then at what is between them: the sidecar of a service mesh, a NetworkPolicy, a firewall
  context \binit_process_group\(
peer_closed
  pattern retrieving ncclUniqueId from \[(?P<rank>\d+)\].*got error: (?P<what>(?:Connection reset|Broken pipe
          |[Ff]ailed to recv, got 0 bytes).{0,60})
  found   it closed its connection to the other ranks: it ended first ({what})
  fix     look at what this rank prints, and at the end of its host's log
# The store is that of rank 0, or of torchrun on its host.
peer_closed
  pattern (?:send|recv)\w+ failed on SocketImpl\(.{0,120}remote=\[?(?P<peer>[\w.:-]+?)\]?:\d+\): (?P<what>.{1,60})
  found   the process with the store (rank 0 or torchrun on {peer}) closed its connection: it ended first ({what})
  fix     look at what rank 0 and torchrun print on that host, and at the end of its log
peer_closed
  pattern (?P<what>Connection closed by remote peer(?: (?P<peer>[\w.:%-]+(?:<\d+>)?))?.{0,60}|Call to (?:recv
          |send) (?:from|to) (?P<peer2>[\w.:%-]+(?:<\d+>)?) failed : (?:Connection reset|Broken pipe).{0,20}|(?:(?:Read|Write) error|(?:read
          |write)v?) \[(?P<peer3>[\w.:]+)\]:\d+: (?:Connection reset by peer|Broken pipe)|Connection closed by peer \[(?P<peer4>[\w.:]+)\]
          |[Ff]ailed to recv, got 0 bytes|peer process has unexpectedly disconnected|remote process exited or there was a network error
          |[Cc]onnection reset by peer|[Bb]roken pipe|Connection closed by peer.{0,60}|readv?\S* ?(?:failed|error).{0,20}reset)
  found   a peer {peer} closed its connection: it ended first ({what})
  fix     look for the rank that ended first, and at the network between the hosts
  fields  host: peer host
""")
EPILOGUE = table(r"""
horovod_down
  pattern (?P<what>Horovod has been shut down|HorovodInternalError.{0,100})
  found   Horovod was shut down because another rank failed
  fix     look at what the other ranks print
aborted
  pattern (?:MPI_ABORT was invoked|NCCL communicator was aborted) on rank (?P<rank>\d+)
          |application called MPI_Abort\([^)]{1,60}\) - process (?P<rank3>\d+)
          |process rank (?P<rank2>\d+) with PID \S+ on\s+node (?P<host>\S+) (?:calling|exiting)
  found   a rank called MPI_Abort or left without MPI_Finalize
  fix     look at what this rank prints
interrupted
  pattern ^\^?C?KeyboardInterrupt\b|signal 2 \(Interrupt\)|[Gg]ot signal: 2\b
  found   the run was interrupted from the keyboard
  fix     run again, and do not press Ctrl-C; if nobody did, look for who sent signal 2: a scheduler, or a launcher after another rank's end
terminated
  pattern Received 15 death signal|[Gg]ot signal: 15\b
          |process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 15\b|KILLED BY SIGNAL: 15\b
  found   the run was ended from outside (signal 15, SIGTERM)
  fix     look for who ended it: a time limit or scancel of the scheduler, an eviction, a user
signal
  pattern process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal (?P<signal>\d+(?: \([^)]*\))?)
          |KILLED BY SIGNAL: (?P<signal2>\d+)|TERMINATED BY SIGNAL: (?P<signal3>\d+)|srun: error: (?P<host2>[\w.-]+): (?:task (?P<rank2>\d+)
          |tasks [\d,-]+): (?P<signal7>Aborted|Floating point exception|Trace/breakpoint trap)\b|died with <Signals\.(?P<signal9>SIG\w+)
          |process (?P<rank5>\d+) terminated with signal (?P<signal10>SIG\w+)|exitcode *: -(?P<signal8>\d+)\b
          |Signal: (?P<signal4>[\w ]{1,40} \(\d+\))|failed \(exitcode: -(?P<signal5>\d+)\)|line \d+: +\d+ (?P<signal6>Aborted|Terminated)\b
  found   a rank ended with signal {signal}
  fix     look at what this rank prints
daemon
  pattern ^\[mpiexec@[\w.-]+\] HYD(?!U_sock|\w+_wait)|unable to run (?:bstrap_proxy|proxy)(?: on (?P<host3>[\w.-]+))?
          |unable to reliably start one or more daemons|daemon has unexpectedly failed after launch|A daemon .{0,40}died unexpectedly
          |daemon \S+ on node (?P<host>\S+)|could not connect to some hosts via ssh|ssh not successful for host (?P<host2>[\w.-]+)
  found   mpirun could not start its daemon on a host
  fix     run the ssh_trust role, and the same taco_image on every host; where the daemon starts, check that it reaches the launcher
          (firewall, taco_interface)
srun_step
  pattern Task launch for StepId=\S+ failed on node (?P<host>[\w.-]+): (?P<why>.{1,160})
          |Unable to create step for job \d+: (?P<why2>.{1,160})|(?:Application|task \d+) launch failed: (?P<why3>.{1,160})
          |(?P<why4>timeout waiting for task launch.{0,60}|Timed out waiting for job step to complete)
  found   srun could not start the ranks ({why})
  fix     look at the slurmd of that node and at what the job was allocated (scontrol show job)
# Pyxis starts containers so. Its lines above it have the reason.
srun_step
  pattern (?P<why>spank: required plugin \S+: \w+\(\) failed with rc=-?\d+)
  found   a plugin of Slurm failed before the ranks ({why}): {words}
  fix     look at the lines above it: a container that does not start, its image or its mounts, or a plugin that a host does not have
  near    pyxis: {2,}(?:\[ERROR\] )?(?P<words>\S.{1,160})
exit_code
  pattern failed \(exitcode: \d+\) local_rank: \d+|CalledProcessError: Command .{1,1500}? returned non-zero exit status [1-9]
          |process (?P<rank5>\d+) terminated with exit code [1-9]|DUE TO TASK FAILURE
          |\[FAILURE\] (?P<host4>\S{1,253}) Exited with error code|\b(?P<host5>[A-Za-z0-9][\w.-]{0,252}): ssh exited with exit code [1-9]
          |Process name: (?:\[(?:\[[\d,]+\],|[^\]\s,]+,))?(?P<rank>\d+)\]?|Process name: (?P<host3>[\w.-]+)\[\d+\]
          |srun: error: (?P<host>[\w.-]+): (?:task (?P<rank2>\d+)|tasks [\d,-]+): Exited with exit code
          |^command terminated with exit code [1-9]|Process (?P<rank3>\d+) exit with status code
          |(?:RANK (?P<rank4>\d+) )?PID \d+ RUNNING AT (?P<host2>[\w.-]+)
  found   a rank ended with an error and printed no known cause
  fix     look at what this rank prints
slurm
  pattern ^(?:srun|salloc|sbatch|slurmstepd): (?:error|fatal): (?![\w.-]+: tasks? |\*|task_p_pre_launch)(?P<what>.{1,200})
  found   Slurm reports: {what}
  fix     check the options of srun, and what the job was allocated (scontrol show job) and the nodes have (sinfo -N -l)
cancelled
  pattern CANCELLED AT [^\s*]+ \*\*\*|srun: Force Terminated (?:job|Step)|srun: error: [\w.-]+: tasks? [\d,-]+: Terminated
  found   Slurm cancelled the job or its step
  fix     look for who cancelled it (sacct -j JOB, squeue), such as scancel
""")
