# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the host itself: can it be used at all, and does the collection know its kind."""

from typing import Any, Dict, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.check import Check, fraction, gib, skipped, truth
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import without_harp
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import on_cluster

# The oldest versions that the collection is made for. Any version of another relative is taken as it comes.
OLDEST = {"ubuntu": (18, 4), "debian": (11,), "centos": (7,), "rhel": (8,), "tencentos": (2, 4)}
FAMILIES = ("debian", "ubuntu", "rhel", "fedora", "centos", "tlinux", "tencentos")


def _version(text: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


def observed(node: Optional[Dict[str, Any]], error: Optional[str]) -> Check:
    """Check that the host could be looked at."""
    if node is not None and not error:
        return Check("host.observed", "pass")
    reason = " ".join((error or "the host was not observed").split())
    words = reason.lower()
    fix = "test the connection with `ansible HOST -m ansible.builtin.ping`"
    if "unreachable" in words or "connect" in words or "permission denied" in words or "host key" in words:
        fix = "`ssh` to the host must work without a prompt: set ansible_host, ansible_port, ansible_user, its key and known_hosts"
    elif "interpreter" in words or "python" in words:
        fix = "install Python 3.6 or newer, or set ansible_python_interpreter to the path of one"
    elif "sudo" in words or "become" in words or "privilege" in words:
        fix = "let ansible_user become root: ansible_become_method, ansible_become_password"
    return Check("host.observed", "fail", "a host that answers and has Python", reason[:300], fix)


def os_supported(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the distribution is one of those known, or related to one. What is there decides later, not the name."""
    system = node["os"]
    found = f"{system['name']} ({' '.join([system['id']] + system['id_like'])})"
    if not {system["id"], *system["id_like"]} & set(FAMILIES):
        fix = "use a distribution such as Ubuntu, Debian, CentOS, TencentOS or RHEL, or add os.supported to preflight_skip"
        return Check("os.supported", "fail", "a distribution of the Debian or RHEL family", found, fix)
    oldest = OLDEST.get(system["id"])
    if oldest and system["version_id"] and _version(system["version_id"]) < oldest:
        wanted = f"{system['id']} {'.'.join(map(str, oldest))} or newer"
        return Check("os.supported", "warn", wanted, found, "upgrade the host if a later step fails on it")
    return Check("os.supported", "pass", found=found)


def boot_layout(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that it is known where the kernel command line is configured, if hugepages are to go there."""
    boot = node["boot"]
    if variables.get("hugepages_state") not in (None, "present"):
        return skipped("boot.layout", "no hugepages are to be reserved")
    if without_harp(variables):
        return skipped("boot.layout", f"no hugepages are to be reserved: {without_harp(variables)}")
    if boot["layout"] != "unknown":
        return Check("boot.layout", "pass", found=f"{boot['layout']}, {boot['firmware']}")
    fix = (
        "change what was found (install grub-common or grub2-tools where GRUB's tools are missing), or reserve the pages yourself, add "
        "boot.layout to preflight_skip and run with --skip-tags hugepages"
    )
    return Check("boot.layout", "fail", "a GRUB configuration of a known layout", boot["reason"], fix)


def disk_free(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that there is room for the training image where the container engine keeps images.

    The vendor's document on the deployment on CVM recommends a system disk of 100 GB or more for the image and for the
    files of the training.
    """
    wanted = fraction(variables.get("preflight_min_disk_gib"), 100.0)
    free = node["disk"]["engine_free_bytes"]
    where = "for images"
    if free is None:
        free, where = node["disk"]["root_free_bytes"], "on /"
    if free is None:
        return skipped("disk.free", "the free space is not known")
    found = f"{gib(free)} free {where}"
    if free >= wanted * 1024**3:
        return Check("disk.free", "pass", found=found)
    fix = "free or add space, or set preflight_min_disk_gib to what the image needs"
    return Check("disk.free", "fail", f"{wanted:g} GiB free {where}", found, fix)


def engine_present(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that containers can be run, with GPUs where they are wanted. The role container_engine can put that right."""
    if on_cluster(variables):
        return skipped("engine.present", "the training runs in pods of the cluster, in the engine of its kubelet")
    engine = node["container_engine"]
    expected = "a running Docker Engine"
    found = None
    if engine is None:
        found = "none"
    elif not engine["running"]:
        found = f"{engine['name']} {engine['version'] or ''}".strip() + ", not running"
    elif truth(variables.get("container_engine_gpu"), True) and not engine["nvidia_toolkit"]:
        expected = "Docker Engine with the NVIDIA container toolkit"
        found = f"{engine['name']} {engine['version'] or ''}".strip() + " without nvidia-ctk"
    elif (
        truth(variables.get("container_engine_gpu"), True) and engine["runtimes"] and "nvidia" not in engine["runtimes"]
    ):
        expected = "Docker Engine with the runtime nvidia"
        found = f"{engine['name']} {engine['version'] or ''}".strip() + f" with {', '.join(engine['runtimes'])}"
    elif node["python"].get("requests") is False:
        expected = "a Python with requests, by which Ansible manages containers"
        found = f"Python {node['python']['version']} without it"
    if found is None:
        return Check("engine.present", "pass", found=f"{engine['name']} {engine['version']}")
    if truth(variables.get("container_engine_install"), True):
        return Check(
            "engine.present", "warn", expected, found, "none needed: role container_engine installs what is missing"
        )
    return Check("engine.present", "fail", expected, found, "install it, or set container_engine_install: true")
