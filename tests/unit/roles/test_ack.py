# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook for ACK against a cluster that gives its nodes' GPUs the name that their label asks for.

Pods are this machine: kubectl runs what it is to run in them here. Whole comparisons are tests/integration/test_kubernetes.py's.
"""

import json
import os
import shlex
import sys
import threading
from pathlib import Path

import playbook
import pytest
import yaml
from kubelab.testing import running_cluster
from recorded import real_logs

ROOT = Path(__file__).parents[3]
LABEL, BEFORE = "ack.node.gpu.schedule", "taco.train/gpu-schedule-before"
ALLOCATABLE = {"cpu": "96", "memory": "900Gi", "pods": "110", "nvidia.com/gpu": "8", "hugepages-1Gi": "0"}
KUBECTL = """#!/bin/sh
echo "$@" >> {folder}/kubectl.log
case "$*" in *"get mpijobs.kubeflow.org"*)
  echo '{"kind": "MPIJob", "metadata": {"labels": {"app.kubernetes.io/managed-by": "taco.train"}}}'
  exit;;
  *"get pods --selector"*) exit;;
esac
if [ -e {folder}/unreachable ]; then echo "error: unable to upgrade connection: pod not found" >&2; exit 1; fi
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


class Watcher(threading.Thread):
    """Writes down how the nodes schedule."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.over, self.seen = cluster, threading.Event(), []

    def run(self):
        while not self.over.wait(0.05):
            labels = [(node["metadata"].get("labels") or {}).get(LABEL) for node in self.cluster.objects("Node")]
            if not self.seen or self.seen[-1] != labels:
                self.seen.append(labels)


class Lab:
    """A cluster of two nodes, and plays over it."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        (folder / "bin").mkdir()
        self.program("bin/kubectl", KUBECTL)
        self.program("bin/arena", f'#!/bin/sh\nexec {sys.executable} -IS {ROOT}/tests/support/fake_arena.py "$@"\n')
        self.watcher = Watcher(cluster)
        self.watcher.start()

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text.replace("{folder}", str(self.folder)))
        path.chmod(0o755)

    def variables(self):
        return {
            "ansible_python_interpreter": sys.executable,
            "taco_platform": "ack",
            "taco_lab": True,
            "taco_gpus_per_node": 2,
            "taco_kubeconfig": self.cluster.kubeconfig,
            "taco_results_dir": str(self.folder / "results"),
            "taco_state_dir": str(self.folder / "state"),
            "mpijob_python": sys.executable,
            "mpijob_privileged": False,
            "mpijob_hugepages": 0,
            "mpijob_shm_size": 0,
            "mpijob_mounts": [],
            "mpijob_memory": "4Gi",
            "mpijob_poll": 0.1,
            "mpijob_wait_timeout": 30,
            "gpu_topology_poll": 0.1,
            "gpu_topology_timeout": 20,
            "benchmark_device": "CPU",
            "benchmark_options": {"model": "VGG16", "batch_size": 8},
            "benchmark_progress": False,
            "benchmark_plugin_path": str(self.folder / "libnccl-net.so"),
            "compare_repeats": 4,
            "compare_warmup_runs": 0,
        }

    def play(self, book, *arguments, **variables):
        hosts = {name: {"taco_node_name": f"cn-shanghai.{name}"} for name in ("gpu1", "gpu2")}
        inventory = {"gpu_nodes": {"hosts": hosts, "vars": {**self.variables(), **variables}}}
        (self.folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        arguments = [book, "-i", "hosts.yml", *arguments]
        status, output = playbook.run(self.folder, arguments, FAKE_ARENA=self.folder, PATH=path)
        return status, " ".join(output.split())

    def ack(self, *arguments, **variables):
        return self.play(ROOT / "playbooks/ack.yml", *arguments, **variables)

    def metadata(self):
        return [
            ((one["metadata"].get("labels") or {}).get(LABEL), (one["metadata"].get("annotations") or {}).get(BEFORE))
            for one in self.cluster.objects("Node")
        ]


@pytest.fixture
def lab(tmp_path):
    nodes = [{"name": f"cn-shanghai.gpu{number}", "allocatable": dict(ALLOCATABLE), "labels": {}} for number in (1, 2)]
    with running_cluster(nodes) as cluster:
        found = Lab(cluster, tmp_path)
        yield found
        found.watcher.over.set()
        found.watcher.join()


def test_pods_that_nobody_can_reach_are_taken_down_and_the_labels_put_back(lab):
    (lab.folder / "unreachable").touch()
    rc, output = lab.ack(ack_arms=["topology", "default"])
    assert rc != 0 and "pod not found" in output, output
    assert ["topology"] * 2 in lab.watcher.seen
    assert lab.metadata() == [(None, None)] * 2 and lab.cluster.objects("MPIJob") == []


SUBMITTED = {
    "ack_state": "submitted",
    "benchmark_workload": "tf_cnn_benchmarks",
    "benchmark_device": "GPU",
    "benchmark_options": {
        "model": "vgg16",
        "batch_size": 8,
        "script": "/tensorflow/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py",
    },
    "benchmark_arm": {"name": "image", "plugin": "keep"},
}


def submitted(lab, *logs, **changes):
    """Run the benchmark as the command of a job of Arena, and return its status, its output and its record."""
    plan = {"statuses": ["PENDING", "RUNNING", *logs[1:]], "log": logs[0]}
    (lab.folder / "plan.json").write_text(json.dumps(plan))
    rc, output = lab.ack(**{**SUBMITTED, **changes})
    path = lab.folder / "results/latest/records.jsonl"
    return rc, output, [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_the_command_of_a_job_of_arena_is_recorded(lab):
    _expected, log = real_logs()["tf_cnn_ompi4_tag"]
    rc, output, found = submitted(lab, log, "SUCCEEDED")
    assert rc == 0, output
    (record,) = found
    assert (record["outcome"], record["result"]["value"], record["arm"]) == ("ok", 806.12, "image"), record["problems"]
    assert record["hosts"] == [{"name": f"taco-bench-worker-{number}", "slots": 2} for number in (0, 1)]
    calls = [json.loads(line) for line in (lab.folder / "calls.jsonl").read_text().splitlines()]
    (call,) = [one for one in calls if one[0] == "submit"]
    assert "--gputopology=true" in call and shlex.split(call[-1]) == record["argv"]
    assert "tf_cnn_benchmarks.py" in call[-1] and "taco-bench-worker-1:2" in call[-1]
    assert lab.metadata() == [(None, None)] * 2 and not json.loads((lab.folder / "jobs.json").read_text())
    assert "806" in (lab.folder / "results/latest/report.html").read_text()


def test_a_command_of_a_job_of_arena_that_failed_is_a_failed_run(lab):
    said = "ModuleNotFoundError: No module named 'tensorflow'\n"
    rc, output, found = submitted(lab, said, "FAILED", ack_placement="default")
    assert rc != 0 and len(found) == 1, output
    (record,) = found
    assert record["outcome"] == "failed" and "tensorflow" in record["problems"][0], output
    assert lab.metadata() == [(None, None)] * 2 and not json.loads((lab.folder / "jobs.json").read_text())


def test_a_script_that_is_not_in_the_image_is_refused_before_the_job(lab):
    script = {"script": "https://example.com/bench.py", "script_checksum": "none"}
    options = dict(SUBMITTED["benchmark_options"], **script)
    rc, output, found = submitted(lab, "", "SUCCEEDED", benchmark_options=options)
    assert rc != 0 and "which is not in the image" in output and found == [], output
    calls = (lab.folder / "calls.jsonl").read_text() if (lab.folder / "calls.jsonl").exists() else ""
    assert '["submit"' not in calls


PLACE = """
- name: Place through Arena, and put the cluster back
  hosts: taco_workers
  gather_facts: false
  tasks:
    - name: Place
      ansible.builtin.include_role:
        name: taco.train.placement
      vars:
        placement_policy: topology
    - name: Write down what the pods are
      ansible.builtin.copy:
        dest: "{{ taco_state_dir }}-seen.json"
        content: "{{ hostvars | dict2items | items2dict | to_json }}"
      delegate_to: localhost
      run_once: true
    - name: Put back
      ansible.builtin.include_role:
        name: taco.train.placement
        tasks_from: absent
"""


def test_arena_places_the_workers_too(lab):
    (lab.folder / "place.yml").write_text(PLACE)
    workers = {f"taco-bench-worker-{number}": {"taco_node": {}} for number in (0, 1)}
    given = {"placement_submit": "arena", "placement_nodes": ["cn-shanghai.gpu1", "cn-shanghai.gpu2"]}
    variables = {"taco_workers": {"hosts": workers, "vars": {**lab.variables(), **given}}}
    (lab.folder / "workers.yml").write_text(yaml.safe_dump(variables))
    rc, output = lab.play("place.yml", "-i", "workers.yml")
    assert rc == 0, output
    seen = json.loads((lab.folder / "state-seen.json").read_text())
    launcher = seen["taco-bench-worker-0"]["benchmark_launcher"]
    assert launcher.startswith("taco-bench-launcher-x")
    assert seen["taco-bench-worker-1"]["benchmark_hosts"] == [
        {"name": "taco-bench-worker-0", "slots": 2},
        {"name": "taco-bench-worker-1", "slots": 2},
    ]
    assert seen[launcher]["ansible_kubectl_container"] == "mpi"
    assert seen["taco-bench-worker-0"]["taco_pod"]["node"] == "n2" and seen["taco-bench-worker-0"]["taco_node"]
    calls = [json.loads(line) for line in (lab.folder / "calls.jsonl").read_text().splitlines()]
    (submitted,) = [call for call in calls if call[0] == "submit"]
    assert "--gputopology=true" in submitted and f"--config={lab.cluster.kubeconfig}" in submitted
    assert ["topology"] * 2 in lab.watcher.seen and lab.metadata() == [(None, None)] * 2
    assert not json.loads((lab.folder / "jobs.json").read_text())


def left_over(lab):
    """Put on the nodes what a run that was killed leaves."""
    for node in lab.cluster.objects("Node"):
        node["metadata"].setdefault("labels", {})[LABEL] = "topology"
        node["metadata"].setdefault("annotations", {})[BEFORE] = "null"
        lab.cluster.put(node)
    return lab.metadata()


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        (["--limit", "gpu1"], {}, "--limit is gpu1, and the workers that will be added as hosts are not in it"),
        ([], {"ack_state": "restore"}, "ack_state is restore: expected one of compared, submitted, restored"),
        ([], {"ack_state": "compared", "ack_arms": ["topology"]}, "ack_arms is ['topology']: expected a list of two"),
        ([], {"ack_submit": "Arena"}, "ack_submit is Arena: expected one of native, arena"),
    ],
)
def test_what_the_playbook_can_not_do_is_refused_before_anything_is_changed(lab, arguments, variables, said):
    before = left_over(lab)
    rc, output = lab.ack(*arguments, **{"ack_state": "restored", **variables})
    assert rc != 0 and said in output, output
    assert lab.metadata() == before


