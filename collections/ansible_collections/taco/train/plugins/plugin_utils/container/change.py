# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a change of a training container needs and what it would interrupt, by what was observed. Values in, values out."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.module_utils._node.engine import OPTIONS_LABEL
from ansible_collections.taco.train.plugins.plugin_utils.container.convergence import is_known

# Actions of community.docker.docker_container that end the processes in a container.
ENDING = ("removed", "killed", "restarted", "stopped")
REQUESTS = "requests"


def engine_problem(node: Mapping[str, Any] | None) -> str | None:
    """Why community.docker can't manage containers on the host, None when it can or when the host was not observed."""
    if not node:
        return None
    engine = node.get("container_engine")
    if engine is None:
        return "there is no Docker Engine"
    if not engine["running"]:
        return "the Docker Engine is stopped"
    if (node.get("python") or {}).get(REQUESTS) is False:
        return "the Python on this host has no requests"
    return None


def may_interrupt(options: Mapping[str, Any], node: Mapping[str, Any] | None) -> bool:
    """Whether a change could end processes in a container: one was observed to run, or the host was not observed."""
    if options["interrupt_running_work"]:
        return False
    if node is None:
        return True
    there = node.get("training_container") or {}
    return there.get("status") == "running" and not is_known(options, node)


def ends_processes(predicted: Mapping[str, Any]) -> bool:
    """Whether docker_container would end the processes of the container, by its result in check mode."""
    if not predicted.get("changed") or predicted.get("failed"):
        return False
    actions = predicted.get("actions")
    # A later version may not list them.
    return actions is None or any(key in action for action in actions for key in ENDING)


def interruption(name: str, state: str) -> str:
    """The beginning of the message that refuses it."""
    return f"{'The removal' if state == 'absent' else 'The recreation or the restart'} of the container {name}"


def is_foreign(container: Mapping[str, Any], image: Mapping[str, Any]) -> bool:
    """Whether a container was not made by the module training_container, by what the engine answers for it and its image.

    A container inherits the labels of its image, such as one that `docker commit` made of a training container.
    """
    labels, inherited = ((thing.get("Config") or {}).get("Labels") or {} for thing in (container, image))
    return labels.get(OPTIONS_LABEL) in (None, inherited.get(OPTIONS_LABEL))


def foreign_refusal(name: str, image: str | None) -> str:
    """The message that refuses to change or remove a container that was not made by the module."""
    return (
        f"the container {name} of the image {image or 'without a name'} was not made by taco.train (it has no label {OPTIONS_LABEL} of "
        "its own), so it is neither changed nor removed: set taco_container_name (name) to another name, remove it by "
        f"`docker rm {name}`, or set training_container_take_over: true (take_over) to permit that"
    )


def left(name: str, problem: str) -> str:
    """The message about a container that can't be removed."""
    return (
        f"the container {name} is still on the disk and can't be removed, because {problem}: run "
        f"`systemctl start docker && docker rm --force {name}` on the host, or start the engine and run this again"
    )
