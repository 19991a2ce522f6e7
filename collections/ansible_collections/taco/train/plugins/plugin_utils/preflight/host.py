# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the host itself: can it be used at all, and does the collection know its kind."""

from typing import Any, Dict, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._node.engine import PODMAN, ROOTLESS
from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import PATH, SYMBOL, undo_command
from ansible_collections.taco.train.plugins.module_utils._ssh.reason import reason_of
from ansible_collections.taco.train.plugins.plugin_utils.check import Check, fraction, gib, is_set, skipped, truth
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import without_harp
from ansible_collections.taco.train.plugins.plugin_utils.text import some
from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import image_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import on_cluster

OBSERVED = "host.observed"
OTHER_BATCH = "not observed yet: the host is in another batch of the play"
# The oldest versions that the collection is made for. Any version of another relative is taken as it comes.
OLDEST = {"ubuntu": (18, 4), "debian": (11,), "centos": (7,), "rhel": (8,), "tencentos": (2, 4)}
# What helps where the controller can't reach a host, by the kind of the reason.
UNREACHABLE_FIXES = {
    "name": "set ansible_host to an address of the host, or correct its name",
    "host_key_changed": "if the host was installed anew, remove its old key by `ssh-keygen -R HOST`; else correct ansible_host",
    "host_key_unknown": "compare the key that `ssh-keyscan HOST` shows with that of the host, and add it to known_hosts",
    "authentication": "set ansible_user and its key (--private-key) to those that the host accepts, or give its password",
    "refused": "start the SSH server of the host, or set ansible_host and ansible_port to where it listens",
    "timeout": "check that the host is up, and that the firewall or security group passes its SSH port; set ansible_host, ansible_port",
    "route": "check that the host is up, and that the controller has a route to ansible_host (`ip route get ADDRESS`)",
    "closed": "look at the log of the SSH server of the host, and check that ansible_port is its port",
}
FAMILIES = ("debian", "ubuntu", "rhel", "fedora", "centos", "tlinux", "tencentos")


