# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A comparison of the TTF demo from its preset to its verdict. The demo is a double: the real one is in the vendor's image alone."""

import json

import played

DEMO = """\
import sys
open("../arguments", "a").write(" ".join(sys.argv[1:]) + "\\n")
speed = 14 if "--is_dynamic=True" in sys.argv else 10
assert open("../data.csv").read() == "data\\n", "the data set was downloaded once"
for step in range(3):
    print(f"INFO:tensorflow:global_step/sec: {speed + step / 100}")
"""
PLAY = """
- name: Compare
  hosts: all
  gather_facts: false
  any_errors_fatal: true
  tasks:
    - name: Compare
      ansible.builtin.import_role:
        name: taco.train.compare
"""


def test_static_and_dynamic_embedding_get_a_verdict_after_one_download(tmp_path):
    demos = tmp_path / "demos"
    (demos / "benchmark").mkdir(parents=True)
    (demos / "benchmark/train.py").write_text(DEMO)
    (demos / "download_dataset.sh").write_text("echo data >> data.csv\n")
    options = {
        "compare_preset": "embedding",
        "compare_repeats": 4,
        "compare_warmup_runs": 0,
        "benchmark_dataset": True,
        "benchmark_dataset_allow_unverified": True,
        "benchmark_workload": "ttf_dynamic_embedding",
        "benchmark_options": {"demo_dir": str(demos)},
        "benchmark_exec_prefix": [],
        "benchmark_plugin_path": str(tmp_path / "libnccl-net.so"),
        "taco_gpus_per_node": 2,
        "taco_results_dir": str(tmp_path / "results"),
        "taco_state_dir": str(tmp_path / "state"),
    }
    rc, output = played.run(tmp_path, PLAY, {"gpu1": {}}, options)
    assert rc == 0, output
    said = (demos / "arguments").read_text().splitlines()
    assert (
        sorted(set(said)) == [f"--batch_size=16384 --is_dynamic={value}" for value in (False, True)] and len(said) == 8
    )
    found = json.loads((tmp_path / "results/latest/comparison.json").read_text())
    assert found["sentence"].startswith("dynamic is faster than static on TTF demo benchmark: 1.40 times"), found[
        "sentence"
    ]
    assert (found["cases"][0]["nodes"], found["cases"][0]["ranks"], found["unlike"]) == (1, 1, [])
    assert "ResNet50" not in (tmp_path / "results/latest/report.html").read_text() + output
