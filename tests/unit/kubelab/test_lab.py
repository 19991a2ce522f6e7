# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What becomes of a pod in the lab: the command of its container, its files, and how pods find each other."""

import io
import json
import shlex
import tarfile

import pytest
from kubelab import arena_job, double_arena, double_kubectl, lab_pods, operator_pods
from kubelab.client import ApiError
from kubelab.testing import running_cluster

KEY = ("private\n", "public\n")


def job(version, **spec):
    template = {"spec": {"containers": [{"name": "main", "image": "image:1", "env": [{"name": "A", "value": "b c"}]}]}}
    replicas = {"Launcher": {"replicas": 1, "template": template}, "Worker": {"replicas": 2, "template": template}}
    metadata = {"name": "bench", "namespace": "default", "uid": "j"}
    return {
        "apiVersion": f"kubeflow.org/{version}",
        "metadata": metadata,
        "spec": {"mpiReplicaSpecs": replicas, **spec},
    }


def bound(pod):
    pod["metadata"].update(namespace="default", uid="u")
    return pod


def worker(version):
    return bound(operator_pods.workers(version, job(version))[0])


def objects(version):
    def get(kind, _name):
        thing = job(version)
        return operator_pods.config_map(version, thing) if kind == "ConfigMap" else operator_pods.ssh_secret(thing)

    return get


@pytest.mark.parametrize(
    "text, expected",
    [("$(A)", "1"), ("$$(A)", "$(A)"), ("$(B)", "$(B)"), ("$$", "$"), ("$A", "$A"), ("x$(A)y$(A)", "x1y1")],
)
def test_texts_are_expanded_as_kubelets_do(text, expected):
    assert lab_pods.expanded(text, {"A": "1"}) == expected


def test_a_container_runs_the_command_with_its_environment_and_mounts():
    pod = worker("v1")
    volumes = [
        {"name": "d", "hostPath": {"path": "/sys"}},
        {"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
    ]
    pod["spec"]["volumes"] += volumes
    container = pod["spec"]["containers"][0]
    container["volumeMounts"] += [
        {"name": "d", "mountPath": "/s", "readOnly": True},
        {"name": "m", "mountPath": "/dev/shm"},
    ]
    argv = lab_pods.run_argv(pod, "10.0.0.2")
    text = shlex.join(argv)
    for part in (
        "--ip 10.0.0.2",
        "--hostname bench-worker-0",
        "'A=b c'",
        "/sys:/s:ro",
        "--shm-size 1048576",
        "--pull never",
    ):
        assert part in text
    assert argv[-2:] == ["image:1", "365d"]
    assert argv[argv.index("--entrypoint") + 1] == "sleep"
    assert "/volumes/mpi-job-config:/etc/mpi:ro" in text


def test_a_pod_on_the_network_of_its_node_has_no_address():
    argv = lab_pods.run_argv(worker("v1"), None)
    assert argv[argv.index("--network") + 1] == "host"
    assert "--ip" not in argv


def test_a_pods_files_are_those_of_its_volumes():
    found = {path: (data, mode) for path, data, mode in lab_pods.files(worker("v2beta1"), objects("v2beta1"), KEY)}
    hosts = b"bench-worker-0.bench.default.svc slots=1\nbench-worker-1.bench.default.svc slots=1\n"
    assert found["volumes/mpi-job-config/hostfile"] == (hosts, 0o444)
    assert found["volumes/ssh-auth/id_rsa"][1] == 0o600
    assert found["volumes/ssh-auth/authorized_keys"][0] == found["volumes/ssh-auth/id_rsa.pub"][0]
    first = {path: mode for path, _data, mode in lab_pods.files(worker("v1"), objects("v1"), KEY)}
    assert first["volumes/mpi-job-config/kubexec.sh"] == 0o555
    with tarfile.open(fileobj=io.BytesIO(lab_pods.archive([("a/b", b"x", 0o600)]))) as tar:
        assert tar.extractfile("a/b").read() == b"x"


def test_only_workers_that_are_reached_by_exec_get_a_server():
    assert "/usr/sbin/sshd" in lab_pods.start_script(worker("v1"), "10.0.0.2", 22)
    script = lab_pods.start_script(worker("v2beta1"), "10.0.0.2", 22)
    assert script.count("/usr/sbin/sshd") == 1 and "--entrypoint /usr/sbin/sshd" in script


def test_names_are_found_as_the_versions_have_them():
    addresses = {f"bench-worker-{n}": (f"10.0.0.{n}", f"bench-worker-{n}", "bench", "default") for n in range(2)}
    launcher = bound(operator_pods.launcher("v2beta1", job("v2beta1")))
    text = lab_pods.hosts_text(launcher, addresses)
    assert "10.0.0.1 bench-worker-1.bench.default.svc bench-worker-1.bench.default.svc.cluster.local\n" in text
    assert " bench-worker-1\n" in lab_pods.hosts_text(worker("v2beta1"), addresses)


def test_a_job_that_its_operator_would_refuse_is_named():
    wrong = job("v1")
    wrong["spec"]["mpiReplicaSpecs"]["Launcher"]["replicas"] = 2
    assert "must be 1" in operator_pods.problem("v1", wrong)
    assert operator_pods.problem("v1", job("v1")) is None


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["delete", "pods"], "unknown command 'delete'"),
        (["get", "pods"], "get takes mpijobs.kubeflow.org"),
        (["exec", "a"], "must specify one pod"),
        (["exec", "-t", "a", "--", "true"], "unknown flag: -t"),
        (["exec", "a", "-c"], "flag needs an argument: -c"),
    ],
)
def test_kubectl_refuses_what_it_does_not_know(arguments, said):
    with pytest.raises(double_kubectl.UsageError, match=said):
        double_kubectl.run(arguments)


