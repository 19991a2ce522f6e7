# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A search over the pods of a job on the stand-in for a cluster."""

import json
import os

import jsonschema
import kube_lab
import pytest
from integration.paths import COLLECTION, ROOT

INVENTORY = "inventories/kubelab"
SCRIPT = ROOT / "labs/docker/training/gradient_exchange.py"
# Short runs. Each worker needs four peers, and the nodes have two GPUs each, so the workers request none.
VARIABLES = {
    "benchmark_options": {
        "batch_size": 64,
        "num_iters": 2,
        "num_batches_per_iter": 1,
        "num_warmup_batches": 1,
        "script": str(SCRIPT),
    },
    "mpijob_workers": 5,
    "mpijob_gpus": "none",
    "mpijob_gpus_per_worker": 1,
    "mpijob_hugepages": 0,
    "mpijob_memory": "256Mi",
    "locate_max_rounds": 2,
}


@pytest.fixture
def playbook(command, tmp_path):
    """Return a function that runs a playbook on the cluster, with its results in a folder of the test."""

    def run(name, *arguments):
        path = f"{kube_lab.FOLDER / 'bin'}{os.pathsep}{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
        extra = json.dumps({"taco_results_dir": str(tmp_path), **VARIABLES})
        argv = ["ansible-playbook", f"playbooks/{name}", "-i", INVENTORY, *arguments, "-e", extra]
        done = command(*argv, timeout=600, PATH=path)
        assert done.returncode == 0, done.stdout

    return run


def test_a_search_over_pods_ends_with_an_answer_and_the_counters_of_each_pod(command, playbook, tmp_path):
    kube_lab.up(command, "v2beta1")
    playbook("prepare.yml", "--tags", "hugepages,harp,kubernetes_node")
    playbook("locate.yml", "--forks", "7")
    result = json.loads((tmp_path / "latest/locate.json").read_text())
    jsonschema.validate(result, json.loads((COLLECTION / "docs/schemas/locate-1.json").read_text()))
    assert result["answer"]["kind"] in ("nobody", "undecided") and not result["answer"]["findings"], result["sentence"]
    assert [len(one["runs"]) for one in result["search"]["rounds"]] == [5, 2]
    for line in (tmp_path / "latest/records.jsonl").read_text().splitlines():
        record = json.loads(line)
        hosts = record["witnesses"]["hosts"]
        assert record["outcome"] == "ok", record
        assert set(hosts) == {host["name"] for host in record["hosts"]} and None not in hosts.values()
