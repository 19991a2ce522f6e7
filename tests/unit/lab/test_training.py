# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's training workload: its arguments, its output and its refusal."""

import os
import re
import statistics
import subprocess
import sys

import exchange_settings
import gradient_exchange
import pytest

TOTAL = re.compile(r"^Total img/sec on (\d+) (GPU|CPU)\(s\): (\d+\.\d) \+-(\d+\.\d)\s*$")


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


@pytest.mark.parametrize("model", ["ResNet50", "resnet50", "inception_v3", "InceptionV3", "Transformer-XL", "VGG16"])
def test_models_go_by_the_names_that_frameworks_give_them(model):
    assert gradient_exchange.parse(["--model", model]).model == model


@pytest.mark.parametrize("argv", [["--model", "NoSuchNet"], ["--num-iters", "0"], ["--batch-size", "-1"]])
def test_what_makes_no_sense_is_refused(argv, capsys):
    with pytest.raises(SystemExit) as stopped:
        gradient_exchange.parse(argv)
    assert stopped.value.code == 2
    assert argv[0] in capsys.readouterr().err or "NoSuchNet" in argv


# Longer than the header of a library.
STAND_IN = "This is a stand-in for HARP's plugin, a text and no library. " * 2


@pytest.mark.parametrize(
    ("plugin", "config", "starts"),
    [(False, None, True), (True, None, False), (True, "", False), (True, "x", True), (False, "x", True)],
)
def test_the_plugin_wants_its_configuration_as_harp_does(tmp_path, plugin, config, starts):
    library = tmp_path / "libnccl-net.so"
    if plugin:
        library.write_text(STAND_IN)
    if config is not None:
        (tmp_path / "ztcp0.conf").write_text(config)
    reason = gradient_exchange.refusal(str(library), str(tmp_path / "ztcp*.conf"))
    assert (reason is None) is starts
    if not starts:
        assert "lab stand-in" in reason and str(library) in reason


def test_the_network_is_that_of_the_library_that_the_dynamic_linker_finds_first(tmp_path):
    show = [sys.executable, "-c", "import gradient_exchange; print(gradient_exchange.finds_plugin())"]
    for name, content in (("image", STAND_IN), ("empty", ""), ("moved", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / ("bak.so" if content is None else "libnccl-net.so")).write_text(content or "")
    for folders, found in ((["image"], "True"), (["empty", "image"], "False"), (["moved"], "False")):
        path = ":".join(str(tmp_path / folder) for folder in folders)
        environment = dict(os.environ, LD_LIBRARY_PATH=path, PYTHONPATH=os.path.dirname(gradient_exchange.__file__))
        assert subprocess.run(show, env=environment, capture_output=True, text=True).stdout.strip() == found


@pytest.mark.parametrize(("slowdown", "expected"), [(1.0, 6.0), (1.25, 7.5)])
def test_batches_are_slowed_down_by_the_factor(monkeypatch, slowdown, expected):
    clock = [100.0]

    def pass_by(time):
        clock[0] += time

    monkeypatch.setattr(gradient_exchange.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(gradient_exchange.time, "sleep", pass_by)
    assert gradient_exchange.seconds(lambda: pass_by(2.0), 3, slowdown) == expected


@pytest.mark.parametrize("length", [0, 1, 59999, 60000, 60001, 200000])
def test_pieces_are_small_enough_to_be_sent_without_asking(length):
    array = bytes(range(256)) * 1000
    found = gradient_exchange.pieces(array[:length])
    assert b"".join(found) == array[:length]
    assert all(0 < len(piece) <= 60000 < 64 * 1024 for piece in found)


class World:
    """A communicator as one rank sees it; what rank 0 broadcasts arrives at once."""

    def __init__(self, rank, size, arrives=None):
        self.rank, self.size, self.arrives = rank, size, arrives

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def bcast(self, found):
        return found if self.rank == 0 else self.arrives


def test_the_settings_of_rank_0_hold_everywhere(monkeypatch):
    monkeypatch.setenv("LIGHT_TOPK_RATIO", "0.5")
    found = gradient_exchange.settings_of_rank_0(World(0, 4))
    assert found.topk_ratio == 0.5
    monkeypatch.setenv("LIGHT_TOPK_RATIO", "0.25")
    assert gradient_exchange.settings_of_rank_0(World(1, 4, found)).topk_ratio == 0.5


def test_a_bad_variable_ends_every_rank_and_only_rank_0_says_why(monkeypatch):
    monkeypatch.setenv("LIGHT_TOPK_RATIO", "2")
    with pytest.raises(SystemExit) as stopped:
        gradient_exchange.settings_of_rank_0(World(0, 4))
    assert "LIGHT_TOPK_RATIO is '2'; it must be a number above 0 and up to 1" in stopped.value.code
    with pytest.raises(SystemExit) as stopped:
        gradient_exchange.settings_of_rank_0(World(1, 4, exchange_settings.SettingsError("said by rank 0")))
    assert stopped.value.code == 1
