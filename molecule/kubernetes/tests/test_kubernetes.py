# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is in the cluster, and in its pods, after converge."""

import base64
import json
import ssl
import urllib.request
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
testinfra_hosts = ["local://"]
WORKERS = ("taco-bench-worker-0", "taco-bench-worker-1")


@pytest.fixture(scope="module")
def get():
    config = yaml.safe_load((ROOT / ".lab/kube/config").read_text())
    cluster, token = config["clusters"][0]["cluster"], config["users"][0]["user"]["token"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    tls = urllib.request.HTTPSHandler(context=ssl.create_default_context(cadata=authority))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), tls)

    def read(path):
        request = urllib.request.Request(cluster["server"] + path, headers={"Authorization": "Bearer " + token})
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)

    return read


@pytest.fixture
def pods(get):
    return {pod["metadata"]["name"]: pod for pod in get("/api/v1/namespaces/default/pods")["items"]}


def test_the_job_runs(get):
    job = get("/apis/kubeflow.org/v1/namespaces/default/mpijobs/taco-bench")
    true = {one["type"] for one in job["status"]["conditions"] if one["status"] == "True"}
    assert true == {"Created", "Running"}


def test_each_worker_has_a_node_of_its_own(pods):
    assert set(pods) == {*WORKERS, "taco-bench-launcher"}
    assert {pods[name]["spec"]["nodeName"] for name in WORKERS} == {"taco-lab-node-0", "taco-lab-node-1"}


def test_a_worker_asks_for_pages_and_gpus(pods):
    for name in WORKERS:
        resources = pods[name]["spec"]["containers"][0]["resources"]
        assert resources["limits"] == resources["requests"]
        assert resources["limits"]["hugepages-1Gi"] == "1Gi"
        assert str(resources["limits"]["nvidia.com/gpu"]) == "2"


def test_the_nodes_take_pods(get):
    nodes = get("/api/v1/nodes")["items"]
    assert [node["status"]["allocatable"]["hugepages-1Gi"] for node in nodes] == ["1Gi", "1Gi"]
    assert not any(node["spec"].get("unschedulable") for node in nodes)


def test_the_launcher_reaches_the_workers(host):
    kubectl = f"KUBECONFIG={ROOT}/.lab/kube/config {ROOT}/.lab/kube/bin/kubectl"
    inner = "mpirun --allow-run-as-root --host %s hostname" % ",".join(name + ":1" for name in WORKERS)
    done = host.run(f"{kubectl} exec -i taco-bench-launcher -- /bin/sh -c '{inner}' < /dev/null")
    assert done.rc == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(WORKERS)
