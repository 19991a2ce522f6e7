# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each check passes on a good host and says what is wrong with a bad one, and how to put it right."""

import pytest
from observed import GIB, NODE, VARIABLES, node
from preflight_checks import assert_says

from ansible_collections.taco.train.plugins.plugin_utils.check import fraction, gib, truth, whole
from ansible_collections.taco.train.plugins.plugin_utils.preflight import host
from ansible_collections.taco.train.plugins.plugin_utils.preflight.gpus import instance_type
from ansible_collections.taco.train.plugins.plugin_utils.preflight.instance_types import INSTANCE_TYPES, VIRTUAL
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import NODE_CHECKS

NO_FLAG = {"count": 8, "page_1g": False, "page_2m": True}
SYSCTL = [{"name": "vm.nr_hugepages", "value": "2048", "file": "/etc/sysctl.d/9.conf", "line": 3}]
SSH = "unreachable: Failed to connect to the host via ssh: "
EMPTY = {"default_size_bytes": None, "pools": [], "mounts": []}
NO_GPU = {"count": 0, "source": "none", "driver_version": None, "devices": []}
STOPPED = dict(NODE["container_engine"], running=False)
PLAIN = dict(NODE["container_engine"], nvidia_toolkit=None)
UNIT = [
    {
        "name": "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
        "value": "4",
        "file": "/etc/systemd/system/pages.service",
        "line": 3,
        "by": "pages.service",
    }
]
OTHER_MOUNT = [{"path": "/dev/hugepages", "page_size_bytes": 2 * 1024**2}]
TWO_MOUNTS = [*OTHER_MOUNT, {"path": "/mnt/huge", "page_size_bytes": GIB}]
SET_BY_HAND = dict(
    EMPTY, default_size_bytes=2 * 1024**2, pools=[{"size_bytes": 2 * 1024**2, "total": 1024, "free": 1024, "nodes": []}]
)
USED = [{"size_bytes": GIB, "total": 50, "free": 0, "nodes": []}]
BESIDE_A_SMALL_NODE = [{"node": 0, "memory_bytes": 16 * GIB}, {"node": 1, "memory_bytes": 240 * GIB}]
ENS = [dict(nic, name=f"ens{number + 5}") for number, nic in enumerate(NODE["nics"])]
BARE = [dict(nic, addresses=nic["addresses"] if number else []) for number, nic in enumerate(NODE["nics"])]
NO_IP = [dict(nic, addresses=[]) for nic in NODE["nics"]]
DOWN = [dict(nic, up=False) for nic in NODE["nics"]]
SMALL = {"total_bytes": 60 * GIB, "available_bytes": 59 * GIB}

BOX = {
    "name": "box",
    "status": "running",
    "image": VARIABLES["taco_image"],
    "renamed_plugin": None,
    "plugin_versions": None,
    "nccl": [],
}
OLD = {"path": "/a", "version": "2.8.4", "plugin_versions": [4]}
NEW = {"path": "/b", "version": "2.19.3", "plugin_versions": [5, 6]}

