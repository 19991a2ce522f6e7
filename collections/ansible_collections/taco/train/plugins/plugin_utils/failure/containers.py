# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that the container engine reports, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause

CONTAINERS = [
    cause(
        "locked",
        r"Another benchmark holds the training container",
        "another run still goes on in the launcher's training container",
        "wait for it, or end mpirun there",
    ),
    cause(
        "engine",
        r"Cannot connect to the Docker daemon|Is the docker daemon running|failed to connect to the docker API|"
        r"permission denied while trying to connect to the (?:Docker daemon|docker API)",
        "the container engine does not answer",
        "run the container_engine role (playbook deploy)",
    ),
    cause(
        "container_absent",
        r"No such container:? (?P<container>\S+)",
        "the container {container} does not exist",
        "run the training_container role (playbook deploy), or set taco_container_name",
    ),
    cause(
        "container_stopped",
        r"[Cc]ontainer (?P<container>\S+) is (?:not running|restarting|paused)|cannot exec in a (?:paused|stopped) container",
        "the container {container} is not running",
        "run the training_container role (playbook deploy)",
    ),
    cause(
        "container_gpu",
        r"could not select device driver|(?P<program>Command not found: nvidia-container-cli)|"
        r"nvidia-container-cli: (?!requirement error)(?P<why>.{1,200})|unknown or invalid runtime name: "
        r"nvidia|exec: \"nvidia-container-runtime\w*\": executable file not found",
        "the container engine can't give GPUs to a container ({why}{program})",
        "run the container_engine role, and check nvidia-smi on the host",
    ),
]
