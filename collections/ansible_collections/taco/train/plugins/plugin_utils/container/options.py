# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module training_container accepts, and what it asks of community.docker.docker_container. Values in, values out."""

import hashlib
import json
from typing import Any, Mapping

from ansible_collections.taco.train.plugins.module_utils._node.engine import OPTIONS_LABEL
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import has_harp
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import (
    DOCKER_PROFILES,
    TrainingSpec,
    docker_container_options,
    read_gpus,
    spec_for,
)

OPTIONS: dict[str, Any] = {
    "argument_spec": {
        "name": {"type": "str", "required": True},
        "image": {"type": "str"},
        "profile": {"type": "str", "choices": list(DOCKER_PROFILES), "default": "harp"},
        "state": {"type": "str", "choices": ["started", "absent"], "default": "started"},
        "command": {"type": "list", "elements": "str"},
        "gpus": {"type": "raw"},
        "shm_size": {"type": "str"},
        "ulimits": {"type": "list", "elements": "str"},
        "mounts": {"type": "list", "elements": "str"},
        "mounts_extra": {"type": "list", "elements": "str", "default": []},
        "privileged": {"type": "bool"},
        "network_mode": {"type": "str"},
        "environment": {"type": "dict", "default": {}},
        "restart_policy": {"type": "str", "choices": ["no", "on-failure", "always", "unless-stopped"]},
        "pull": {"type": "str", "choices": ["missing", "always", "never"], "default": "missing"},
        "harp_config_dir": {"type": "str", "default": "/usr/local/tfabric/tools/config"},
        "harp_config_files": {"type": "list", "elements": "raw"},
        "require_harp": {"type": "bool"},
        "state_dir": {"type": "str", "default": "/var/lib/taco-train"},
        "interrupt_running_work": {"type": "bool", "default": False},
        "may_stay": {"type": "bool", "default": False},
        "take_over": {"type": "bool", "default": False},
    }
}
OVERRIDES = (
    "image",
    "name",
    "command",
    "gpus",
    "shm_size",
    "ulimits",
    "mounts",
    "privileged",
    "network_mode",
    "environment",
    "restart_policy",
)
# Without these a mount, variable or limit that was taken out of the inventory would stay in the container. The label only
# remembers what the container was made from: nobody's container is made anew because it lacks it.
COMPARED = {"volumes": "strict", "env": "strict", "ulimits": "strict", "device_requests": "strict", "labels": "ignore"}


def spec_of(options: Mapping[str, Any]) -> TrainingSpec:
    """Return the spec that the task's options describe. A templated null can arrive as an empty string."""
    overrides = {name: None if options[name] == "" else options[name] for name in OVERRIDES}
    overrides["gpus"] = read_gpus(overrides["gpus"])
    return spec_for(options["profile"], overrides, options["mounts_extra"])


def options_sha256(spec: TrainingSpec) -> str:
    """Return the checksum of the options with which a container is created, which identifies them later."""
    return hashlib.sha256(json.dumps(docker_container_options(spec), sort_keys=True).encode()).hexdigest()


def module_options(spec: TrainingSpec, pull: str) -> dict[str, Any]:
    """Return all options of community.docker.docker_container for a container that runs."""
    options = docker_container_options(spec)
    options.update(state="started", detach=True, pull=pull, comparisons=COMPARED, command_handling="correct")
    options["labels"] = {OPTIONS_LABEL: options_sha256(spec)}
    return options


def with_unique_label(options: Mapping[str, Any], unique: str) -> dict[str, Any]:
    """Return the options with a label that no image has, as `docker commit` copies labels into images; unique is used once."""
    labels = {name: f"{value}.{unique}" for name, value in options.get("labels", {}).items()}
    return {**options, "labels": labels} if labels else dict(options)


def harp_refusal(options: Mapping[str, Any], host: str) -> str | None:
    """The reason why HARP could not start in the container, or None."""
    required = options["require_harp"]
    if required is None:
        required = has_harp(options["profile"])
    # HARP would not start with an empty one either.
    given = options["harp_config_files"]
    files = [one for one in given or [] if not isinstance(one, dict) or one.get("size", 1)]
    if not required or files:
        return None
    if given is None:
        return (
            f"{host}: the container {options['name']} is not started: HARP aborts without its configuration, and the option "
            "harp_config_files doesn't say whether there is one. Set it to the files that taco.train.harp_config or taco.train.node_info "
            "returned; without HARP set the option profile to lightcc, or require_harp to false"
        )
    return (
        f"{host}: the container {options['name']} is not started: HARP would abort, since harp_config_files has no file that is not "
        "empty. Run the role taco.train.harp (or the module harp_config) first, and pass harp.config_files of node_info; without HARP set "
        "profile: lightcc (training_container_profile)"
    )
