# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nvidia-smi printed for a real GPU, idle and under load."""

from pathlib import Path

from ansible_collections.taco.train.plugins.module_utils._node import counters, details, gpus
from ansible_collections.taco.train.plugins.module_utils._process.running_work import Work, parse_compute_apps

FOLDER = Path(__file__).parents[3] / "fixtures/nvidia_smi"
UUID = "GPU-acbda39a-ff1d-ca06-dc81-21eb2d43ec5a"


def printed(name):
    return (FOLDER / f"{name}.csv").read_text(encoding="ascii")


def test_the_gpu():
    found = gpus.judge_gpus(printed("gpus"), [])
    assert (found["count"], found["driver_version"]) == (1, "580.159.04")
    assert found["devices"] == [{"index": 0, "pci": "0000:00:06.0", "name": "NVIDIA H200", "uuid": UUID}]


def test_its_settings():
    settings = details.gpu_settings(printed("details"))["0000:00:06.0"]
    assert (
        settings["clock_max"] == "1980" and settings["ecc_mode"] == "Enabled" and settings["vbios"] == "96.00.A5.00.1A"
    )
    assert len(settings) == len(details.GPU)


def test_its_state_idle_and_under_load():
    known = {"clock_max": 1980, "reasons": [], "corrected": 0, "uncorrected": 0}
    assert counters.parse(printed("state_idle")) == {UUID: dict(known, clock=345, temperature=38, idle=True)}
    assert counters.parse(printed("state_busy")) == {UUID: dict(known, clock=1980, temperature=47, idle=False)}


def test_its_samples_before_and_after_the_load_do_not_count():
    found = counters.Range()
    for name in ("state_idle", "state_busy", "state_idle"):
        found.add(printed(name))
    assert found.found == {UUID: {"samples": 1, "reasons": [], "clock": 1980, "clock_max": 1980, "temperature": 47}}


def test_its_process():
    assert parse_compute_apps(printed("compute_apps")) == [Work(1072, "", "python3", f"GPU {UUID}")]