# check, what is different on the host, what is different in the variables, status, words in found or fix
TABLE = [
    ("os.supported", None, None, {}, "pass", []),
    ("os.supported", "os.version_id", "16.04", {}, "warn", ["upgrade"]),
    (
        "os.supported",
        "os",
        {"id": "alpine", "id_like": [], "version_id": "3", "name": "Alpine"},
        {},
        "fail",
        ["Alpine"],
    ),
    ("os.supported", "os", {"id": "alinux", "id_like": ["rhel"], "version_id": "3", "name": "A"}, {}, "pass", []),
    ("os.supported", "os", {"id": "tlinux", "id_like": [], "version_id": "2.2", "name": "T"}, {}, "pass", []),
    ("os.supported", "os", {"id": "debian", "id_like": [], "version_id": "", "name": "sid"}, {}, "pass", []),
    ("boot.layout", None, None, {}, "pass", ["grub-d"]),
    ("boot.layout", "boot", {"layout": "unknown", "firmware": "efi", "reason": "no GRUB"}, {}, "fail", ["no GRUB"]),
    ("boot.layout", "boot.layout", "unknown", {"hugepages_state": "absent"}, "skip", []),
    ("cpu.page_size", None, None, {}, "pass", []),
    ("cpu.page_size", "cpu", NO_FLAG, {}, "fail", ["pdpe1gb", "hugepages_page_size: 2M"]),
    ("cpu.page_size", "cpu", NO_FLAG, {"hugepages_page_size": "2M"}, "pass", []),
    ("cpu.page_size", "cpu", NO_FLAG, {"hugepages_state": "absent"}, "skip", []),
    ("hugepages.sysctl", None, None, {}, "pass", []),
    (
        "hugepages.sysctl",
        "hugepages.sysctl",
        SYSCTL,
        {},
        "fail",
        ["/etc/sysctl.d/9.conf:3 sets vm.nr_hugepages=2048", "50"],
    ),
    ("hugepages.sysctl", "hugepages.sysctl", SYSCTL, {"hugepages_count": 2048}, "pass", []),
    ("hugepages.sysctl", "hugepages.sysctl", SYSCTL, {"hugepages_count": 0}, "skip", []),
    (
        "hugepages.sysctl",
        "hugepages.sysctl",
        UNIT,
        {},
        "fail",
        ["pages.service:3", "systemctl disable --now pages.service"],
    ),
    ("hugepages.sysctl", "hugepages.sysctl", UNIT, {"hugepages_page_size": "2M"}, "pass", []),
    (
        "hugepages.sysctl",
        "hugepages",
        SET_BY_HAND,
        {},
        "warn",
        ["has 1024 pages of 2 MiB", "asks for none", "after each boot"],
    ),
    ("hugepages.sysctl", "hugepages", SET_BY_HAND, {"hugepages_page_size": "2M"}, "pass", []),
    ("hugepages.running", None, None, {}, "pass", []),
    ("hugepages.running", None, None, {"hugepages_count": 51}, "warn", ["50 pages of 1 GiB", "rebooted"]),
    ("hugepages.running", "hugepages", EMPTY, {}, "warn", ["0 pages"]),
    ("hugepages.running", "hugepages", EMPTY, {"hugepages_count": 0}, "skip", []),
    ("hugepages.running", "hugepages.mounts", OTHER_MOUNT, {}, "fail", ["has pages of 2M and not of 1G", "/etc/fstab"]),
    (
        "hugepages.running",
        "hugepages",
        dict(NODE["hugepages"], mounts=OTHER_MOUNT, default_size_bytes=2 * 1024**2),
        {},
        "warn",
        ["rebooted"],
    ),
    (
        "hugepages.running",
        "hugepages",
        dict(EMPTY, mounts=TWO_MOUNTS),
        {},
        "warn",
        ["has pages of 2M", "/mnt/huge (1G)"],
    ),
    ("hugepages.running", "hugepages.mounts", [], {}, "fail", ["no hugetlbfs", "dev-hugepages.mount"]),
    ("hugepages.running", "hugepages.pools", USED, {}, "warn", ["none free"]),
    ("memory.hugepages", None, None, {}, "pass", ["50 pages"]),
    (
        "memory.hugepages",
        "hugepages.nodes",
        BESIDE_A_SMALL_NODE,
        {},
        "warn",
        ["node 0 has 16.0 GiB", "room for 12 pages", "its share is 25"],
    ),
    ("memory.hugepages", "memory", SMALL, {}, "fail", ["50 pages of 1 GiB of 60 GiB", "hugepages_count to 48 or less"]),
    ("memory.hugepages", "memory", SMALL, {"hugepages_count": 48}, "pass", []),
    ("memory.hugepages", "memory", SMALL, {"hugepages_count": "49"}, "fail", []),
    (
        "memory.hugepages",
        "memory",
        SMALL,
        {"preflight_max_memory_fraction": 0.9},
        "fail",
        ["hugepages_max_memory_fraction"],
    ),
    (
        "memory.hugepages",
        "memory",
        SMALL,
        {"preflight_max_memory_fraction": 0.9, "hugepages_max_memory_fraction": "0.9"},
        "pass",
        [],
    ),
    ("memory.hugepages", "memory", SMALL, {"hugepages_page_size": "2M", "hugepages_count": 24576}, "pass", []),
    ("memory.hugepages", None, None, {"taco_gpus_per_node": None}, "skip", []),
    ("gpu.count", None, None, {}, "pass", ["8, counted by nvidia-smi"]),
    ("gpu.count", "gpus.count", 7, {}, "fail", ["7, counted by", "taco_gpus_per_node"]),
    ("gpu.count", "gpus", NO_GPU, {}, "fail", ["none", "preflight_gpu_source: inventory"]),
    ("gpu.count", "gpus", NO_GPU, {"preflight_gpu_source": "inventory"}, "warn", ["counted from the inventory"]),
    ("gpu.count", "gpus.source", "pci", {}, "warn", ["nvidia-smi lists none", "driver"]),
    (
        "gpu.count",
        "gpus",
        dict(NODE["gpus"], source="pci", problem="nvidia-smi took longer than 60 s"),
        {},
        "warn",
        ["took longer than 60 s", "dmesg"],
    ),
    ("gpu.count", None, None, {"taco_gpus_per_node": 4}, "warn", ["taco_gpus_per_node: 8"]),
    ("gpu.count", None, None, {"taco_gpus_per_node": 0}, "skip", []),
    ("eni.count", None, None, {}, "pass", ["eth1, eth2"]),
    ("eni.count", None, None, {"eni_count": 9}, "fail", ["8 of 9", "eni_count"]),
    ("eni.count", None, None, {"eni_count": ""}, "pass", []),
    ("eni.count", None, None, {"eni_count": "8"}, "pass", []),
    ("eni.count", None, None, {"eni_count": 0}, "fail", ["8 too many"]),
    ("eni.count", None, None, {"eni_count": "many"}, "fail", ["eni_count: many"]),
    ("eni.count", None, None, {"eni_pattern": "("}, "fail", ["eni_pattern"]),
    ("eni.count", None, None, {"eni_subnets": ["10.0.0.0/16"]}, "pass", []),
    ("eni.count", None, None, {"eni_subnets": ["10.0.1.0/24"]}, "fail", ["eth2", "10.0.2.8"]),
    ("eni.count", "nics", [], {"harp_source": "none"}, "skip", ["harp_source"]),
    ("eni.count", "nics", [], {"harp_source": "none", "eni_count": 2}, "fail", ["0 of 2"]),
    ("eni.count", None, None, {"taco_gpus_per_node": None}, "skip", []),
    ("interface.present", None, None, {}, "pass", ["eth0"]),
    ("interface.present", "nics", ENS, {}, "fail", ["no eth0", "ens5, ens6", "4 more", "set taco_interface: ens5"]),
    ("interface.present", "nics", ENS, {"taco_interface": "ens5"}, "pass", ["ens5"]),
    ("interface.present", "nics", ENS, {"taco_platform": "tke"}, "skip", []),
    ("interface.present", "nics", BARE, {}, "fail", ["eth0 has no address", "there is eth1"]),
    ("interface.present", "nics", NO_IP, {}, "pass", []),
    ("interface.present", "nics", NO_IP, {"taco_interface": "ens5"}, "fail", ["no ens5; there is eth0"]),
    ("interface.present", "nics", DOWN, {}, "fail", ["eth0 is down", "`ip link set eth0 up`"]),
    ("interface.present", "nics", [], {}, "skip", []),
    ("interface.present", None, None, {"benchmark_interface": "eth1,ens9"}, "fail", ["no ens9", "benchmark_interface"]),
    ("interface.present", None, None, {"benchmark_interface": "10.0.0.0/24,eth1"}, "pass", ["eth1"]),
    (
        "interface.present",
        "nics",
        ENS,
        {"benchmark_interface": "ens6", "ssh_trust_address": "10.0.0.8"},
        "pass",
        ["ens6"],
    ),
    ("disk.free", None, None, {}, "pass", ["300 GiB"]),
    ("disk.free", "disk.engine_free_bytes", 10 * GIB, {}, "fail", ["10 GiB free", "preflight_min_disk_gib"]),
    ("disk.free", "disk.engine_free_bytes", 10 * GIB, {"preflight_min_disk_gib": "2"}, "pass", []),
    ("disk.free", "disk.engine_free_bytes", 99 * GIB, {}, "fail", ["99 GiB free"]),
    ("disk.free", "disk.engine_free_bytes", None, {"preflight_min_disk_gib": 80}, "pass", ["80 GiB free on /"]),
    ("disk.free", "disk", {"root_free_bytes": None, "engine_free_bytes": None}, {}, "skip", []),
    ("harp.plugin", None, None, {}, "skip", ["no training container is running"]),
    ("harp.plugin", "training_container", dict(BOX, status="exited"), {}, "skip", ["no training container is running"]),
    ("harp.plugin", "training_container", BOX, {}, "skip", ["container box has no plugin /usr/lib/x86_64-linux-gnu/"]),
    ("harp.plugin", "training_container", dict(BOX, image="old", nccl=[NEW]), {}, "skip", ["box is not of taco_image"]),
    ("harp.plugin", "training_container", dict(BOX, plugin_versions=[4]), {}, "skip", ["no NCCL with plugins"]),
    ("harp.plugin", "training_container", dict(BOX, plugin_versions=[4], nccl=[OLD]), {}, "pass", ["ncclNetPlugin_v4"]),
    (
        "harp.plugin",
        "training_container",
        dict(BOX, plugin_versions=[4], nccl=[NEW]),
        {},
        "fail",
        ["ncclNetPlugin_v4 in /usr/lib/x86_64-linux-gnu/libnccl-net.so of the container box", "set taco_image"],
    ),
    (
        "harp.plugin",
        "training_container",
        dict(BOX, plugin_versions=[4], nccl=[OLD, NEW]),
        {},
        "warn",
        ["ncclNetPlugin_v4"],
    ),
    ("harp.plugin", "training_container", dict(BOX, plugin_versions=[], nccl=[OLD]), {}, "fail", ["no symbol ncclNet"]),
    (
        "harp.plugin",
        "training_container",
        dict(BOX, renamed_plugin="/mnt/libnccl-net.so"),
        {},
        "warn",
        ["run `docker exec box mv /mnt/libnccl-net.so /usr/lib/x86_64-linux-gnu/libnccl-net.so` on the host"],
    ),
    ("harp.plugin", None, None, {"training_container_profile": "lightcc"}, "skip", ["does not use HARP"]),
    ("engine.present", None, None, {}, "pass", ["24.0.7"]),
    ("engine.present", "container_engine", None, {}, "warn", ["none", "container_engine installs"]),
    (
        "engine.present",
        "container_engine",
        None,
        {"container_engine_install": False},
        "fail",
        ["container_engine_install"],
    ),
    ("engine.present", "container_engine", STOPPED, {}, "warn", ["not running"]),
    ("engine.present", "container_engine", PLAIN, {}, "warn", ["without nvidia-ctk"]),
    ("engine.present", "container_engine", PLAIN, {"container_engine_gpu": False}, "pass", []),
    ("engine.present", "container_engine", dict(PLAIN, name="podman"), {}, "fail", ["podman", "podman-docker"]),
    (
        "engine.present",
        "container_engine",
        dict(PLAIN, name="rootless docker"),
        {},
        "fail",
        ["rootless", "DOCKER_HOST"],
    ),
    ("engine.version", "container_engine", dict(PLAIN, name="podman", version="4.9.4"), {}, "skip", ["podman"]),
    ("engine.present", "python.requests", False, {}, "warn", ["container_engine installs"]),
    (
        "engine.present",
        "python.requests",
        False,
        {"container_engine_python_packages": []},
        "fail",
        ["install requests", "container_engine_python_packages"],
    ),
]


