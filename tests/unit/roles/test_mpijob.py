# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook of the benchmark on a stand-in of a cluster whose pods, behind a kubectl of the test, are this machine."""

import json
import os
import sys

import playbook
import pytest
import yaml
from kubelab.testing import running_cluster

ALLOCATABLE = {"cpu": "96", "memory": "900Gi", "hugepages-1Gi": "60Gi", "nvidia.com/gpu": "8", "pods": "110"}
# Whatever follows the double dash is run here, and what comes before it is kept.
KUBECTL = """\
#!/bin/sh
while [ "$1" != -- ]; do said="$said $1"; shift; done
echo "$said" >> {calls}
shift
exec "$@"
"""
MPIRUN = """\
#!/bin/sh
cat <<'END'
Model: ResNet50
Batch size: 8
Number of CPUs: 4
Iter #0: 100.0 img/sec per CPU
Img/sec per CPU: 100.0 +-0.0
Total img/sec on 4 CPU(s): 400.0 +-0.0
END
"""


class Site:
    """Two nodes, the programs of the test, and what plays have left behind."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        self.calls = folder / "calls"
        for name, text in (("kubectl", KUBECTL.format(calls=self.calls)), ("mpirun", MPIRUN)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        (folder / "libnccl-net.so").write_text("the plugin")

    def play(self, name, *arguments, **variables):
        common = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "ansible_become": False,
            "taco_platform": "tke",
            "taco_kubeconfig": self.cluster.kubeconfig,
            "taco_gpus_per_node": 2,
            "taco_lab": True,
            "taco_results_dir": str(self.folder / "results"),
            "taco_state_dir": str(self.folder / "state"),
            "benchmark_mpirun": str(self.folder / "mpirun"),
            "benchmark_device": "CPU",
            "benchmark_options": {"batch_size": 8},
            "benchmark_plugin_path": str(self.folder / "libnccl-net.so"),
            "mpijob_python": sys.executable,
            "mpijob_poll": 0.2,
            **variables,
        }
        nodes = {
            "node-a": {"taco_node": {"hostname": "a"}},
            "node-b": {"taco_node": {"hostname": "b"}, "taco_node_name": "b"},
        }
        inventory = self.folder / "hosts.yml"
        inventory.write_text(yaml.safe_dump({"gpu_nodes": {"hosts": nodes, "vars": common}}))
        settings = {
            "ANSIBLE_DISPLAY_OK_HOSTS": "true",
            "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "true",
            # Both pods are this machine: ansible.builtin.copy creates their folder only for one at a time.
            "ANSIBLE_FORKS": "1",
            "PATH": os.pathsep.join([str(self.folder), os.environ["PATH"]]),
        }
        command = [playbook.ROOT / f"playbooks/{name}.yml", "-i", inventory, *arguments]
        status, output = playbook.run(self.folder, command, **settings)
        return status, " ".join(output.split())


@pytest.fixture
def site(tmp_path):
    with running_cluster(
        [{"name": name, "allocatable": ALLOCATABLE} for name in ("node-a", "b")], serve=("v2beta1",)
    ) as cluster:
        yield Site(cluster, tmp_path)


def test_the_benchmark_runs_in_the_pods_and_its_record_says_where_they_were(site):
    script = site.folder / "synthetic_benchmark.py"
    script.write_text("print('mpirun is a double here')\n")
    rc, output = site.play(
        "benchmark",
        "--tags",
        "benchmark",
        "-e",
        json.dumps({"benchmark_options": {"script": str(script), "batch_size": 8}}),
    )
    assert rc == 0, output
    # It is shown while the task runs.
    assert output.index("2 of 2 workers ready, launcher") < output.index("The MPIJob taco-bench")
    (line,) = (site.folder / "results/latest/records.jsonl").read_text().splitlines()
    record = json.loads(line)
    workers = ["taco-bench-worker-0", "taco-bench-worker-1"]
    assert record["outcome"] == "ok" and record["ranks"] == 4
    assert record["script"]["source"] == str(script)
    assert list(record["placement"]) == workers and sorted(record["placement"].values()) == ["b", "node-a"]
    # The machine of a record is the node, and neither the pod nor another node.
    assert {name: system["hostname"][0] for name, system in record["system"].items()} == {
        name: {"node-a": "a", "b": "b"}[node] for name, node in record["placement"].items()
    }
    assert record["hosts"] == [{"name": f"{name}.taco-bench.default.svc", "slots": 2} for name in workers]
    assert record["parameters"]["launcher"].startswith("taco-bench-launcher-")
    calls = site.calls.read_text().splitlines()
    assert any(f"exec -i {record['parameters']['launcher']} -c mpi-launcher" in call for call in calls)
    assert all(f"--kubeconfig {site.cluster.kubeconfig}" in call for call in calls)

    rc, output = site.play("mpijob", "-e", "mpijob_state=absent")
    assert rc == 0, output
    assert site.cluster.objects("MPIJob") == []
    kept = {path.stem for path in site.folder.glob("results/*/pods/*.log")}
    assert kept == {*workers, record["parameters"]["launcher"]}


def test_check_mode_says_what_would_be_made_and_runs_nothing_on_the_nodes(site):
    rc, output = site.play("benchmark", "--check")
    assert rc == 0, output
    assert "would have created the MPIJob taco-bench" in output
    assert "would run" not in output
    assert site.cluster.objects("MPIJob") == []


def test_a_limit_without_the_pods_is_refused(site):
    rc, output = site.play("benchmark", "--limit", "node-a")
    assert rc != 0
    assert "taco_workers:taco_launcher" in output
    assert site.cluster.objects("MPIJob") == []


def test_machines_without_a_cluster_skip_two_tasks_and_stay_the_hosts(site):
    rc, output = site.play("benchmark", "--check", taco_platform="cvm")
    assert rc == 0, output
    before, _play, _benchmark = output.partition("PLAY [Run the benchmark")
    assert before.count("skipping: [") == before.count("skipping: [node-") == 3 and "ok: [" not in before
    assert "node-a would run docker exec taco-train" in output
    assert site.cluster.requests == []