def _version(text: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


def observed(node: Optional[Dict[str, Any]], error: Optional[str]) -> Check:
    """Check that the host could be looked at."""
    if node is not None and not error:
        return Check(OBSERVED, "pass")
    text = error or "the host was not observed"
    reason = " ".join(text.split())
    words = reason.lower()
    fix = "test the connection with `ansible HOST -m ansible.builtin.ping`"
    kind = reason_of(text)[0] if words.startswith("unreachable") else ""
    if kind:
        fix = UNREACHABLE_FIXES[kind]
    elif words.startswith("unreachable") or "failed to connect" in words:
        fix = "`ssh` to the host must work without a prompt: set ansible_host, ansible_port, ansible_user, its key and known_hosts"
    elif text == OTHER_BATCH:
        fix = "remove `serial` from the play"
    elif "interpreter" in words or "python" in words:
        fix = "install Python 3.6 or newer, or set ansible_python_interpreter to the path of one"
    elif "sudo" in words or "become" in words or "privilege" in words:
        fix = "let ansible_user become root: ansible_become_method, ansible_become_password"
    return Check(OBSERVED, "fail", "a host that answers and has Python", reason[:300], fix)


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


INSTALLED = "none needed: role container_engine installs what is missing"
# What the command docker may reach in place of Docker Engine, and what to do about it.
OTHER_ENGINES = {
    PODMAN: "remove the package podman-docker (apt-get remove podman-docker, dnf remove podman-docker), by which docker is podman, or "
    "unset DOCKER_HOST where it names podman's socket, and run this again: role container_engine then installs Docker Engine",
    ROOTLESS: "let root use the daemon of the system: unset DOCKER_HOST and run `docker context use default` as root, start it by "
    "`systemctl enable --now docker`, and run this again",
}


def _missing_requests(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """The finding about a Python without the package by which Ansible manages containers."""
    expected, found = (
        "a Python with requests, by which Ansible manages containers",
        f"Python {node['python']['version']} without it",
    )
    if (
        truth(variables.get("container_engine_install"), True)
        and variables.get("container_engine_python_packages") != []
    ):
        return Check("engine.present", "warn", expected, found, INSTALLED)
    fix = "install requests for that Python, or let container_engine_python_packages name packages and set container_engine_install: true"
    return Check("engine.present", "fail", expected, found, fix)


def _interfaces(variables: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Return (variable, interface) for each interface that SSH or MPI shall use. Subnets of MPI are left out."""
    of_mpi = variables.get("benchmark_interface")
    names = [part for part in str(of_mpi).split(",") if "/" not in part] if is_set(of_mpi) else []
    found = [("benchmark_interface", name) for name in names]
    if is_set(of_mpi) and is_set(variables.get("ssh_trust_address")):
        return found
    return [("taco_interface", str(variables.get("taco_interface") or "eth0")), *found]


def interface_present(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the host has the interfaces for SSH and MPI, with an address each."""
    identity = "interface.present"
    if on_cluster(variables):
        return skipped(identity, "the training runs in pods of the cluster, in the network of the cluster")
    nics = {nic["name"]: nic for nic in node["nics"]}
    usable = [name for name, nic in nics.items() if nic["addresses"] and nic["kind"] != "loopback"]
    # Without the program ip the addresses of all interfaces are unknown.
    known = any(nic["addresses"] for nic in nics.values())
    if not nics:
        return skipped(identity, "no interface was observed")
    for variable, name in _interfaces(variables):
        if name in nics and (nics[name]["addresses"] or not known) and nics[name]["up"]:
            continue
        there = usable if known else [one for one, nic in nics.items() if nic["kind"] != "loopback"]
        found = f"no {name}" if name not in nics else f"{name} is down" if name in there else f"{name} has no address"
        listed = f"; there is {some(there)}" if there else ""
        primary = next((one for one in there if nics[one]["primary"] and one != name), None)
        fix = f"set {variable}" + (f": {primary}" if primary else "")
        fix = f"run `ip link set {name} up`, or {fix}" if name in there else fix
        return Check(identity, "fail", f"{name} with an address ({variable})", found + listed, fix)
    return Check(identity, "pass", found=", ".join(name for _variable, name in _interfaces(variables)))


def harp_plugin(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the running training container has HARP's plugin under its own name, and that its NCCL can load the plugin.

    The plugin exports a symbol ncclNetPlugin_v* for each version of NCCL's interface that it has, and NCCL looks for those that it knows:
    v4 is that of NCCL 2.8 to 2.18. Without a symbol in common NCCL uses its own network.
    """
    identity = "harp.plugin"
    if on_cluster(variables) or without_harp(variables):
        return skipped(identity, without_harp(variables) or "the training runs in pods of the cluster")
    container = node.get("training_container") or {}
    if container.get("status") != "running":
        return skipped(identity, "no training container is running", "a running training container")
    if container.get("renamed_plugin"):
        command = f"docker exec {container['name']} {undo_command(container['renamed_plugin'], PATH)}"
        return Check(
            identity,
            "warn",
            f"{PATH} in the container {container['name']}",
            f"it is {container['renamed_plugin']}",
            f"run `{command}` on the host",
        )
    variable, image = image_of(variables)
    if is_set(image) and image != container.get("image"):
        return skipped(identity, f"the container {container['name']} is not of {variable} {image} yet")
    return plugin_compared(identity, container, variable)


def plugin_compared(identity: str, container: Mapping[str, Any], variable: str) -> Check:
    """Compare the symbols that the plugin of a container exports with those that its NCCL looks for. variable names its image."""
    exported = container.get("plugin_versions")
    libraries = [library for library in container.get("nccl") or [] if library["plugin_versions"]]
    if exported is None or not libraries:
        unread = f"no plugin {PATH}" if exported is None else "no NCCL with plugins in the usual folders"
        return skipped(identity, f"the container {container['name']} has {unread} that can be read")
    refusing = [library for library in libraries if not set(library["plugin_versions"]) & set(exported)]
    if not refusing:
        return Check(identity, "pass", found=f"{symbols(exported)} in {PATH}")
    expected = [
        f"{symbols(one['plugin_versions'])} for NCCL {one['version'] or ''} ({one['path']})" for one in refusing
    ]
    return Check(
        identity,
        "fail" if refusing == libraries else "warn",
        some(expected),
        f"{symbols(exported)} in {PATH} of the container {container['name']}",
        f"set {variable} to an image whose NCCL looks for a symbol of the plugin, or, to train without HARP, "
        "training_container_profile: lightcc",
    )


def symbols(versions: List[int]) -> str:
    """Return the symbols of versions of NCCL's plugin interface, in words."""
    return " or ".join(SYMBOL + str(version) for version in versions) or f"no symbol {SYMBOL}*"


def engine_present(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that containers can be run, with GPUs where they are wanted. The role container_engine can put that right."""
    if on_cluster(variables):
        return skipped("engine.present", "the training runs in pods of the cluster, in the engine of its kubelet")
    engine = node["container_engine"]
    expected = "a running Docker Engine"
    found = None
    if engine and engine["name"] in OTHER_ENGINES:
        found = f"{engine['name']} {engine['version'] or ''}".strip()
        return Check("engine.present", "fail", "Docker Engine of the system", found, OTHER_ENGINES[engine["name"]])
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
        return _missing_requests(node, variables)
    if found is None:
        return Check("engine.present", "pass", found=f"{engine['name']} {engine['version']}")
    if truth(variables.get("container_engine_install"), True):
        return Check("engine.present", "warn", expected, found, INSTALLED)
    return Check("engine.present", "fail", expected, found, "install it, or set container_engine_install: true")