def test_a_plugin_that_nccl_cannot_load_is_compared_with_each_nccl_that_refuses_it():
    box = dict(BOX, plugin_versions=[4], nccl=[OLD, NEW])
    check = NODE_CHECKS["harp.plugin"](node("training_container", box), VARIABLES)
    assert check.expected == "ncclNetPlugin_v5 or ncclNetPlugin_v6 for NCCL 2.19.3 (/b)"


@pytest.mark.parametrize(("identity", "path", "value", "variables", "status", "words"), TABLE)
def test_checks_of_a_host(identity, path, value, variables, status, words):
    check = NODE_CHECKS[identity](node(path, value), dict(VARIABLES, **variables))
    assert check.id == identity
    assert_says(check, status, words)


@pytest.mark.parametrize(
    ("variables", "told", "status", "words"),
    [
        ({}, None, "pass", ["8 x A100"]),
        ({}, "GT4.41XLARGE948", "pass", []),
        ({}, "GT4.20XLARGE474", "fail", ["taco_instance_type: GT4.20XLARGE474"]),
        ({"taco_instance_type": None}, "GT4.20XLARGE474", "fail", ["taco_gpus_per_node: 4"]),
        ({"taco_instance_type": ""}, None, "skip", []),
        ({"taco_gpus_per_node": 16}, None, "fail", ["taco_gpus_per_node: 8"]),
        ({"taco_gpus_per_node": 4}, None, "warn", ["taco_gpus_per_node: 8"]),
        ({"taco_gpus_per_node": None}, None, "pass", []),
        ({"taco_instance_type": "GT4.41XLARGE984"}, None, "warn", ["GT4.41XLARGE948"]),
        ({"taco_instance_type": "zzz"}, None, "warn", ["zzz"]),
        ({"taco_instance_type": "GN7.LARGE20"}, None, "fail", ["0.25 of a GPU"]),
    ],
)
def test_the_instance_type_is_compared_with_what_is_published(variables, told, status, words):
    metadata = {"instance_type": told} if told else None
    assert_says(instance_type(node("metadata", metadata), dict(VARIABLES, **variables)), status, words)


