# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What programs print when they fail, and what the user is told."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.failure.reason import known_reason, last_line, reason

# What is printed -> words of what was found, and of the fix.
SAID = {
    "name": (
        "ssh: Could not resolve hostname nosuchhost: Name or service not known\n"
        "ORTE was unable to reliably start one or more daemons.\n",
        "host nosuchhost is not known",
        "benchmark_hosts",
    ),
    "connection": (
        "ssh: connect to host 10.0.0.9 port 2222: Connection refused\r\n",
        "ssh to 10.0.0.9 on port 2222 failed (Connection refused)",
        "taco_ssh_port",
    ),
    "locked": ("Another benchmark holds the training container", "another run still goes on", "end mpirun there"),
    "host key": ("Host key verification failed.\n", "does not know a host's key", "ssh_trust"),
    "key": ("root@gpu2: Permission denied (publickey).\n", "not let in (publickey)", "ssh_trust"),
    "slots": (
        "There are not enough slots available in the system to satisfy the 8\nslots\n",
        "fewer slots than ranks",
        "taco_gpus_per_node",
    ),
    "script": (
        "python3: can't open file '/mnt/no.py': [Errno 2] No such file or directory\n",
        "script /mnt/no.py is not there",
        "benchmark_options.script",
    ),
    "script without quotes": (
        "python3: can't open file /mnt/no.py: [Errno 2] No such file or directory\n",
        "script /mnt/no.py is not there",
        "benchmark_options.script",
    ),
    "container": (
        "Error response from daemon: No such container: taco-train\n",
        "container taco-train does not exist",
        "training_container",
    ),
    "old engine's container": (
        "Error: No such container: taco\n",
        "container taco does not exist",
        "taco_container_name",
    ),
    "stopped": (
        "Error response from daemon: Container 0a1b is not running\n",
        "container 0a1b is not running",
        "training_container",
    ),
    "engine": (
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
        "does not answer",
        "container_engine",
    ),
    "no mpirun in the image": (
        'OCI runtime exec failed: exec failed: unable to start container process: exec: "/usr/bin/mpirun": stat '
        "/usr/bin/mpirun: no such file or directory: unknown\n",
        "/usr/bin/mpirun is not in the training image",
        "benchmark_mpirun",
    ),
    "no mpirun for timeout": (
        "timeout: failed to run command '/usr/bin/mpirun': No such file or directory\n",
        "/usr/bin/mpirun is not in the training image",
        "benchmark_mpirun",
    ),
    "no python": (
        "mpirun was unable to find the specified executable file, and therefore\ndid not launch the job.\n\n"
        "Node:       gpu2\nExecutable: python3\n",
        "a host has no python3",
        "taco_image",
    ),
    "interface": (
        "WARNING: An invalid value was given for btl_tcp_if_include.  This\nvalue will be ignored.\n\n"
        "  Local host: gpu1\n  Value:      eth9\n  Message:    Unknown interface name\n",
        "no network interface eth9",
        "benchmark_interface",
    ),
    "harp": ("ERROR: no non-empty ztcp*.conf was found\n", "HARP found no configuration", "harp role"),
    "memory": (
        "E ResourceExhaustedError: OOM when allocating tensor\n",
        "memory is full",
        "benchmark_options.batch_size",
    ),
    "argument": (
        "x.py: error: unrecognized arguments: --no-such\n",
        "does not know --no-such",
        "benchmark_options.extra_args",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_printed_becomes_a_reason(name):
    text, found, fix = SAID[name]
    why = known_reason("gpu1:1:1 [0] NCCL INFO noise\n" + text + "-----\n")
    assert found in why.found and fix in why.fix


@pytest.mark.parametrize(
    ("text", "rc", "timed_out", "problems", "found"),
    [
        ("", 0, False, [], None),
        ("anything", 0, False, ["No total.", "No device."], "No total. No device"),
        ("first\nlast words\n-----\n\n", 2, False, ["No total."], "status 2 and 'last words'"),
        ("", -9, False, [], "status -9"),
        ("Host key verification failed.", 124, True, ["No total."], "after 60 s"),
    ],
)
def test_which_reason_comes_first(text, rc, timed_out, problems, found):
    why = reason(text, rc, timed_out, 60, problems)
    assert why is None if found is None else found in why.found


def test_a_timeout_says_what_was_seen_before_it():
    why = reason("Host key verification failed.", 124, True, 60, [])
    assert why.found == (
        "it was still running after 60 s and was ended; ssh does not know a host's key, or knows another one: "
        "'Host key verification failed.'"
    )
    assert (why.cause, why.fix) == ("ssh_host_key", "run the ssh_trust role for all hosts")


@pytest.mark.parametrize("rank", [None, 0, 1])
def test_the_last_line_is_that_of_the_rank_that_failed(rank):
    text = "[1,0]<stdout>:of 0\n[1,1]<stdout>:of 1\n[1,0]<stdout>:of 0 again\n-----\n"
    assert last_line(text, rank) == {None: "of 0 again", 0: "of 0 again", 1: "of 1"}[rank]


@pytest.mark.parametrize("first", ["root cause", "epilogue"])
def test_the_order_of_lines_does_not_decide(first):
    lines = [
        "[1,1]<stderr>:ModuleNotFoundError: No module named 'horovod'",
        "mpirun noticed that process rank 0 with PID 0 on node gpu1 exited on signal 9 (Killed).",
    ]
    why = known_reason("\n".join(lines if first == "root cause" else lines[::-1]) + "\n")
    assert (why.cause, why.rank, why.host) == ("module", 1, None)


@pytest.mark.parametrize(
    ("rc", "cause", "fix"),
    [
        (137, "killed", "oom-kill"),
        (-9, "killed", "oom-kill"),
        (139, "segfault", "built for each other"),
        (127, "", "whole path"),
        (1, "", "hostname"),
    ],
)
def test_a_status_alone_says_how_the_run_ended(rc, cause, fix):
    why = reason("step 3\n", rc, False, 60, [])
    assert f"status {rc}" in why.found and (why.cause, fix in why.fix) == (cause, True)


@pytest.mark.parametrize(
    ("problem", "fix"),
    [
        ("2 ranks each ran a test of their own: build nccl-tests with MPI=1.", "MPI_HOME"),
        ("8 ranks were started and 4 took part.", "one mpirun"),
        ("There is no line 'Total img/sec': the run did not finish (3 iterations).", "last lines"),
        ("Something else.", "whole run"),
    ],
)
def test_each_problem_of_a_result_has_a_fix(problem, fix):
    assert fix in reason("text", 0, False, 60, [problem]).fix


def test_horovod_that_went_on_with_fewer_ranks_names_those_that_are_gone():
    text = "[3]<stderr>:Killed\nProcess 3 exit with status code 137.\nWARNING:root:blacklist failing host: gpu9\n"
    why = reason(text, 0, False, 60, ["The benchmark counted 4 at its start and 2 at its end."])
    assert (why.cause, why.host, why.rank) == ("killed", "gpu9", 3) and why.found.startswith("The benchmark counted 4")


def test_a_line_is_quoted_with_what_tells():
    words = "x" * 30
    found = known_reason(" ".join([words] * 9) + " CUDA out of memory " + " ".join([words] * 9)).found
    assert "CUDA out of memory" in found and len(found) < 260
