# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the log of a failed run shows: each row of the table by its example, whole logs, and what no row knows.

Each log in tests/fixtures/failed_runs.txt stands below a line with how the run ended (rc 1 without it), the hosts of the inventory and
sets of words of which one set must stand in what was found, for a run that its limit ended also in the fix.
"""

import itertools
import json
import re
import time
from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.explain.problems import explain_problems
from ansible_collections.taco.train.plugins.plugin_utils.explain.symptoms import SCOPES, explain, table

LOGS = Path(__file__).parents[3] / "fixtures/failed_runs.txt"
ROWS = {f"{number}-{row.name}": row for number, row in enumerate(table())}
MOST_ROWS = 150


def runs():
    """Yield what is expected of each log, and the log."""
    for part in LOGS.read_text().split("\n=== "):
        head, _newline, text = part.removeprefix("=== ").partition("\n")
        yield json.loads(head), text + "\n"


RUNS = {expected["name"]: (expected, text) for expected, text in runs()}


@pytest.mark.parametrize("name", ROWS)
def test_the_example_of_a_row_gives_the_row(name):
    row = ROWS[name]
    why = explain(row.example)
    assert (why.name, row.scope in SCOPES) == (row.name, True)
    for shown, template in ((why.found, row.found), (why.fix, row.fix)):
        # The place stands in place of the first words.
        parts = re.split(r"\{\w+\}", re.sub("^a (?:rank|host) ", "", template))
        parts = [part.split("(")[0].strip(" ,)") for part in parts]
        assert all(part in shown for part in parts), (shown, parts)
        assert "{" not in shown or "{" in row.example
    assert len(why.found) < 800 and why.lines


def test_the_table_is_short():
    assert len(ROWS) <= MOST_ROWS and all(row.found and row.fix and row.example for row in ROWS.values())


@pytest.mark.parametrize("name", RUNS)
def test_a_whole_log_is_explained_with_its_place_and_lines(name):
    expected, text = RUNS[name]
    why = explain(text, expected.get("rc", 1), expected.get("timed_out", False), 60, expected.get("hosts", []))
    words = f"{why.found} {why.fix}" if expected.get("timed_out") else why.found
    assert any(all(word in words for word in words_of) for words_of in expected["words"]), why
    assert not any(word in words for word in expected.get("not", []))
    assert expected.get("fix", "") in why.fix
    assert {"host": why.host, "rank": why.rank, **expected} == {**expected, "host": expected.get("host", why.host)} | (
        {} if "rank" in expected else {"rank": why.rank}
    )
    assert len(why.lines) in ((0,) if not text.strip() else (1, 2, 3))


@pytest.mark.parametrize("name", [name for name in RUNS if name.startswith("ompi")])
def test_lines_of_ranks_between_those_of_mpirun_change_nothing(name):
    expected, text = RUNS[name]
    lines = [f"{line}\n[1,{number % 8}]<stdout>:step {number}" for number, line in enumerate(text.split("\n"))]
    arguments = (expected.get("rc", 1), False, None, expected.get("hosts", []))
    one, other = explain(text, *arguments), explain("\n".join(lines), *arguments)
    assert (other.name, other.host) == (one.name, one.host)


# What terminals, files and programs that show logs make of each line.
FORMS = [
    "{}\r",
    "{}   ",
    "\x1b[31m{}\x1b[0m",
    "2026-01-12T10:11:12.123456789Z {}",
    "[pod/a-launcher-x1/mpi] 2026-01-12T10:11:12Z {}",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_log_in_another_form_has_the_same_cause_and_place(form):
    for expected, text in RUNS.values():
        arguments = (expected.get("rc", 1), expected.get("timed_out", False), 60, expected.get("hosts", []))
        shown = "\n".join(form.format(line) for line in text.split("\n"))
        place, same = explain(text, *arguments), explain(shown, *arguments)
        assert (same.name, same.host, same.rank) == (place.name, place.host, place.rank), expected["name"]


@pytest.mark.parametrize("name", RUNS)
def test_a_cut_log_gives_a_cause_a_fix_and_a_message_that_can_be_read(name):
    text = RUNS[name][1]
    for end in range(0, len(text), max(len(text) // 7, 1)):
        why = explain(text[:end], 1, False, None, ["gpu1"])
        assert why.found and why.fix and len(why.found + why.fix + why.shown()) < 2000


@pytest.mark.parametrize(
    ("text", "rc", "found", "fix"),
    [
        ("first\nlast words\n-----\n\n", 2, "status 2; its last line: 'last words'", "hostname"),
        (
            "Error: no such thing\nstep 3\n",
            2,
            "the log reports 'Error: no such thing'; its last line: 'step 3'",
            "hostname",
        ),
        ("", -9, "status -9: a process was killed, without output", "oom-kill"),
        ("step 3\n", 137, "status 137: a process was killed", "oom-kill"),
        ("step 3\n", 139, "crashed", "PYTHONFAULTHANDLER"),
        ("step 3\n", 127, "not found", "whole path"),
        ("step 3\n", 132, "could not start the program, or", "check its path"),
    ],
)
def test_a_log_without_a_symptom_has_its_status_and_its_last_line(text, rc, found, fix):
    why = explain(text, rc)
    assert found in why.found and fix in why.fix and why.name == ""


def test_a_timeout_shows_the_last_line_of_the_log_and_the_hosts_without_one():
    text = "[1,0][gpu1:44]<stdout>:Error: tried again\n[1,0][gpu1:44]<stdout>:step 7\n"
    why = explain(text, 124, True, 60, ["gpu1", "gpu2"])
    assert "after 60 s and was ended; its last line: 'step 7'; the log has no line of gpu2" in why.found
    assert (why.host, why.fix.startswith("check the processes and the network of gpu2 first")) == ("gpu2", True)


def test_a_timeout_without_a_line_names_the_likely_cause():
    why = explain("", 124, True, 60, ["gpu1", "gpu2"])
    assert "printed nothing" in why.found and "firewalls" in why.fix


def test_a_timeout_is_explained_by_what_was_printed_before_it():
    why = explain("Host key verification failed.", 124, True, 60)
    assert why.found.startswith("it was still running after 60 s and was ended; ssh does not know a host's key")
    assert why.fix == "run the ssh_trust role for all hosts"


@pytest.mark.parametrize("first", ["cause", "epilogue"])
def test_the_end_that_mpirun_reports_is_no_cause_where_a_rank_has_one(first):
    lines = [
        "[1,1]<stderr>:ModuleNotFoundError: No module named 'horovod'",
        "mpirun noticed that process rank 0 with PID 0 on node gpu1 exited on signal 15 (Terminated).",
    ]
    why = explain("\n".join(lines if first == "cause" else lines[::-1]) + "\n")
    assert (why.name, why.rank) == ("module", 1)


def test_a_rank_that_ended_with_a_status_alone_is_shown_with_the_line_before_its_end():
    rule = "-" * 74
    end = "mpirun detected that one or more processes exited with non-zero status\n\n  Process name: [[27433,1],2]\n  Exit code:    7\n"
    why = explain(f"[1,2]<stdout>:step 3\n[1,0]<stdout>:step 4\n{rule}\n{end}{rule}\n", 7)
    assert (
        (why.name, why.rank) == ("exit_code", 2) and "status 7" in why.found and "its last line: 'step 3'" in why.found
    )
    assert why.lines == ["step 3", "Exit code: 7"]
    assert "before that: 'step 3'" in explain(f"step 3\n{rule}\n{end}{rule}\n", 7).found


def test_an_unknown_text_of_mpirun_is_shown_with_its_host():
    rule = "-" * 74
    why = explain(
        f"{rule}\nThe frobnicator of this job was not able to be aligned with its topology.\n\n  Node: gpu2\n{rule}\n"
    )
    assert "mpirun reports: The frobnicator of this job" in why.found and why.host == "gpu2"


def test_a_daemon_that_is_absent_is_named_with_the_host_of_the_text_below_it():
    expected, text = RUNS["ompi5_prefix"]
    why = explain(text, 127, False, None, expected["hosts"])
    assert (why.name, why.host) == ("daemon_absent", "gpu2") and why.found.startswith("gpu2 has no prted")


def test_the_names_of_hosts_are_those_of_the_inventory():
    warning = "NCCL WARN socketPollConnect: Connect to 198.51.100.7<4> failed : Connection timed out"
    why = explain(f"gpu2.cluster.local:4711:4720 [0] misc/socket.cc:1 {warning}\n", 1, False, None, ["gpu1", "gpu2"])
    assert why.host == "gpu2" and why.found.startswith("gpu2: NCCL could not connect to 198.51.100.7<4>")


@pytest.mark.parametrize(
    ("problem", "fix"),
    [
        ("2 ranks each ran a test of their own: build nccl-tests with MPI=1.", "MPI_HOME"),
        ("8 ranks were started and 4 took part.", "one mpirun"),
        ("There is no line 'Total img/sec': the run did not finish (3 iterations).", "last lines"),
        ("Something else.", "benchmark_options"),
    ],
)
def test_each_problem_of_an_output_has_a_fix_and_lines(problem, fix):
    why = explain_problems("one\ntwo\nthree\n", [problem])
    assert fix in why.fix and why.found == problem.rstrip(".") and why.lines == ["one", "two", "three"]


def test_horovod_that_went_on_with_fewer_ranks_names_those_that_are_gone():
    why = explain_problems("[1,3]<stderr>:Killed\n", ["The benchmark counted 4 at its start and 2 at its end."])
    assert (why.name, why.rank) == ("killed", 3) and why.found.startswith("The benchmark counted 4")


def test_the_root_error_is_found_in_a_large_log_of_many_ranks():
    # 45 MB take some seconds; a tenth shows the same.
    lines = [
        f"[1,{number % 256}]<stdout>:gpu{number % 32}:{number % 256}:9 [0] NCCL INFO Channel {number} : 1[0] -> 2[0] via NET/Socket/0\n"
        for number in range(45_000)
    ]
    lines[22_000] = "[1,137]<stderr>:RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    after = [
        f"[1,{number}]<stderr>:RuntimeError: Connection closed by peer [198.51.100.7]:{number}\n"
        for number in range(256)
    ]
    why = explain("".join([*after[:100], *lines, *after]))
    assert (why.name, why.rank) == ("gpu_memory", 137)


# What programs print although nothing is wrong, or what is not the reason for the end.
HARMLESS = [
    "libibverbs: Warning: couldn't open config directory '/etc/libibverbs.d'.",
    "2021-05-05 12:00:00.1: W tensorflow/stream_executor/platform/default/dso_loader.cc:59] Could not load dynamic library "
    "'libnvinfer.so.6'; dlerror: libnvinfer.so.6: cannot open shared object file: No such file or directory",
    "2021-05-05 12:00:00.1: E tensorflow/stream_executor/cuda/cuda_driver.cc:318] failed call to cuInit: UNKNOWN ERROR (303)",
    "2021-05-05 12:00:00.1: W tensorflow/core/common_runtime/bfc_allocator.cc:239] Allocator (GPU_0_bfc) ran out of memory "
    "trying to allocate 2.27GiB with freed_by_count=0. The caller indicates that this is not a failure",
    "2021-05-05 12:00:00.1: E tensorflow/stream_executor/cuda/cuda_blas.cc:2981] Unable to register cuBLAS factory",
    'gpu1:55:99 [0] NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!',
    "gpu1:55:99 [0] ras/client_support.cc:159 NCCL WARN Call to bind failed: Address already in use",
    "gpu1:55:99 [0] graph/xml.cc:332 NCCL WARN Could not find real path of /sys/class/pci_bus/0000:8b/../../0000:8b:00.0",
    "[W socket.cpp:663] [c10d] The client socket has failed to connect to [gpu1]:29500 (errno: 101 - Network is unreachable).",
    "UserWarning: Failed to load image Python extension: libtorch_cuda_cu.so: cannot open shared object file",
    "bash: cannot set terminal process group (-1): Inappropriate ioctl for device",
    "ERROR: ld.so: object 'libx.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): ignored.",
    "Unable to init server: Could not connect: Connection refused",
    "AssertionError: can only test a child process",
    "gpu1:991:1043 [0] enqueue.cc:1312 NCCL WARN Cuda failure 'driver shutting down'",
    "WARNING: Linux kernel CMA support was requested via the btl_vader_single_copy_mechanism MCA variable",
]
ENDS = {
    "module": "[1,3]<stderr>:ModuleNotFoundError: No module named 'horovod'",
    "killed": "mpirun noticed that process rank 3 with PID 9 on node gpu2 exited on signal 9 (Killed).",
    "exit_code": "  Process name: [[27433,1],3]",
}


@pytest.mark.parametrize("name", ENDS)
def test_a_harmless_line_before_the_cause_is_not_taken_for_it(name):
    found = {line: explain(f"[1,0]<stderr>:{line}\n{ENDS[name]}\n") for line in HARMLESS}
    assert {line: (why.name, why.rank) for line, why in found.items()} == dict.fromkeys(HARMLESS, (name, 3))


@pytest.mark.parametrize(
    ("text", "name", "host"),
    [
        (
            "No ED25519 host key is known for [gpu2]:2222 and you have requested strict checking.\n",
            "ssh_host_key",
            "gpu2",
        ),
        (
            "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nPlease contact your system administrator.\n"
            "Host key for [gpu2]:2222 has changed and you have requested strict checking.\n",
            "ssh_host_key",
            "gpu2",
        ),
        (
            "kex_exchange_identification: read: Connection reset by peer\nConnection reset by 198.51.100.7 port 22\n",
            "ssh_closed",
            "198.51.100.7",
        ),
        ("[mpiexec@gpu1] match_arg: unrecognized argument allow-run-as-root\n", "mpirun_argument", None),
        ("Abort(3712399) on node 0: Fatal error in PMPI_Init: Other MPI error, error stack:\n", "mpi_error", None),
        ("errors_impl.ResourceExhaustedError: /mnt/model.ckpt-0; No space left on device\n", "disk", None),
        ("Error from server: etcdserver: request timed out\nORTE was unable to reliably start\n", "kube_answer", None),
        (
            'Error from server (Forbidden): pods "a" is forbidden: exceeded quota: gpu, requested: x\n',
            "pod_pending",
            None,
        ),
        ("prog: /lib/libc.so.6: version `GLIBC_2.34' not found (required by prog)\n", "library", None),
        ("Last error:\nNet : Connect to 198.51.100.7<35517> failed : Connection refused\n", "nccl_connect", None),
        ("UCX  ERROR   no active messages transport to x: self - Destination is unreachable\n", "ucx", None),
        ("in a path that is too long for the Unix domain socket:\n", "session_folder", None),
        ("device.cc:83] ifa != nullptr. Unable to find interface for: [0.0.0.0]\n", "nccl_interface", None),
        ("device.cc:208] rp != nullptr. Unable to find address for: gpu2\n", "master_address", None),
        ("error: cannot exec into a container in a completed pod; current phase is Succeeded\n", "cluster", None),
        ("E1120 10:00:00.000000    1234 v2.go:105] EOF\nerror: lost connection to pod\n", "cluster", None),
        ("EAL: FATAL: Cannot init memory\n", "hugepages", None),
        ("EAL: Cannot create lock on '/var/run/dpdk/rte/config'.\n", "harp", None),
        ("F.FailedPreconditionError: Mismatched allreduce tensor shapes: One rank sent\n", "ranks_differ", None),
        (
            "RuntimeError: [3]: params[0] in this process with sizes [64, 3] appears not to match\n",
            "ranks_differ",
            None,
        ),
        ("Back-off restarting failed container mpi in pod a\n", "pod_pending", None),
        ('MountVolume.SetUp failed for volume "data" : mount failed: exit status 32\n', "pod_pending", None),
        ("[pod/job-launcher-x2k9p/mpi] [1,1]<stderr>:CUDA out of memory\n", "gpu_memory", None),
        (
            "command terminated with exit code 137\n"
            + "-" * 74
            + "\nORTE has lost communication with a remote daemon.\n\n"
            "  HNP daemon   : [[2436,0],0] on node a\n  Remote daemon: [[2436,0],1] on node gpu2\n" + "-" * 74 + "\n",
            "killed",
            "gpu2",
        ),
        ("step " * 2000 + "RuntimeError: CUDA out of memory\n", "gpu_memory", None),
    ],
)
def test_a_text_of_several_lines_or_a_long_one_gives_its_cause_and_its_host(text, name, host):
    why = explain(text, hosts=["gpu1", "gpu2"])
    assert (why.name, why.host) == (name, host)


@pytest.mark.parametrize(
    ("line", "name", "host"),
    [
        ("ssh: connect to host {host} port 2222: Connection refused", "ssh_connect", "gpu2"),
        ("root@{host}: Permission denied (publickey).", "ssh_key", "gpu2"),
        ("{host}: Test NCCL failure common.cu:1204 'unhandled cuda error'", "nccl_error", "gpu2"),
        ("[{host}:00123] *** MPI_ERR_TRUNCATE: message truncated", "ranks_differ", "gpu2"),
        (
            "/usr/local/bin/orted: error while loading shared libraries: libopen-rte.so.40: cannot",
            "daemon_library",
            None,
        ),
        ("RuntimeError: boom", "traceback", None),
    ],
)
def test_what_all_hosts_report_alike_is_not_taken_for_a_prefix_of_the_lines(line, name, host):
    hosts = [f"gpu{number}" for number in range(2, 10)]
    why = explain("\n".join(line.format(host=one) for one in hosts), hosts=hosts)
    assert (why.name, why.host) == (name, host)


def test_a_log_of_nothing_but_nccls_own_lines_is_not_called_silent():
    text = "gpu1:1:2 [0] NCCL INFO Channel 0\ngpu1:1:2 [0] NCCL INFO Channel 1\n"
    why = explain(text, 124, True, 60, ["gpu1", "gpu2"])
    assert "its last line: 'gpu1:1:2 [0] NCCL INFO Channel 1'" in why.found and len(why.lines) == 2
    assert "without output" not in explain(text).found


def test_a_message_has_no_control_characters_and_no_bytes_that_cannot_be_printed():
    why = explain("\x1b[31mstep\x07 \udc9d3\x1b[0m \x1b\r\n")
    assert all(part.isprintable() for part in (why.found, *why.lines))


@pytest.mark.parametrize("cause", ["CUDA out of memory", "Segmentation fault (core dumped)", "Killed"])
def test_a_cause_between_thousands_of_different_lines_is_found(cause):
    words = ["".join(letters) for letters in itertools.product("abcdefghijklmnopqrst", repeat=3)]
    lines = [f"[1,{number % 8}]<stdout>:opened {word}" for number, word in enumerate(words)]
    lines[len(lines) // 2] = f"[1,5]<stderr>:{cause}"
    why = explain("\n".join(lines))
    assert (why.rank, why.name != "") == (5, True)


NASTY = {
    "numbers": "1" * 60 + " ",
    "tags": "[1,0]<stdout>:",
    "brackets": "[[[[",
    "colons": "a:1:1 [0] NCCL INFO Using network ",
    "warnings": "gpu1:1:2 [0] x.cc:1 NCCL WARN Call to connect to ",
    "errors": "not enough free error failed CUDA error Error Exception ",
    "dots": "a.b.c.",
    "spaces": " ",
    "texts": "Local host: a Remote host: b unable to complete a TCP connection ",
    "huge pages": "not enough not enough cannot could not ",
}


def seconds(text):
    start = time.process_time()
    explain(text)
    return time.process_time() - start


@pytest.mark.parametrize("name", NASTY)
def test_the_time_does_not_grow_with_the_square_of_the_length_of_a_line(name):
    short, long = ((NASTY[name] * length)[:length] + "\n" for length in (20_000, 200_000))
    assert seconds(long) < 0.5 + 30 * max(seconds(short), 0.02)