def test_the_published_types_make_sense():
    assert INSTANCE_TYPES and not set(INSTANCE_TYPES) & set(VIRTUAL)
    assert {one.gpus for one in INSTANCE_TYPES.values()} == {1, 2, 4, 8}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            SSH + "ssh: connect to host a port 22: Connection refused",
            ["start the SSH server", "ansible_port", "refused"],
        ),
        (SSH + "ssh: Could not resolve hostname a: Name or service not known", ["set ansible_host to an address"]),
        (SSH + "x@a: Permission denied (publickey,password).", ["ansible_user", "--private-key"]),
        (SSH + "Host key verification failed.", ["ssh-keyscan", "known_hosts"]),
        (SSH + "@ REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", ["ssh-keygen -R"]),
        (SSH + "ssh: connect to host a port 22: Connection timed out", ["security group"]),
        (SSH + "ssh: connect to host a port 22: No route to host", ["ip route get"]),
        (SSH + "Connection closed by 10.0.0.1 port 22", ["log of the SSH server"]),
        (SSH + "something new", ["without a prompt", "ansible_port"]),
        ("an answer of a module: Permission denied (publickey)", ["ping"]),
        ("The module interpreter '/no/such/python3' was not found.", ["ansible_python_interpreter"]),
        ("Missing sudo password", ["ansible_become_method"]),
        ("something\n  else", ["something else", "ping"]),
        (None, ["the host was not observed"]),
    ],
)
def test_a_host_that_was_not_observed_says_why(error, words):
    assert_says(host.observed(None, error), "fail", words)


