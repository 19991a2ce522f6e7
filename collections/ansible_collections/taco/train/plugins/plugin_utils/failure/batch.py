# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How LSF, PBS, Torque with Moab, Grid Engine and Flux say that they ended a job: in their report at the end of its output."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause

# A limit of memory explains what the ranks print when they are killed.
BATCH_LIMITS = [
    cause(
        "memory",
        r"(?P<what>TERM_(?:MEMLIMIT|SWAP)\b.{0,80}|PBS: job killed: p?v?mem .{1,80}|[Ee]xceeded P?V?MEM usage "
        r".{1,80}|exceed\w* (?:job )?(?:hard|soft) limit \"?[hs]_(?:vmem|rss|data)\b.{0,60}|"
        r"Cgroup mem\w* limit exceeded.{0,80}|memory usage exceeded request_memory)",
        "the scheduler ended the job, which used more memory than it requested ({what})",
        "request more memory for the job (bsub -M and rusage[mem], qsub -l mem or h_vmem), or use fewer data loader workers or ranks "
        "for each host",
    ),
    cause(
        "lost_node",
        r"PBS: job killed: node \d+ \((?P<host>[\w.-]+)\) requested job (?:terminate|die)|"
        r"TERM_(?:ZOMBIE|BUCKET_KILL)\b|Connection to (?:sister )?MOM \S{0,60} ?(?:lost|closed)",
        "the scheduler lost a host of the job",
        "look at that host (uptime, dmesg, pbsnodes or bhosts), and run again without it",
    ),
]
BATCH_ENDED = [
    cause(
        "time_limit",
        r"(?P<what>TERM_(?:RUNLIMIT|CPULIMIT|DEADLINE|WINDOW)\b.{0,80}|PBS: job killed: (?:walltime|cput|pcput) .{1,60}|"
        r"[Ee]xceeded (?:WALLTIME|CPUTIME) usage .{1,60}|exceeded (?:hard|soft) (?:wallclock|CPU) time.{0,40}|"
        r"exceed\w* (?:job )?(?:hard|soft) limit \"?[hs]_(?:rt|cpu)\b.{0,60}|enforced h_rt.{0,40}|"
        r"\bjob \S{1,40} killed after [\d:]+|type=timeout\b.{0,60}|resource allocation expired|maximum walltime exceeded)",
        "the scheduler's time limit ended the run ({what})",
        "raise that limit (bsub -W, qsub -l walltime or h_rt), or use fewer iterations (benchmark_options.num_iters)",
    ),
    cause(
        "preempted",
        r"(?P<why>TERM_(?:PREEMPT|LOAD|REQUEUE_\w+)\b.{0,80}|PBS: job killed: preempt.{0,60}|"
        r"[Jj]ob (?:\S{1,40} )?(?:was )?preempted\b.{0,60}|type=preempt\b.{0,60})",
        "the scheduler took the hosts of the job for another one ({why})",
        "run again in a queue that is not preempted, and write checkpoints",
    ),
    cause(
        "cancelled",
        r"(?P<what>TERM_(?:FORCE_)?(?:OWNER|ADMIN)\b.{0,80}|TERM_EXTERNAL_SIGNAL\b.{0,60}|[Jj]ob deleted at request of \S{1,80}|"
        r"PBS: job killed: (?:job )?delet.{0,60}|has deleted job \S{1,40}|type=cancel\b.{0,60})",
        "a user or an administrator ended the job ({what})",
        "look for who ended it (bhist -l, tracejob, qacct -j), such as bkill or qdel",
    ),
    cause(
        # Schedulers warn a job by these signals. Without a handler they end it.
        "time_limit",
        r"^User defined signal (?P<number>[12])\b|process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+"
        r"signal 1[02] \(User defined signal (?P<number2>[12])\)",
        "the signal SIGUSR{number} ended the run, which schedulers send before a time limit or a suspension",
        "raise the time limit of the job, or use fewer iterations (benchmark_options.num_iters); look at the scheduler's record of the job "
        "(bhist -l, qacct -j, sacct -j)",
    ),
]
