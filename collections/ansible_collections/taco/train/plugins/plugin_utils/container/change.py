# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a change of a training container would interrupt, and what is said where it can't be made. Values in, values out."""

import hashlib
import json
from typing import Any, Mapping

from ansible_collections.taco.train.plugins.module_utils._node.engine import OPTIONS_LABEL, is_ours

# Actions of community.docker.docker_container that end the processes in a container.
ENDING = ("removed", "killed", "restarted", "stopped")
# The answer of `docker container inspect` and of `docker image inspect`.
NO_CONTAINER, NO_IMAGE = "no such container", "no such image"


def ends_processes(predicted: Mapping[str, Any]) -> bool:
    """Whether docker_container would end the processes of the container, by its result in check mode."""
    if not predicted.get("changed"):
        return False
    actions = predicted.get("actions")
    # A later version may not list them.
    return actions is None or any(key in action for action in actions for key in ENDING)


def inspected(text: str) -> dict[str, Any]:
    """The container or the image in the output of `docker inspect`, empty where it can't be read."""
    try:
        found = json.loads(text)[0]
    except (ValueError, LookupError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def foreign(container: dict[str, Any], image: dict[str, Any]) -> str | None:
    """Why a container doesn't count as made by the module training_container, None where it does.

    image is what the engine says of the image that the container was made from, empty where it has that image no longer.
    """
    if not is_ours(container, {}):
        return f"it has no label {OPTIONS_LABEL}"
    if not image:
        return (
            f"it has the label {OPTIONS_LABEL}, and the engine no longer has the image {container.get('Image')} that it was made "
            "from and that may have given it the label"
        )
    return (
        None if is_ours(container, image) else f"it has its label {OPTIONS_LABEL} from the image that it was made from"
    )


def with_updates(predicted: Mapping[str, Any]) -> dict[str, Any]:
    """The prediction of docker_container, which shows an update of the container in place in its difference only."""
    diff = predicted.get("diff") or {}
    return dict(predicted, changed=predicted.get("changed", False) or diff.get("before") != diff.get("after"))


def foreign_refusal(name: str, container: Mapping[str, Any], why: str) -> str:
    """The message that refuses to change or remove a container that was not made by the module."""
    image = (container.get("Config") or {}).get("Image") or "unknown"
    return (
        f"the container {name} is not known to be one of this collection: {why}; its image is {image}. It "
        "stays as it is. Set taco_container_name (option name) to another name, or rename it on the host with "
        f"`docker rename {name} NEW_NAME`, or remove it there with `docker rm --force {name}`, or set training_container_take_over: true "
        "(option take_over) to permit that it is changed and removed"
    )


def interruption(name: str, state: str) -> str:
    """The beginning of the message that refuses it."""
    return f"{'The removal' if state == 'absent' else 'The recreation or the restart'} of the container {name}"


def left(name: str, problem: str) -> str:
    """The message about a container that can't be removed."""
    return (
        f"the container {name} can't be removed, because {problem}: run `systemctl start docker && docker rm --force {name}` on the "
        "host, or start the engine and run this again"
    )


def described(
    name: str, state: str, predicted: Mapping[str, Any], container: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The reason of a change and what it interrupts, from docker_container's result in check mode and the container that is there."""
    found = f"there is no container {name}"
    ended = []
    if container:
        status, image = (container.get("State") or {}).get("Status"), (container.get("Config") or {}).get("Image")
        found = f"the container {name} is {status} from {image}"
        ended = [f"container {name} with its processes"] if status == "running" and ends_processes(predicted) else []
    differing = sorted((predicted.get("diff") or {}).get("before") or {})
    required = f"; it differs in {', '.join(differing)}" if container and state != "absent" and differing else ""
    return {"reason": f"{found}{required}; state is {state}", "interrupts": ended}


def unknown_change(name: str, problem: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The change to a container that can't be compared now. wanted are the options of docker_container, of which some can be secrets."""
    options = hashlib.sha256(json.dumps(wanted, sort_keys=True, default=str).encode("utf-8")).hexdigest()
    return {
        "changed": True,
        "msg": f"The container {name} would be started, but now {problem}.",
        "reason": f"the container {name} can't be compared: {problem}",
        "interrupts": [],
        "diff": {"prepared": f"image {wanted.get('image')}\nSHA-256 of all options: {options}\n"},
    }


def trouble_after_start(result: Mapping[str, Any]) -> str | None:
    """Return what the started container died of, or None when it runs."""
    state = (result.get("container") or {}).get("State") or {}
    if state.get("Status") in (None, "running"):
        return None
    return f"it is {state['Status']} instead of running, exit status {state.get('ExitCode')}: {state.get('Error') or 'see docker logs'}"
