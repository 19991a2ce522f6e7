# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell by what was observed whether a training container is the one that is asked for, so that the engine needn't be asked."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.container.options import harp_refusal, options_sha256, spec_of
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import SpecError


def is_known(options: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Say whether the module training_container with these options would change nothing and refuse nothing.

    node is what node_info returned; its observed_at is null when the host was changed since. The container's label says what it was
    made from. Of that, two things can change while it is there: its restart policy (docker update), and which image has the name that
    it was made from (docker pull). The name of the image is compared as well, for the label could have come with another image
    (docker commit).
    """
    there = node.get("training_container")
    if node.get("observed_at") is None or not there or options["state"] != "started" or options["pull"] == "always":
        return False
    if harp_refusal(options, ""):
        return False
    try:
        spec = spec_of(options)
    except SpecError:
        return False
    expected = {
        "name": spec.name,
        "status": "running",
        "image": spec.image,
        "image_id": there["image_id_by_name"],
        "restart_policy": spec.restart_policy,
        "options_sha256": options_sha256(spec),
    }
    return bool(there["image_id"]) and all(there[key] == value for key, value in expected.items())
