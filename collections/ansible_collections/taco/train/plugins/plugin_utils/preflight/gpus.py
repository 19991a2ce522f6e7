# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of GPUs, of ENIs, which are as many, and of the instance type that says how many there should be."""

import re
from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.module_utils._node.enis import (
    AmbiguousError,
    EniError,
    find_enis,
    judge_enis,
)
from ansible_collections.taco.train.plugins.plugin_utils.check import Check, is_set, skipped, whole
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import without_harp
from ansible_collections.taco.train.plugins.plugin_utils.preflight.instance_types import (
    INSTANCE_TYPES,
    VIRTUAL,
    similar,
)
from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import DECLARED, declared_gpus


def gpu_count(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the GPUs declared are there and have a driver."""
    wanted = declared_gpus(variables)
    if wanted is None:
        return skipped("gpu.count", "taco_gpus_per_node is not set", DECLARED)
    if variables.get("preflight_gpu_source") == "inventory":
        found = f"{wanted}, counted from the inventory and not on the host"
        return Check(
            "gpu.count", "warn", f"{wanted} GPUs", found, "none needed in a lab; else unset preflight_gpu_source"
        )
    gpus = node["gpus"]
    expected = f"{wanted} GPUs"
    found = f"{gpus['count']}, counted by {gpus['source']}" if gpus["count"] else "none"
    if gpus["count"] < wanted:
        fix = "correct taco_gpus_per_node, or search for the missing GPUs with lspci and nvidia-smi"
        if not gpus["count"]:
            fix += "; for a lab without GPUs set preflight_gpu_source: inventory"
        return Check("gpu.count", "fail", expected, found, fix)
    if gpus["source"] == "pci":
        found += f": {gpus.get('problem') or 'nvidia-smi lists none'}"
        fix = "install or load the NVIDIA driver"
        if gpus.get("problem"):
            fix += "; if nvidia-smi hangs, look for Xid messages in `dmesg` and reboot the host"
        return Check("gpu.count", "warn", expected + " with a driver", found, fix)
    if gpus["count"] > wanted:
        return Check("gpu.count", "warn", expected, found, f"set taco_gpus_per_node: {gpus['count']} to use them all")
    return Check("gpu.count", "pass", found=found)


def instance_type(node: Optional[Dict[str, Any]], variables: Dict[str, Any]) -> Check:
    """Check that the GPUs declared are those that the vendor publishes for the type."""
    told = ((node or {}).get("metadata") or {}).get("instance_type")
    name = variables.get("taco_instance_type") or told
    wanted = declared_gpus(variables)
    if not is_set(name):
        return skipped("instance.type", "taco_instance_type is not set")
    if told and name != told:
        fix = f"set taco_instance_type: {told}"
        return Check("instance.type", "fail", f"{name} (taco_instance_type)", f"{told} (instance metadata)", fix)
    if name in VIRTUAL:
        fix = "use an instance type with whole GPUs"
        return Check("instance.type", "fail", "whole GPUs", f"{name} has {VIRTUAL[name]:g} of a GPU", fix)
    if name not in INSTANCE_TYPES:
        near = similar(str(name))
        fix = "none needed if the type is correct"
        if near:
            fix = f"set taco_instance_type: {near[0]} if this is the type; otherwise no fix is needed"
        return Check("instance.type", "warn", "a known instance type", str(name), fix)
    has = INSTANCE_TYPES[name]
    found = f"{name}: {has.gpus} x {has.gpu_model}"
    if wanted is None or wanted == has.gpus:
        return Check("instance.type", "pass", found=found)
    fix = f"set taco_gpus_per_node: {has.gpus}, or correct taco_instance_type"
    return Check("instance.type", "fail" if wanted > has.gpus else "warn", f"{wanted} GPUs", found, fix)


def _differs(model: str, name: str) -> bool:
    """Whether the name that nvidia-smi gives a GPU, such as NVIDIA A100-SXM4-40GB, is that of another model than A100 40 GB."""
    series, *size = model.split()
    words = re.split(r"[^A-Za-z0-9]+", name)
    sizes = [word for word in words if re.fullmatch(r"[0-9]+GB", word)]
    return series not in words or bool(size and sizes and "".join(size) not in sizes)


def gpu_model(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that the GPUs are of the model that the vendor publishes for the type."""
    told = (node.get("metadata") or {}).get("instance_type")
    name = variables.get("taco_instance_type") or told
    if name not in INSTANCE_TYPES:
        return skipped("gpu.model", "the model is not known for the instance type")
    names = sorted({str(gpu["name"]) for gpu in node["gpus"]["devices"] if gpu.get("name")})
    if not names:
        return skipped("gpu.model", "nvidia-smi names no GPU", "gpu.count")
    model = INSTANCE_TYPES[name].gpu_model
    if any(_differs(model, one) for one in names):
        fix = "correct taco_instance_type, or leave it out"
        return Check("gpu.model", "fail", f"{model}, as in {name}", ", ".join(names), fix)
    return Check("gpu.model", "pass", found=", ".join(names))


def eni_count(node: Dict[str, Any], variables: Dict[str, Any]) -> Check:
    """Check that there is an ENI for each GPU."""
    if without_harp(variables):
        return skipped("eni.count", without_harp(variables))
    value = variables.get("eni_count")
    wanted = whole(value) if is_set(value) else declared_gpus(variables)
    if wanted is None and is_set(value):
        return Check("eni.count", "fail", "a number", f"eni_count: {value}", "correct eni_count, or leave it out")
    if wanted is None:
        return skipped("eni.count", "taco_gpus_per_node is not set", DECLARED)
    if variables.get("harp_source") == "none" and not is_set(value):
        return skipped("eni.count", "harp_source is none and eni_count is not set")
    subnets = variables.get("eni_subnets") or []
    if isinstance(subnets, str):
        subnets = [subnets]
    source = "eni_count" if is_set(value) else "one for each GPU"
    fix = "attach or detach ENIs, correct eni_count, or select the ENIs with eni_pattern"
    try:
        enis = find_enis(node["nics"], str(variables.get("eni_pattern") or "") or None)
        problems = judge_enis(enis, wanted, subnets, node["nics"])
    except AmbiguousError as error:
        fix = "set eni_pattern to match the ENIs and not the primary interface, or preflight_metadata: auto"
        return Check("eni.count", "fail", "one primary interface", error.problem, fix)
    except EniError as error:
        return Check("eni.count", "fail", "a pattern and subnets", str(error), "correct eni_pattern or eni_subnets")
    expected = f"{wanted} secondary ENIs ({source})"
    if problems:
        return Check("eni.count", "fail", expected, "; ".join(problems), fix)
    return Check("eni.count", "pass", expected, ", ".join(eni["name"] for eni in enis))
