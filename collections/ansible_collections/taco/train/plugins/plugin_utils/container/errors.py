# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Explain an error of community.docker for a training container, with a fix. Text in, text out."""

import re

_LIBRARY = re.compile(r"required Python library|No module named|Failed to import", re.IGNORECASE)
_CONNECTION = re.compile(
    r"error connecting|error while fetching server API version|docker\.sock|connection (aborted|refused)", re.IGNORECASE
)
_GPU = re.compile(r"could not select device driver|nvidia-container-cli|unknown or invalid runtime name", re.IGNORECASE)
_LIMIT = re.compile(r"rlimit|ulimit", re.IGNORECASE)
_IMAGE = re.compile(
    r"error pulling|can ?not find image|no such image|pull access denied|manifest (for|unknown)", re.IGNORECASE
)


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def lacks_library(message: str) -> bool:
    """Whether an error is that the Python on the host lacks a library that managing containers needs."""
    return bool(_LIBRARY.search(message))


def not_ready(message: str) -> str | None:
    """Why community.docker can't manage containers on the host yet, by its error; None for another error.

    The role container_engine corrects it. Missing rights it does not correct.
    """
    if lacks_library(message):
        return f"the Python on this host lacks a library ({_one_line(message)})"
    if _CONNECTION.search(message) and "permission denied" not in message.lower():
        return f"the Docker Engine can't be reached ({_one_line(message)})"
    return None


def explain(host: str, name: str, image: str, message: str) -> str:
    """Return the error with the host, what it means and what fixes it."""
    said = _one_line(message)
    if _LIBRARY.search(said):
        return (
            f"{host}: the Python on this host lacks a library that managing containers needs ({said}): install "
            "it by the role taco.train.container_engine (container_engine_python_packages), or python3-requests by hand; on CentOS 7 "
            "it is python36-requests of EPEL"
        )
    if _IMAGE.search(said):
        return (
            f"{host}: the image {image} is not in this host's engine and can't be pulled ({said}): set image (taco_image) to "
            f"one that can be pulled, or load it there with `docker load`"
        )
    if _GPU.search(said):
        return (
            f"{host}: the engine can't give GPUs to the container {name} ({said}): run the role "
            "taco.train.container_engine with container_engine_gpu: true, which adds the runtime nvidia to the engine. Where `docker "
            "info` lists that runtime, restart the engine: `systemctl restart docker`. Without GPUs: gpus: none (training_container_gpus)"
        )
    if _LIMIT.search(said):
        return (
            f"{host}: the engine can't set the limits of the container {name} ({said}): "
            "set ulimits (training_container_ulimits) to what this host grants"
        )
    if _CONNECTION.search(said):
        return (
            f"{host}: the Docker Engine can't be reached ({said}): start it with `systemctl start docker`, or run the role "
            "taco.train.container_engine; the play needs become: true"
        )
    return f"{host}: the training container {name} is not as wanted: {said}"
