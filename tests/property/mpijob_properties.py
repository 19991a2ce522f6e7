# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holds for every MPIJob, and for whatever a cluster says of one."""

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from mpijob_schema import validate

from ansible_collections.taco.train.plugins.module_utils.cluster.capacity import capacity
from ansible_collections.taco.train.plugins.module_utils.cluster.names import VERSIONS, worker_hosts
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    amount,
    binary_quantity,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.status import progress
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import mpirun_command
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import (
    HARP_MOUNTS,
    HARP_POD_MOUNTS,
    TrainingSpec,
)
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import Job, check_job, job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest, worker_limits
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

QUICK = settings(max_examples=40)
NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
PATHS = st.from_regex(r"(/[a-z0-9._]{1,8}){1,3}/?", fullmatch=True).filter(lambda path: ".." not in path.split("/"))
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("$()"), max_size=12)


@st.composite
def mounts(draw):
    """Mounts of different targets, none of which is the shared memory."""
    targets = draw(st.lists(PATHS.map(lambda path: "/in" + path), max_size=4, unique_by=lambda path: path.rstrip("/")))
    own = [f"{draw(PATHS | st.just('/sys'))}:{target}{draw(st.sampled_from(['', ':ro', ':rw']))}" for target in targets]
    return (*draw(st.sampled_from([(), HARP_MOUNTS, HARP_POD_MOUNTS])), *own)


SPECS = st.builds(
    TrainingSpec,
    image=st.from_regex(r"[a-z0-9./:-]{1,40}", fullmatch=True),
    name=NAMES,
    command=st.lists(TEXTS, max_size=4).map(tuple),
    gpus=st.sampled_from(["all", "none"]),
    shm_size=st.none() | st.builds("{}{}".format, st.integers(0, 50), st.sampled_from(["", "k", "m", "g", "G", "gb"])),
    mounts=mounts(),
    privileged=st.booleans(),
    network_mode=st.sampled_from([None, "host"]),
    environment=st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True), TEXTS, max_size=4).map(
        lambda found: tuple(sorted(found.items()))
    ),
)


@st.composite
def jobs(draw):
    spec = draw(SPECS)
    return Job(
        spec,
        workers=draw(st.integers(1, 200)),
        gpus_per_worker=draw(st.integers(1, 16)),
        namespace=draw(st.none() | NAMES),
        memory=draw(st.sampled_from(["100Gi", "64G", "1e12", 2**40])),
        hugepages=draw(st.none() | st.integers(0, 100)),
        gpu_topology=spec.gpus == "all" and draw(st.booleans()),
        clean_pod_policy=draw(st.sampled_from(["Running", "All", "None"])),
        launcher_cpu=draw(st.sampled_from([1, "500m", "0.5"])),
        launcher_memory=draw(st.sampled_from(["2Gi", 10**9])),
    )


def everything(value):
    """Return each mapping, list and value in a value, itself included."""
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    for one in inner:
        yield from everything(one)


def read_by_kubernetes(text):
    """Return a text after Kubernetes has replaced the variables in it, of which there are none."""
    return re.sub(r"\$\$|\$\([^)]*\)", lambda found: "$" if found.group() == "$$" else "replaced", text)


