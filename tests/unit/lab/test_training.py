# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's training workload: its arithmetic, its output and its refusal."""

import re
import statistics
import subprocess
import sys

import pytest
from training import gradient_exchange

TOTAL = re.compile(r"^Total img/sec on (\d+) (GPU|CPU)\(s\): (\d+\.\d) \+-(\d+\.\d)\s*$")


@pytest.mark.parametrize(
    ("length", "parts", "expected"),
    [
        (8, 4, [(0, 2), (2, 4), (4, 6), (6, 8)]),
        (5, 2, [(0, 2), (2, 5)]),
        (1, 3, [(0, 0), (0, 0), (0, 1)]),
        (7, 1, [(0, 7)]),
    ],
)
def test_chunks(length, parts, expected):
    assert gradient_exchange.chunks(length, parts) == expected


def test_the_steps_of_three_ranks():
    assert gradient_exchange.ring_steps(0, 3) == [(0, 2, True), (2, 1, True), (1, 0, False), (0, 2, False)]
    assert gradient_exchange.ring_steps(0, 1) == []


def test_the_last_lines_are_horovods():
    rates = [698.3, 700.1, 696.2]
    device, total = gradient_exchange.summary(rates, 16)
    mean, spread = statistics.mean(rates), 1.96 * statistics.pstdev(rates)
    assert device == f"Img/sec per CPU: {mean:.1f} +-{spread:.1f}"
    assert total == f"Total img/sec on 16 CPU(s): {16 * mean:.1f} +-{16 * spread:.1f}"
    assert TOTAL.match(total).groups() == ("16", "CPU", "11171.2", "50.0")


def test_the_arguments_are_horovods_with_its_defaults():
    found = gradient_exchange.parse(["--fp16-allreduce", "--no-cuda"])
    assert (found.model, found.batch_size, found.num_warmup_batches) == ("ResNet50", 32, 10)
    assert (found.num_batches_per_iter, found.num_iters, found.fp16_allreduce) == (10, 10, True)


@pytest.mark.parametrize("argv", [["--model", "NoSuchNet"], ["--num-iters", "0"], ["--batch-size", "-1"]])
def test_what_makes_no_sense_is_refused(argv, capsys):
    with pytest.raises(SystemExit) as stopped:
        gradient_exchange.parse(argv)
    assert stopped.value.code == 2
    assert argv[0] in capsys.readouterr().err or "NoSuchNet" in argv


@pytest.mark.parametrize(
    ("plugin", "config", "starts"),
    [(False, None, True), (True, None, False), (True, "", False), (True, "x", True), (False, "x", True)],
)
def test_the_plugin_wants_its_configuration_as_harp_does(tmp_path, plugin, config, starts):
    library = tmp_path / "libnccl-net.so"
    if plugin:
        library.write_text("a stand-in")
    if config is not None:
        (tmp_path / "ztcp0.conf").write_text(config)
    reason = gradient_exchange.refusal(str(library), str(tmp_path / "ztcp*.conf"))
    assert (reason is None) is starts
    if not starts:
        assert "lab stand-in" in reason and str(library) in reason


def test_a_plugin_moved_aside_is_no_plugin(tmp_path):
    (tmp_path / "libnccl-net.so_bak").write_text("a stand-in")
    assert gradient_exchange.refusal(str(tmp_path / "libnccl-net.so"), str(tmp_path / "ztcp*.conf")) is None


def test_help_needs_neither_mpi_nor_numpy():
    done = subprocess.run(
        [sys.executable, "-S", gradient_exchange.__file__, "--help"], stdout=subprocess.PIPE, check=True
    )
    assert b"--num-batches-per-iter" in done.stdout
