# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide by the observation whether a host has the desired pages."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import (
    HugepagesError,
    page_support,
    pages_for,
    require_fit,
)
from ansible_collections.taco.train.plugins.module_utils._boot.options import OPTIONS
from ansible_collections.taco.train.plugins.plugin_utils.convergence.answer import Known

# What only the module on the host can do or undo.
ONLY_THERE = {"state": "present", "sysroot": "/", "keep_other_sizes": True, "regenerate": True}
NEVER = ("trial", "runtime")
# The option force makes no difference to pages that are present.
OTHERS = ("count", "gpus", "page_size", "max_memory_fraction", "force", "state_dir")


def decide(options: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any] | None:
    """The result of the module hugepages, or None when the host has to be asked.

    options are those of the module; node is what node_info returned. Whatever would change something or be refused is left to
    the module.
    """
    reserved = (node.get("boot") or {}).get("hugepages")
    if not reserved or any(options[name] for name in NEVER):
        return None
    if any(options[name] != value for name, value in ONLY_THERE.items()):
        return None
    if any(reserved[name] != options[name] for name in ("page_size", "state_dir")) or reserved["kept"]:
        return None
    # The host may have been booted since, and nobody's node is to be drained for a reboot that it has had.
    if reserved["reboot_required"]:
        return None
    page_size, memory = options["page_size"], node["memory"]["total_bytes"]
    try:
        count = options["count"] if options["gpus"] is None else pages_for(options["gpus"], page_size)
        require_fit(page_size, count, memory, options["max_memory_fraction"], *page_support(node["cpu"], page_size))
    except HugepagesError:
        return None
    if count != reserved["count"] or not memory:
        return None
    result = {name: value for name, value in reserved.items() if name != "state_dir"}
    return {**result, "changed": False, "files": [], "diff": []}


KNOWN = Known(OPTIONS, frozenset([*ONLY_THERE, *NEVER, *OTHERS]), decide)