@QUICK
@given(jobs(), st.sampled_from(sorted(VERSIONS)))
def test_every_job_is_a_valid_manifest(job, version):
    check_job(job)
    found = manifest(job, version)
    validate(found, version)
    assert None not in list(everything(found))
    assert json.loads(json.dumps(found)) == found
    for replica in found["spec"]["mpiReplicaSpecs"].values():
        (container,) = replica["template"]["spec"]["containers"]
        assert container["resources"]["requests"] == container["resources"]["limits"]
        volumes = [volume["name"] for volume in replica["template"]["spec"].get("volumes", [])]
        assert len(set(volumes)) == len(volumes)
        mounted = container.get("volumeMounts", [])
        assert {mount["name"] for mount in mounted} == set(volumes)
        assert len({mount["mountPath"].rstrip("/") for mount in mounted}) == len(mounted)
        assert [(one["name"], read_by_kubernetes(one["value"])) for one in container.get("env", [])] == list(
            job.spec.environment
        )
    (launcher,) = found["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
    assert tuple(map(read_by_kubernetes, launcher.get("command", []))) == job.spec.command


@QUICK
@given(jobs(), st.sampled_from(sorted(VERSIONS)))
def test_mpirun_has_a_rank_for_every_gpu_of_the_manifest(job, version):
    found = manifest(job, version)
    hosts = worker_hosts(version, job.spec.name, job.workers, job.gpus_per_worker, job.namespace)
    replicas = found["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"]
    assert {host["slots"] for host in hosts} == {found["spec"]["slotsPerWorker"]}
    argv = mpirun_command({"hosts": hosts, "command": ["true"]})
    assert int(argv[argv.index("-np") + 1]) == replicas * job.gpus_per_worker == job.workers * job.gpus_per_worker
    for name in (host["name"].split(".")[0] for host in hosts):
        assert len(name) <= 63


@QUICK
@given(jobs(), st.integers(0, 6))
def test_nodes_that_have_what_a_worker_asks_for_hold_a_worker_each(job, nodes):
    allocatable = {key: str(value) for key, value in worker_limits(job).items()}
    there = [{"metadata": {"name": f"n{index}"}, "status": {"allocatable": allocatable}} for index in range(nodes)]
    found = capacity(there, worker_limits(job), job.workers)
    assert (found.room, found.shortfalls) == (nodes, [])
    assert (found.problem is None) == (nodes >= job.workers)
    for resource in allocatable:
        short = [{"metadata": {"name": "n"}, "status": {"allocatable": {**allocatable, resource: "0"}}}]
        (sentence,) = capacity(short, worker_limits(job), 1).shortfalls
        assert sentence.startswith("n can allocate 0") and f"of {resource}, and" in sentence


VALUES = st.none() | st.booleans() | st.integers(-2, 99) | st.floats() | TEXTS | st.lists(TEXTS, max_size=2)
KEYS = """workers gpus_per_worker gpus image name memory mounts environment command hugepages shm_size namespace privileged
    gpu_topology launcher_cpu mounts_extra other""".split()


@QUICK
@given(st.dictionaries(st.sampled_from(KEYS), VALUES | st.dictionaries(TEXTS, VALUES, max_size=2)))
def test_whatever_is_given_is_a_job_or_a_sentence(options):
    try:
        job = job_of({"workers": 2, "gpus_per_worker": 8, **options})
    except InvalidValueError as error:
        assert str(error)
    else:
        validate(manifest(job), "v1")


@QUICK
@given(st.integers(0, 2**62))
def test_sizes_are_read_back(size):
    assert amount(binary_quantity(size), "size") == size


STATES = st.sampled_from(["waiting", "running", "terminated"])
REASONS = st.none() | st.sampled_from(["ContainerCreating", "ErrImagePull", "CrashLoopBackOff", "OOMKilled", "Other"])
STATE = st.dictionaries(
    STATES, st.fixed_dictionaries({}, optional={"reason": REASONS, "exitCode": st.integers(0, 255)}), max_size=1
)
CONTAINERS = st.lists(st.fixed_dictionaries({"name": TEXTS}, optional={"state": STATE, "lastState": STATE}), max_size=2)
STATUS = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown"]),
        "conditions": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["Ready", "PodScheduled"]), "status": st.sampled_from(["True", "False"])},
                optional={"message": st.none() | TEXTS},
            ),
            max_size=2,
        ),
        "reason": TEXTS,
        "containerStatuses": st.none() | CONTAINERS,
        "initContainerStatuses": CONTAINERS,
    },
)
PODS = st.lists(st.tuples(st.sampled_from(["launcher", "worker"]), STATUS), max_size=4)


@QUICK
@given(PODS, st.integers(1, 5), st.lists(st.sampled_from(["Created", "Running", "Failed"]), unique=True))
def test_every_pod_is_ready_or_has_a_sentence(pods, workers, conditions):
    job = {
        "metadata": {"name": "a"},
        "status": {"conditions": [{"type": name, "status": "True"} for name in conditions]},
    }
    there = []
    for index, (role, status) in enumerate(pods):
        labels = {"mpi-job-name": "a", "mpi-job-role": role}
        there.append({"metadata": {"name": f"a-{role}-{index}", "labels": labels}, "status": status})
    found = progress(job, there, [], workers)
    said = " ".join(found.waiting + found.stuck)
    for pod in there:
        name = pod["metadata"]["name"]
        quiet = found.launcher if "launcher" in name else name in found.ready
        assert quiet or f"{name}: " in said
    if found.usable:
        assert found.launcher and len(found.ready) >= workers and found.phase.name == "Running"
