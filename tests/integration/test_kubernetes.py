# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ways of TKE and ACK on the stand-in for a cluster: a real mpirun across two pods, and what goes wrong on the way."""

import json
import os
import subprocess
from types import SimpleNamespace

import faults
import jsonschema
import kube_lab
import pytest
from integration.bastion import NAME, bastion
from integration.paths import COLLECTION, ROOT

INVENTORY = "inventories/kubelab"
WORKERS = ["taco-bench-worker-0", "taco-bench-worker-1"]
NODES = {"taco-lab-node-0", "taco-lab-node-1"}
SCRIPT = ROOT / "labs/docker/training/gradient_exchange.py"
OPTIONS = {"batch_size": 64, "num_iters": 2, "num_batches_per_iter": 1, "num_warmup_batches": 1}
SHORT = {"benchmark_options": {**OPTIONS, "script": str(SCRIPT)}}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def playbook(command, results):
    """Return a function that runs a playbook on the cluster, with its results in a folder of the tests."""

    def run(name, *arguments, kill=None, **variables):
        path = f"{kube_lab.FOLDER / 'bin'}{os.pathsep}{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
        extra = json.dumps({"taco_results_dir": str(results), **SHORT, **variables})
        argv = ["ansible-playbook", f"playbooks/{name}", "-i", INVENTORY, *arguments, "-e", extra]
        if kill is None:
            return command(*argv, timeout=600, PATH=path)
        callback = {
            "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "tests/integration/callbacks"),
            "ANSIBLE_CALLBACKS_ENABLED": "kill_at_task",
        }
        # It kills its process group.
        return command("setsid", "--wait", *argv, timeout=600, PATH=path, **callback, **kill)

    return run


def records(results):
    run = (results / "latest").resolve()
    return SimpleNamespace(
        run=run, records=[json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]
    )


def words(done):
    """Return what was printed as words: a terminal wraps and Ansible indents."""
    return " ".join(done.stdout.split())


def require_good(found):
    schema = json.loads((COLLECTION / "docs/schemas/record-1.json").read_text())
    for record in found.records:
        jsonschema.validate(record, schema)
        assert record["outcome"] == "ok", (record["arm"], record["problems"], (found.run / record["log"]).read_text())
    assert (found.run / "report.html").exists()


@pytest.fixture(scope="module")
def v1(command):
    return kube_lab.up(command, "v1,v1alpha1")


def test_tke_goes_from_nodes_to_a_report(v1, playbook, results):
    done = playbook("tke.yml")
    assert done.returncode == 0 and "kubernetes.operator" not in words(done), done.stdout
    found = records(results)
    require_good(found)
    (record,) = found.records
    assert record["placement"].keys() == set(WORKERS)
    assert set(record["placement"].values()) == NODES
    assert record["ranks"] == 4