def test_a_limit_with_the_workers_restores_the_nodes_in_it(lab):
    left_over(lab)
    rc, output = lab.ack("--limit", "gpu1:gpu2:taco_workers:taco_launcher", ack_state="restored")
    assert rc == 0 and lab.metadata() == [(None, None)] * 2, output


def test_check_mode_tells_what_would_be_restored_and_changes_nothing(lab):
    before = left_over(lab)
    rc, output = lab.ack("--check", ack_state="restored")
    assert rc == 0 and "changed=1" in output, output
    rc, output = lab.ack("--check", "--diff", ack_state="restored", ack_submit="arena")
    assert rc == 0 and '"cn-shanghai.gpu1": null' in output, output
    assert lab.metadata() == before and all(request[0] == "GET" for request in lab.cluster.requests)


def test_check_mode_tells_that_the_labels_come_after_the_job(lab):
    job = {"name": "taco-bench", "workers": 2, "gpus": 2, "gputopology": True, "namespace": "default"}
    (lab.folder / "jobs.json").write_text(json.dumps({"taco-bench": {**job, "gets": 2, "suffix": "x"}}))
    before = left_over(lab)
    rc, output = lab.ack("--check", ack_state="restored", ack_submit="arena")
    assert rc == 0 and "The job would be removed, and then the labels of the 2 nodes would be restored" in output
    assert lab.metadata() == before and "taco-bench" in (lab.folder / "jobs.json").read_text()