def test_kubectl_prints_a_job_with_its_labels(capsys):
    with running_cluster(serve=("v1", "v1alpha1"), operator=False) as cluster:
        cluster.put({**job("v1"), "kind": "MPIJob"})
        argv = ["--kubeconfig", cluster.kubeconfig, "--namespace=default", "get", "mpijobs.kubeflow.org"]
        double_kubectl.run([*argv, job("v1")["metadata"]["name"], "--output=json"])
        with pytest.raises(ApiError, match='mpijobs.kubeflow.org "none" not found'):
            double_kubectl.run([*argv, "none", "--output=json"])
    assert json.loads(capsys.readouterr().out)["metadata"]["name"] == job("v1")["metadata"]["name"]


def test_kubectl_reads_what_the_connection_plugin_says():
    argv = [
        "--context",
        "",
        "--kubeconfig",
        "/c",
        "-n",
        "ns",
        "exec",
        "-i",
        "pod",
        "-c",
        "main",
        "--",
        "/bin/sh",
        "-c",
        "x -y",
    ]
    options, words, command = double_kubectl.read(argv)
    expected = {"context": "", "kubeconfig": "/c", "namespace": "ns", "stdin": True, "container": "main"}
    assert (options, words, command) == (expected, ["exec", "pod"], ["/bin/sh", "-c", "x -y"])


def submitted(*flags):
    argv = ["submit", "mpi", "--name=a", "--image=i", "--workers=2", "--gpus=4", *flags, "sleep infinity"]
    return arena_job.manifest(double_arena.parser_of().parse_args(argv))


def test_arena_submits_what_its_chart_makes():
    plain, topology = submitted("--gputopology=false"), submitted("--gputopology=true", "--memory=1Gi")
    container = plain["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["sh", "-c", "sleep infinity"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "4"}
    template = topology["spec"]["template"]
    assert template["metadata"]["labels"]["gpu-topology-replica"] == "2"
    assert template["spec"]["hostNetwork"] is True
    assert template["spec"]["containers"][0]["resources"]["requests"] == {"aliyun.com/gpu": "4", "memory": "1Gi"}
    assert not any(volume["name"] == "dshm" for volume in template["spec"]["volumes"])


@pytest.mark.parametrize("flag", ["--gpu=4", "--clean-task-policy=Some", "--gputopology=maybe", "--work=2"])
def test_arena_refuses_flags_that_it_does_not_have(flag, capsys):
    with pytest.raises(SystemExit):
        submitted(flag)
    assert ": error: " in capsys.readouterr().err