def test_a_host_that_was_observed_passes():
    assert host.observed(NODE, None).status == "pass"


@pytest.mark.parametrize(
    ("value", "number"), [(8, 8), ("8", 8), (" 8 ", 8), (8.0, None), (True, None), (None, None), ("", None)]
)
def test_whole_numbers(value, number):
    assert whole(value) == number


def test_other_values():
    assert [truth(v) for v in (True, "yes", "1", "off", False, "", None)] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert truth("", True) is True
    assert [fraction(v, 0.8) for v in (0.5, "0.5", 1, "x", None)] == [0.5, 0.5, 1.0, 0.8, 0.8]
    assert [gib(v) for v in (GIB, GIB * 3 // 2, 0, None)] == ["1 GiB", "1.5 GiB", "0 GiB", "unknown"]


OLD_PACKAGES = {
    "docker-ce": {
        "version": "18.09.1~3-0~ubuntu",
        "repository": "https://mirror.example.com/docker bionic/stable amd64 Packages",
    },
    "nvidia-container-toolkit": {"version": "1.0.5-1", "repository": "libnvidia-container"},
}


@pytest.mark.parametrize(
    ("identity", "variables", "words"),
    [
        ("engine.version", {}, ["18.09.1", "https://mirror.example.com/docker", "update that repository"]),
        ("engine.toolkit", {}, ["1.0.5", "libnvidia-container", "update that repository"]),
        ("engine.version", {"container_engine_source": "distribution"}, []),
        ("engine.toolkit", {"container_engine_gpu": False}, []),
    ],
)
def test_a_package_that_is_to_be_installed_and_is_too_old_is_named_with_its_repository(identity, variables, words):
    host_without = dict(node("package_candidates", OLD_PACKAGES), container_engine=None)
    found = NODE_CHECKS[identity](host_without, dict(VARIABLES, **variables))
    assert found.status == ("fail" if words else "skip")
    assert [word for word in words if word not in f"{found.found} {found.fix}"] == []


def test_a_package_that_a_negative_priority_forbids_is_named_with_what_shows_it():
    packages = {"docker-ce": dict(OLD_PACKAGES["docker-ce"], version="27.3.1-1", forbidden=True)}
    found = NODE_CHECKS["engine.version"](dict(node("package_candidates", packages), container_engine=None), VARIABLES)
    assert found.status == "fail" and "27.3.1-1 in the repository https://mirror" in found.found
    assert "Pin-Priority" in found.fix and "apt-cache policy docker-ce" in found.fix
