# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a change of a training container would interrupt, and what is said where it can't be made. Values in, values out."""

from typing import Any, Mapping

# Actions of community.docker.docker_container that end the processes in a container.
ENDING = ("removed", "killed", "restarted", "stopped")
# The answer of `docker container inspect`.
NO_CONTAINER = "no such container"


def ends_processes(predicted: Mapping[str, Any]) -> bool:
    """Whether docker_container would end the processes of the container, by its result in check mode."""
    if not predicted.get("changed"):
        return False
    actions = predicted.get("actions")
    # A later version may not list them.
    return actions is None or any(key in action for action in actions for key in ENDING)


def interruption(name: str, state: str) -> str:
    """The beginning of the message that refuses it."""
    return f"{'The removal' if state == 'absent' else 'The recreation or the restart'} of the container {name}"


def left(name: str, problem: str) -> str:
    """The message about a container that can't be removed."""
    return (
        f"the container {name} can't be removed, because {problem}: run `systemctl start docker && docker rm --force {name}` on the "
        "host, or start the engine and run this again"
    )


def trouble_after_start(result: Mapping[str, Any]) -> str | None:
    """Return what the started container died of, or None when it runs."""
    state = (result.get("container") or {}).get("State") or {}
    if state.get("Status") in (None, "running"):
        return None
    return f"it is {state['Status']} instead of running, exit status {state.get('ExitCode')}: {state.get('Error') or 'see docker logs'}"