def test_the_job_and_its_pods_are_as_requested(v1, command):
    job, pods = v1.jobs()["taco-bench"], v1.pods()
    assert job["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "taco.train"}
    assert {one["type"] for one in job["status"]["conditions"] if one["status"] == "True"} == {"Created", "Running"}
    assert set(pods) == {*WORKERS, "taco-bench-launcher"}
    assert {pods[name]["spec"]["nodeName"] for name in WORKERS} == NODES
    for name in WORKERS:
        resources = pods[name]["spec"]["containers"][0]["resources"]
        assert resources["limits"] == resources["requests"]
        assert resources["limits"]["hugepages-1Gi"] == "1Gi" and str(resources["limits"]["nvidia.com/gpu"]) == "2"
    mpirun = ["mpirun", "--allow-run-as-root", "--host", ",".join(f"{name}:1" for name in WORKERS), "hostname"]
    kubectl = [
        kube_lab.FOLDER / "bin/kubectl",
        f"--kubeconfig={kube_lab.FOLDER / 'config'}",
        "exec",
        "taco-bench-launcher",
        "--",
    ]
    done = command(*kubectl, *mpirun)
    assert done.returncode == 0 and set(WORKERS) <= set(done.stdout.split()), done.stdout


def test_a_job_that_runs_is_left_alone_also_when_the_api_is_away_for_a_moment(v1, playbook):
    before = {name: pod["metadata"]["uid"] for name, pod in v1.pods().items()}
    for code in (500, 503, 429):
        v1.tell("fail", method="GET", path="/mpijobs|/pods", status=code, times=1)
    done = playbook("mpijob.yml")
    assert done.returncode == 0, done.stdout
    assert {name: pod["metadata"]["uid"] for name, pod in v1.pods().items()} == before


def test_the_way_back_of_one_node_leaves_the_job_and_says_so(v1, playbook):
    before = {name: pod["metadata"]["uid"] for name, pod in v1.pods().items()}
    done = playbook("rollback.yml", "--limit", "taco-lab-node-0", "--tags", "mpijob")
    assert done.returncode == 0 and "the MPIJob taco-bench" in words(done), done.stdout
    assert "run the playbook without --limit" in words(done)
    assert {name: pod["metadata"]["uid"] for name, pod in v1.pods().items()} == before and v1.jobs()


def logged(results):
    """The names of the pods whose logs were kept."""
    return {path.stem for folder in results.glob("*/pods") for path in folder.iterdir()}


def test_a_worker_that_crashes_fails_the_run_and_is_named_and_the_job_is_removed_with_its_logs(v1, playbook, results):
    """Its container is killed, as the kernel would for its memory."""
    pod = v1.pods()["taco-bench-worker-1"]
    argv = v1.ask("/api/v1/namespaces/default/pods/taco-bench-worker-1/exec", {})["argv"]
    engine = argv[: argv.index("docker", 1) + 1]
    subprocess.run([*engine, "kill", argv[-1]], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    done = playbook("benchmark.yml", mpijob_wait_timeout=15)
    assert done.returncode != 0
    assert pod["metadata"]["name"] in words(done)
    gone = playbook("mpijob.yml", mpijob_state="absent")
    assert gone.returncode == 0, gone.stdout
    assert not v1.pods() and not v1.jobs()
    assert {*WORKERS, "taco-bench-launcher"} <= logged(results)


def require_as_before(cluster):
    """Check that no pod is left and that the nodes schedule their GPUs as before."""
    assert not cluster.pods()
    for node in cluster.nodes().values():
        assert "ack.node.gpu.schedule" not in node["metadata"]["labels"]
        assert node["status"]["allocatable"]["nvidia.com/gpu"] == "2"


ON_ACK = ("-e", "@labs/kubernetes/ack.yml")
ON_NODES = "/opt/bench"
CONFIG = "/usr/local/tfabric/tools/config"
IN_A_RUN = {"KILL_AT_TASK": "Run the benchmark for each run of the series", "KILL_AFTER_SECONDS": "3"}
DEFAULT, TOPOLOGY = "default_tcp", "topology_tcp"
# The second run of the workers that were placed by topology. Its command has ended then, and its record is not in the file.
BEFORE_THE_RECORD = {
    "KILL_AT_CALL": "ansible_collections.taco.train.plugins.plugin_utils.run.record_file.append",
    "KILL_AFTER_CALLS": "2",
}


def require_killed(done):
    assert done.returncode != 0 and "PLAY RECAP" not in done.stdout, done.stdout


def recorded(results):
    """The folders of the runs that have records."""
    return {path.parent.resolve() for path in results.glob("*/records.jsonl")}


def case_of(record):
    return record["arm"], record["case"]["repeat"]


def test_ack_that_is_killed_is_resumed_compares_both_placements_and_restores_the_nodes(v1, playbook, results):
    before = recorded(results)
    require_killed(playbook("ack.yml", *ON_ACK, kill=BEFORE_THE_RECORD))
    assert list(v1.jobs()) == ["taco-bench"]
    assert {pod["status"]["phase"] for pod in v1.pods().values()} == {"Running"}
    found = records(results)
    assert [case_of(record) for record in found.records] == [(DEFAULT, 0), (TOPOLOGY, 0)]
    done = playbook("ack.yml", *ON_ACK)
    assert done.returncode == 0, done.stdout
    found = records(results)
    require_good(found)
    assert recorded(results) - before == {found.run}
    assert sorted(map(case_of, found.records)) == [(arm, number) for arm in (DEFAULT, TOPOLOGY) for number in range(4)]
    assert json.loads((found.run / "comparison.json").read_text())["complete"]
    assert not v1.jobs()
    # By topology a worker's place also says which GPUs it was given.
    places = [place for record in found.records for place in record["placement"].values()]
    assert {place if isinstance(place, str) else place["node"] for place in places} == NODES
    given = [place["gpu_visible"] for place in places if not isinstance(place, str)]
    assert given == ["0,1"] * (len(places) // 2)
    # The counters before and after a run are those of the same pods.
    counted = [record for record in found.records if "witnesses" in record]
    assert {record["arm"] for record in counted} == {DEFAULT, TOPOLOGY}
    assert all(record["witnesses"]["hosts"][name]["nics"] for record in counted for name in WORKERS)
    require_as_before(v1)


def test_arena_is_killed_restored_and_submits_the_benchmark_as_the_job(v1, playbook, results):
    require_killed(playbook("ack.yml", *ON_ACK, kill=IN_A_RUN, ack_submit="arena"))
    assert v1.pods()
    restored = playbook("ack.yml", *ON_ACK, ack_state="restored", ack_submit="arena", taco_interrupt_running_work=True)
    assert restored.returncode == 0, restored.stdout
    require_as_before(v1)
    # The script is on the nodes, as in the vendor's image, since nothing can be copied into a pod before its command runs. Nor can
    # the plugin of the lab's image be removed before, so it finds a configuration.
    for node in NODES:
        copy = faults.command(
            node, f"mkdir -p {ON_NODES}/config && tee {ON_NODES}/{SCRIPT.name} > {ON_NODES}/config/ztcp0.conf"
        )
        subprocess.run(copy, input=SCRIPT.read_bytes(), check=True)
    there = {
        "benchmark_arm": {"name": "image", "plugin": "keep"},
        "benchmark_options": {**OPTIONS, "script": f"{ON_NODES}/{SCRIPT.name}"},
        "mpijob_mounts": [f"{ON_NODES}:{ON_NODES}", f"{ON_NODES}/config:{CONFIG}"],
    }
    done = playbook("ack.yml", *ON_ACK, ack_state="submitted", **there)
    assert done.returncode == 0, done.stdout
    require_good(records(results))
    require_as_before(v1)


def test_a_cluster_of_v2beta1_runs_the_same_and_is_asked_from_another_host(command, playbook, results, tmp_path):
    cluster = kube_lab.up(command, "v2beta1")
    with bastion(tmp_path) as inventory:
        from_there = {"taco_kube_host": NAME}
        done = playbook("prepare.yml", "-i", inventory, "--tags", "hugepages,harp,kubernetes_node", **from_there)
        assert done.returncode == 0, done.stdout
        done = playbook("benchmark.yml", "-i", inventory, **from_there)
        assert done.returncode == 0 and f"-> {NAME}" in done.stdout, done.stdout
    require_good(records(results))
    launcher = next(name for name in cluster.pods() if "launcher" in name)
    assert launcher != "taco-bench-launcher"
    gone = playbook("rollback.yml")
    assert gone.returncode == 0, gone.stdout
    assert not cluster.pods() and not cluster.jobs("v2beta1") and launcher in logged(results)
    assert not any(node["spec"].get("unschedulable") for node in cluster.nodes().values())
