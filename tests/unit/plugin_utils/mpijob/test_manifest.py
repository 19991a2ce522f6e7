# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manifest is the vendor's example with the differences that are meant, in either version, and what is none is refused."""

import jsonschema
import pytest
from ansible.errors import AnsibleFilterError
from mpijob_schema import validate

from ansible_collections.taco.train.plugins.filter.mpijob import FilterModule
from ansible_collections.taco.train.plugins.module_utils.cluster.names import VERSIONS
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import spec_for
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import Job, job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

IMAGE = "ccr.ccs.tencentyun.com/qcloud/taco-train:ttf115-cu112-cvm-0.4.1"
FOUR = {"workers": 4, "gpus_per_worker": 8}
# What the vendor's example for TKE states.
EXAMPLE = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "MPIJob",
    "metadata": {"name": "taco-bench"},
    "spec": {
        "slotsPerWorker": 1,
        "runPolicy": {"cleanPodPolicy": "Running"},
        "mpiReplicaSpecs": {
            "Launcher": {
                "replicas": 1,
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "image": IMAGE,
                                "name": "mpi-launcher",
                                "command": ["/bin/sh", "-ec", "sleep infinity"],
                                "resources": {"limits": {"cpu": 1, "memory": "2Gi"}},
                            }
                        ]
                    }
                },
            },
            "Worker": {
                "replicas": 4,
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "image": IMAGE,
                                "name": "mpi-worker",
                                "securityContext": {"privileged": True},
                                "volumeMounts": [
                                    {"mountPath": "/sys/", "name": "sys"},
                                    {"mountPath": "/dev/hugepages", "name": "dev-hge"},
                                    {"mountPath": "/usr/local/tfabric/tools", "name": "tfabric"},
                                ],
                                "resources": {
                                    "limits": {"hugepages-1Gi": "50Gi", "memory": "100Gi", "nvidia.com/gpu": 8}
                                },
                            }
                        ],
                        "volumes": [
                            {"name": "sys", "hostPath": {"path": "/sys/"}},
                            {"name": "dev-hge", "hostPath": {"path": "/dev/hugepages/"}},
                            {"name": "tfabric", "hostPath": {"path": "/usr/local/tfabric/tools/"}},
                        ],
                    }
                },
            },
        },
    },
}
LAUNCHER = "spec.mpiReplicaSpecs.Launcher.template.spec"
WORKER = "spec.mpiReplicaSpecs.Worker.template.spec"
# The differences that are meant, each with why.
DIFFERENCES = {
    # Jobs of other managers are not changed or deleted.
    "metadata.labels.app.kubernetes.io/managed-by": "taco.train",
    # Open MPI counts the slots of the hostfile too, so 1 would not let 8 ranks on a worker.
    "spec.slotsPerWorker": 8,
    # MPI Operator 0.3 reads it here and not in runPolicy.
    "spec.cleanPodPolicy": "Running",
    # NCCL's processes of one host share memory, of which a container has 64 MB by itself.
    f"{WORKER}.containers.0.volumeMounts.3.mountPath": "/dev/shm",
    f"{WORKER}.containers.0.volumeMounts.3.name": "dshm",
    f"{WORKER}.volumes.3.name": "dshm",
    f"{WORKER}.volumes.3.emptyDir.medium": "Memory",
    f"{WORKER}.volumes.3.emptyDir.sizeLimit": "32Gi",
    # Requests that equal the limits.
    f"{LAUNCHER}.containers.0.resources.requests.cpu": 1,
    f"{LAUNCHER}.containers.0.resources.requests.memory": "2Gi",
    f"{WORKER}.containers.0.resources.requests.hugepages-1Gi": "50Gi",
    f"{WORKER}.containers.0.resources.requests.memory": "100Gi",
    f"{WORKER}.containers.0.resources.requests.nvidia.com/gpu": 8,
}


def leaves(value, path=""):
    """Return each value that is no mapping and no list, by its path."""
    if not isinstance(value, (dict, list)):
        return {path: value}
    found = {}
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        found.update(leaves(inner, f"{path}.{key}" if path else str(key)))
    return found


def rendered(version="v1", **options):
    """Return the manifest of options, after a look whether it is valid."""
    found = manifest(job_of({**FOUR, **options}), version)
    validate(found, version)
    return found


