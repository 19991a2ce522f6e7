# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of memory: hugepages that are to be reserved, and those that the running kernel has."""

from typing import Any, Dict, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.contradictions import contradicting, in_words, remedy
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    PAGE_BYTES,
    KernelLine,
    Number,
    pages_of,
)
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import (
    fitting,
    page_support,
    pages_for,
    small_nodes,
)
from ansible_collections.taco.train.plugins.plugin_utils.check import Check, fraction, gib, is_set, skipped, whole
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import without_harp
from ansible_collections.taco.train.plugins.plugin_utils.reboot.proof import mount_problem


def wanted_pages(variables: Dict[str, Any]) -> Optional[Tuple[int, str]]:
    """The number and size of the pages to reserve, or None when unknown or none."""
    size = str(variables.get("hugepages_page_size") or "1G")
    if size not in PAGE_BYTES or variables.get("hugepages_state") not in (None, "present") or without_harp(variables):
        return None
    if is_set(variables.get("hugepages_count")):
        count = whole(variables["hugepages_count"])
        return (count, size) if count and count > 0 else None
    gpus = whole(variables.get("taco_gpus_per_node"))
    return (pages_for(gpus, size), size) if gpus and gpus > 0 else None


def _name(size: str) -> str:
    return "1 GiB" if size == "1G" else "2 MiB"


def page_size(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the processors have pages of the size wanted."""
    wanted = wanted_pages(variables)
    if wanted is None:
        return skipped("cpu.page_size", "no hugepages are to be reserved")
    size = wanted[1]
    supported, flag = page_support(node["cpu"], size)
    if supported:
        return Check("cpu.page_size", "pass", found=f"pages of {_name(size)}")
    fix = "set hugepages_page_size: 2M, or give the virtual machine a CPU model with that flag"
    return Check("cpu.page_size", "fail", f"a CPU with pages of {_name(size)}", f"no flag {flag} in /proc/cpuinfo", fix)


def _pools(node: Dict[str, Any]) -> Dict[int, Dict[str, Any]]:
    return {pool["size_bytes"]: pool for pool in node["hugepages"]["pools"]}


def _number(node: Dict[str, Any], size: str, count: int) -> Number:
    """Return the pages of each NUMA node on the running kernel line where they add up to the number wanted, else that number."""
    given = KernelLine(node["kernel"]["cmdline"].split()).counts(size)
    return given[0] if [pages_of(number) for number in given] == [count] else count


def hugepages_fit(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the pages leave enough memory: a host that reserves nearly all of it doesn't boot."""
    wanted, total = wanted_pages(variables), node["memory"]["total_bytes"]
    if wanted is None or not total:
        return skipped("memory.hugepages", "no hugepages are to be reserved" if total else "the memory is not known")
    count, size = wanted
    most = min(fraction(variables.get(f"{role}_max_memory_fraction"), 0.8) for role in ("preflight", "hugepages"))
    found = f"{count} pages of {_name(size)} of {gib(total)}"
    fits = fitting(size, total, most)
    small = small_nodes(node["hugepages"].get("nodes") or [], size, _number(node, size, count), most)
    if count <= fits and not small:
        return Check("memory.hugepages", "pass", found=found)
    if count <= fits:
        fix = (
            "lower hugepages_count, or give the number of each node on the kernel line yourself (hugepages=0:PAGES,1:PAGES, kernel "
            "5.16 and newer); otherwise the kernel takes the others from other nodes"
        )
        return Check("memory.hugepages", "warn", f"an equal share of {count} pages on each node", "; ".join(small), fix)
    fix = (
        f"set hugepages_count to {fits} or less, use a host with more memory, or raise "
        "preflight_max_memory_fraction and hugepages_max_memory_fraction"
    )
    return Check("memory.hugepages", "fail", f"at most {gib(int(most * total))} ({most:.0%} of memory)", found, fix)


def _unexplained(node: Dict[str, Any], size: str) -> str:
    """Name pages of the default size that neither the kernel line nor a setting that was found gives, as vm.nr_hugepages counts them."""
    names = {value: name for name, value in PAGE_BYTES.items()}
    default = names.get(node["hugepages"]["default_size_bytes"], size)
    total = _pools(node).get(PAGE_BYTES[default], {"total": 0})["total"]
    asked = KernelLine(node["kernel"]["cmdline"].split()).counts(default)
    if default == size or not total or node["hugepages"].get("sysctl") or total in map(pages_of, asked):
        return ""
    given = " and ".join(asked) or "none"
    has = f"the running kernel has {total} pages of {_name(default)} and its kernel line asks for {given}"
    return f"{has}; no setting that was found explains that"


def hugepages_sysctl(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that no setting of others changes the pages after each boot, such as sysctl, tuned, tmpfiles.d or a unit of systemd."""
    wanted = wanted_pages(variables)
    if wanted is None:
        return skipped("hugepages.sysctl", "no hugepages are to be reserved")
    count, size = wanted
    found = contradicting(node["hugepages"].get("sysctl", []), size, count)
    unexplained = "" if found else _unexplained(node, size)
    if unexplained:
        fix = "find what sets them, if it runs after each boot: it would set pages of the new default size then"
        return Check("hugepages.sysctl", "warn", "pages that the kernel line asks for", unexplained, fix)
    if not found:
        return Check("hugepages.sysctl", "pass", found="no setting of another number of pages")
    expected = f"nothing that changes the {count} pages of {_name(size)} after a boot"
    return Check("hugepages.sysctl", "fail", expected, in_words(found), remedy(found, size, count))


def hugepages_running(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check whether the running kernel has the pages already, free and at /dev/hugepages; if not, a reboot lies ahead."""
    wanted = wanted_pages(variables)
    if wanted is None:
        return skipped("hugepages.running", "no hugepages are to be reserved")
    count, size = wanted
    pool = _pools(node).get(PAGE_BYTES[size], {"total": 0, "free": 0})
    expected, found = f"{count} pages of {_name(size)}", f"{pool['total']} pages of {_name(size)}"
    problem = mount_problem(node, size)
    if pool["total"] < count or (problem and node["hugepages"]["default_size_bytes"] != PAGE_BYTES[size]):
        fix = "none needed yet: role hugepages configures them as the default size and the host has to be rebooted then"
        # One mount follows the default size.
        found += f"; {problem[0]}" if problem and len(node["hugepages"]["mounts"]) > 1 else ""
        return Check("hugepages.running", "warn", expected, found, fix)
    if problem:
        return Check("hugepages.running", "fail", f"pages of {_name(size)} at /dev/hugepages", *problem)
    if not pool["free"]:
        fix = "end what uses them, unless that is your own training"
        return Check("hugepages.running", "warn", f"{expected}, free", f"{found}, none free", fix)
    return Check("hugepages.running", "pass", found=found)
