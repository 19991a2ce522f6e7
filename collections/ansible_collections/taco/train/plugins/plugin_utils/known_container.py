# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answer from what was observed whether a training container is the one that is asked for, so that it needs no second look."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.container_options import harp_refusal, options_sha256, spec_of
from ansible_collections.taco.train.plugins.plugin_utils.training_spec import SpecError, docker_run_argv


def known_answer(options: Mapping[str, Any], node: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the result of the module training_container, or None when the host has to be asked.

    options are those of the module; node is what node_info returned. Whatever would change something or be refused is left to
    the module, which says it.

    All that a container was made from is fixed but for two things: its restart policy (docker update), and which image has the
    name that it was made from (docker pull).
    """
    there = (node or {}).get("training_container")
    if not there or options["state"] != "started" or options["pull"] == "always" or harp_refusal(options, ""):
        return None
    try:
        spec = spec_of(options)
    except SpecError:
        return None
    expected = {
        "name": spec.name,
        "status": "running",
        "restart_policy": spec.restart_policy,
        "options_sha256": options_sha256(spec),
        "image_id": there["image_id_by_name"],
    }
    if not there["image_id"] or any(there[key] != value for key, value in expected.items()):
        return None
    return {"changed": False, "docker_run": docker_run_argv(spec)}