def worker_of(found):
    return found["spec"]["mpiReplicaSpecs"]["Worker"]["template"]


def container_of(found):
    (container,) = worker_of(found)["spec"]["containers"]
    return container


def launcher_of(found):
    (container,) = found["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
    return container


def test_with_defaults_it_is_the_vendors_example_but_for_the_differences_that_are_meant():
    example, ours = leaves(EXAMPLE), leaves(rendered())
    assert set(example) <= set(ours)
    assert {path: value for path, value in ours.items() if example.get(path) != value} == DIFFERENCES


def test_v2beta1_differs_from_v1_only_in_its_version_and_the_place_of_the_policy():
    one, two = leaves(rendered("v1")), leaves(rendered("v2beta1"))
    assert two.pop("apiVersion") == "kubeflow.org/v2beta1"
    assert (one.pop("apiVersion"), one.pop("spec.cleanPodPolicy")) == ("kubeflow.org/v1", "Running")
    assert one == two


@pytest.mark.parametrize("version", VERSIONS)
def test_workers_have_no_command_or_sshd_would_not_start(version):
    found = rendered(version, command=["sleep", "1h"])
    assert launcher_of(found)["command"] == ["sleep", "1h"]
    assert not {"command", "args"} & set(container_of(found))


def test_topology_labels_the_workers_and_asks_for_acks_resource():
    found = rendered("v2beta1", name="vgg16", workers=3, gpus_per_worker=1, gpu_topology=True)
    assert worker_of(found)["metadata"] == {"labels": {"gpu-topology": "vgg16", "gpu-topology-replica": "3"}}
    resources = container_of(found)["resources"]
    assert resources["limits"] == {"hugepages-1Gi": "15Gi", "memory": "100Gi", "aliyun.com/gpu": 1}
    assert resources["requests"] == resources["limits"]
    assert "metadata" not in found["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]
    assert "nvidia.com/gpu" not in str(found)


def test_a_pod_without_harp_and_without_devices_has_none_of_their_parts():
    found = rendered(gpus="none", hugepages=0, mounts=[], privileged="no", shm_size="512m")
    assert container_of(found) == {
        "image": IMAGE,
        "name": "mpi-worker",
        "resources": {"limits": {"memory": "100Gi"}, "requests": {"memory": "100Gi"}},
        "volumeMounts": [{"mountPath": "/dev/shm", "name": "dshm"}],
    }
    assert worker_of(found)["spec"]["volumes"] == [
        {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "512Mi"}}
    ]
    assert found["spec"]["slotsPerWorker"] == 8


@pytest.mark.parametrize(
    ("size", "limit"), [("32g", "32Gi"), ("1536m", "1536Mi"), ("1.5G", "1536Mi"), ("64", "64"), ("2048kb", "2Mi")]
)
def test_shared_memory_is_said_in_kubernetes_units(size, limit):
    assert worker_of(rendered(shm_size=size))["spec"]["volumes"][-1]["emptyDir"]["sizeLimit"] == limit


def test_shared_memory_can_be_left_out_or_be_the_hosts():
    assert "dshm" not in str(rendered(shm_size=0))
    found = rendered(shm_size="0", mounts=["/dev/shm:/dev/shm"])
    assert worker_of(found)["spec"]["volumes"] == [{"name": "mount-0", "hostPath": {"path": "/dev/shm"}}]


def test_mounts_share_a_volume_by_their_path_and_may_be_read_only():
    found = rendered(mounts=["/sys:/sys", "/sys/:/host/sys:ro"], mounts_extra=["/data/sets:/data:rw"])
    mounts = [(one["name"], one["mountPath"], one.get("readOnly")) for one in container_of(found)["volumeMounts"]]
    assert mounts == [
        ("sys", "/sys", None),
        ("sys", "/host/sys", True),
        ("mount-1", "/data", None),
        ("dshm", "/dev/shm", None),
    ]
    volumes = [(one["name"], one.get("hostPath")) for one in worker_of(found)["spec"]["volumes"]]
    assert volumes == [("sys", {"path": "/sys"}), ("mount-1", {"path": "/data/sets"}), ("dshm", None)]


def test_the_environment_reaches_both_and_stays_what_it_was():
    found = rendered(environment={"A": "$(B) $$C", "D": "$E", "F": 1}, command=["echo", "$(date)"])
    # Kubernetes reads $$ as $, so that $(B) is not taken for its own.
    expected = [{"name": "A", "value": "$$(B) $$$$C"}, {"name": "D", "value": "$E"}, {"name": "F", "value": "1"}]
    assert container_of(found)["env"] == launcher_of(found)["env"] == expected
    assert launcher_of(found)["command"] == ["echo", "$$(date)"]


def test_the_hosts_network_is_that_of_all_pods():
    for replica in rendered(network_mode="host")["spec"]["mpiReplicaSpecs"].values():
        pod = replica["template"]["spec"]
        assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
    assert "hostNetwork" not in str(rendered())


def test_other_options_of_the_job():
    found = rendered(
        namespace="training",
        clean_pod_policy="None",
        memory="200Gi",
        launcher_cpu=0.5,
        launcher_memory="1Gi",
        workers="2",
        gpus_per_worker="4",
    )
    labels = {"app.kubernetes.io/managed-by": "taco.train"}
    assert found["metadata"] == {"name": "taco-bench", "namespace": "training", "labels": labels}
    assert found["spec"]["cleanPodPolicy"] == found["spec"]["runPolicy"]["cleanPodPolicy"] == "None"
    assert launcher_of(found)["resources"]["limits"] == {"cpu": "0.5", "memory": "1Gi"}
    assert container_of(found)["resources"]["limits"]["memory"] == "200Gi"
    assert found["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 2


def test_what_is_null_or_an_empty_text_has_its_default():
    assert manifest(job_of({**FOUR, "image": "", "namespace": None, "memory": "", "mounts": None})) == rendered()


def test_a_spec_with_limits_of_its_own_is_refused():
    spec = spec_for("lightcc", {"image": "i", "name": "n", "network_mode": "host"})
    with pytest.raises(MpijobError, match="ulimits are memlock=-1, stack=67108864: a pod can't set any"):
        manifest(Job(spec, 1, 1))


def test_a_spec_of_the_docker_path_is_rendered_as_well():
    spec = spec_for("harp", {"image": "i", "name": "n"})
    found = manifest(Job(spec, 2, 8))
    validate(found, "v1")
    assert len(container_of(found)["volumeMounts"]) == 6
    assert worker_of(found)["spec"]["hostNetwork"] is True


def test_the_length_of_a_name_is_that_of_its_longest_pod():
    assert rendered(name="t" * 54, workers=10, namespace="n" * 63)["metadata"]["namespace"] == "n" * 63
    with pytest.raises(MpijobError, match="is 1 letter too long: the pod t+-worker-10 would have 64"):
        job_of({**FOUR, "name": "t" * 54, "workers": 11})


@pytest.mark.parametrize("version", ["v1alpha1", "v2", None])
def test_other_versions_are_refused(version):
    with pytest.raises(
        MpijobError, match="expected one of v1, v2beta1" + ("; v1alpha1" if version == "v1alpha1" else "")
    ):
        manifest(job_of(FOUR), version)


def test_the_schema_of_the_tests_refuses_what_is_not_in_the_crd():
    found = rendered("v2beta1")
    found["spec"]["cleanPodPolicy"] = "Running"
    with pytest.raises(jsonschema.ValidationError, match="cleanPodPolicy"):
        validate(found, "v2beta1")


def test_the_filter_renders_and_says_its_name_with_what_is_wrong():
    render = FilterModule().filters()["mpijob_manifest"]
    assert render(FOUR) == render(FOUR, "") == rendered("v1")
    assert render(FOUR, api_version="v2beta1") == rendered("v2beta1")
    with pytest.raises(AnsibleFilterError, match="mpijob_manifest: workers is not set"):
        render({})
    with pytest.raises(AnsibleFilterError, match="mpijob_manifest: .* described by a mapping"):
        render("taco-bench")
    with pytest.raises(AnsibleFilterError, match="mpijob_manifest: shm_size is 'lots'"):
        render({**FOUR, "shm_size": "lots"})


def test_an_error_of_the_spec_is_one_of_the_spec():
    with pytest.raises(InvalidValueError, match="two mounts have the target /sys"):
        job_of({**FOUR, "mounts_extra": ["/other:/sys"]})
