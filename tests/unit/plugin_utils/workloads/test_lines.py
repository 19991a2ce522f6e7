# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands before the lines of a log: tags of mpirun, of kubectl and of docker, and what any other launcher puts before each."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line, clean, tagged_lines


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("[1,3]<stdout>:a", Line("a", 3)),
        ("[1,3][gpu1:4711]<stderr>: a", Line("a", 3, "gpu1")),
        ("[prterun-gpu1-99@1,3]<stdout>:a", Line("a", 3)),
        ("[3]<stdout>:a", Line("a", 3)),
        ("Mon Jan 12 10:11:12 2026[1,3]<stdout>:a", Line("a", 3)),
        ("[Mon Jan 12 10:11:12 2026]<stdout>:a", Line("a")),
        ("2026-01-12T10:11:12.123456789Z [1,3]<stdout>:a", Line("a", 3)),
        ("2026-01-12T10:11:12.123+01:00 stdout F a", Line("a")),
        ("[pod/job-launcher-x1/mpi] 2026-01-12T10:11:12Z [1,3]<stdout>:a", Line("a", 3, None)),
        ("[pod/job-worker-1/mpi] 2026-01-12T10:11:12Z a", Line("a", None, "job-worker-1")),
        ("[1,3]<stderr>:[rank5]: a", Line("a", 5)),
        ("\x1b[31m[rank5]: a\x1b[0m", Line("a", 5)),
        ("gpu1:4711:4720 [0] NCCL INFO a", Line("gpu1:4711:4720 [0] NCCL INFO a")),
        ("[1/3] a", Line("[1/3] a")),
    ],
)
def test_the_prefixes_of_a_line_name_its_rank_and_its_host(raw, line):
    assert clean(raw) == line


@pytest.mark.parametrize(
    ("prefixes", "rank"),
    [
        (["(head, rank=0, pid=3808) ", "(worker1, rank=1, pid=2769, ip=198.51.100.13) "], 0),
        (["worker-1  | "], None),
        (["12: "], 12),
        (["[trainer0]:", "[trainer1]:"], None),
        (["bert-launcher-x7k2f mpi "], None),
        (["job.node1 [stdout]: "], None),
        (["> "], None),
    ],
)
def test_any_prefix_is_removed_where_most_lines_have_it(prefixes, rank):
    text = "".join(f"{prefixes[number % len(prefixes)]}Iter #{number}: 10.0 img/sec per GPU\n" for number in range(8))
    lines = tagged_lines(f"queued and waiting\n{text}")[1:]
    assert [line.text for line in lines] == [f"Iter #{number}: 10.0 img/sec per GPU" for number in range(8)] + [""]
    assert lines[0].rank == rank


def test_a_foreign_prefix_stands_before_the_tag_of_mpirun():
    text = "".join(f"(head, rank=0, pid=38) [1,{rank}]<stdout>:row {rank}\n" for rank in range(4))
    assert tagged_lines(text)[:4] == [Line(f"row {rank}", rank) for rank in range(4)]


def test_lines_that_begin_in_several_ways_keep_their_begin():
    text = "Model: resnet50\nBatch size: 32\nloss: 3\nloss: 2\nloss: 1\nTotal img/sec: 8\n"
    assert [line.text for line in tagged_lines(text)] == [*text.splitlines(), ""]


def test_a_line_that_mpirun_cut_is_joined_with_its_rest():
    text = "[1,0]<stdout>:Total im[1,1]<stdout>:from 1\n[1,0]<stdout>:g/sec: 8\n"
    assert [line for line in tagged_lines(text) if line.text] == [Line("from 1", 1), Line("Total img/sec: 8", 0)]
