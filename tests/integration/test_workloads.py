# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each workload by playbooks/benchmark.yml on the lab that `make lab-up` started, to its record and its page.

The image of the lab has neither NCCL nor TensorFlow: programs/ takes their arguments and prints in their formats. Their own
output is in tests/fixtures/logs.
"""

import base64
import json
import shlex
from pathlib import Path

import faults
import jsonschema
import pytest
from integration.paths import COLLECTION
from page import Page

from ansible_collections.taco.train.plugins.plugin_utils.text import number
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

INVENTORY = "inventories/lab"
NODES = ("taco-lab-node-0", "taco-lab-node-1")
PROGRAMS = Path(__file__).parent / "programs"
FOLDER = "/opt/programs"

# The options of each workload, its ranks, how many values it prints on its way, and words of its page.
CASES = {
    "nccl_tests": (
        {"binary": f"{FOLDER}/all_reduce_perf", "min_bytes": "64K", "max_bytes": "1M", "iters": 3, "warmup": 1},
        {"benchmark_device": "GPU"},
        4,
        0,
        ("GB/s", "64 KiB", "1 MiB", "all_reduce_perf, 64K to 1M bytes"),
    ),
    "tf_cnn_benchmarks": (
        {"script": str(PROGRAMS / "tf_cnn_benchmarks.py"), "model": "trivial", "batch_size": 64, "num_batches": 30},
        {},
        4,
        4,
        ("images/s", "trivial"),
    ),
    "ttf_dynamic_embedding": (
        {"demo_dir": FOLDER, "batch_size": 64, "is_dynamic": True, "dnn_layer_num": 2},
        {},
        1,
        5,
        ("steps/s", "TTF demo benchmark"),
    ),
    "command": (
        {
            "command": ["sh", "-c", "for n in 1 2 3; do echo $n tasks/s; done"],
            "pattern": "(?P<value>[0-9]+) tasks/s",
            "unit": "tasks/s",
        },
        {"benchmark_device": "CPU"},
        4,
        12,
        ("tasks/s",),
    ),
}


@pytest.fixture(scope="module", autouse=True)
def deployed(command):
    """The nodes with a training container that has the programs, and `python`, the name by which the demo of TTF is started."""
    playbooks = ("playbooks/prepare.yml", "playbooks/deploy.yml")
    done = command("ansible-playbook", *playbooks, "-i", INVENTORY, timeout=600)
    assert done.returncode == 0, done.stdout
    files = {"benchmark/train.py": PROGRAMS / "train.py", "all_reduce_perf": PROGRAMS / "all_reduce_perf"}
    lines = [f"mkdir -p {FOLDER}/benchmark", "ln -sf /usr/bin/python3 /usr/local/bin/python"]
    for name, path in files.items():
        lines.append(f"echo {base64.b64encode(path.read_bytes()).decode()} | base64 -d > {FOLDER}/{name}")
    lines.append(f"chmod 755 {FOLDER}/all_reduce_perf")
    for node in NODES:
        done = command(
            *faults.command(node, shlex.join(["docker", "exec", "taco-train", "sh", "-ec", "\n".join(lines)]))
        )
        assert done.returncode == 0, done.stdout


def test_every_workload_has_a_case():
    # test_site.py has the other one.
    assert set(CASES) | {"horovod_synthetic"} == set(WORKLOADS)


@pytest.mark.parametrize("workload", CASES)
def test_a_workload_ends_with_its_value_in_record_and_page(workload, command, tmp_path):
    options, more, ranks, printed, words = CASES[workload]
    variables = {"benchmark_workload": workload, "benchmark_options": options, "benchmark_arm": "tcp", **more}
    extra = json.dumps({"taco_results_dir": str(tmp_path), **variables})
    done = command("ansible-playbook", "playbooks/benchmark.yml", "-i", INVENTORY, "-e", extra)
    assert done.returncode == 0, done.stdout

    run = (tmp_path / "latest").resolve()
    (record,) = [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]
    jsonschema.validate(record, json.loads((COLLECTION / "docs/schemas/record-1.json").read_text()))
    assert record["outcome"] == "ok" and record["problems"] == [] and record["ranks"] == ranks, record
    result = record["result"]
    assert result["value"] > 0 and result["unit"] == words[0] and len(result["iterations"]) == printed, result

    page = Page((run / "report.html").read_text()).text
    table = (run / "table.md").read_text()
    for word in (number(result["value"]), *words):
        assert word in page, (word, page)
    assert number(result["value"]) in table and number(result["value"]) in done.stdout
