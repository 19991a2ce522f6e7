# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each error of the engine names the host and what fixes it."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.container.errors import explain

MESSAGES = {
    "Error pulling image img:1 - 404 Client Error: Not Found": ("img:1", "taco_image"),
    "Cannot find image with name img:1, and pull=never": ("img:1", "taco_image"),
    "Failed to import the required Python library (requests) on node-0's Python": (
        "container_engine",
        "python3-requests",
    ),
    "Error connecting: Error while fetching server API version: ('Connection aborted.')": (
        "systemctl start docker",
        "become",
    ),
    'Error starting container 1f: could not select device driver "" with capabilities: [[gpu]]': (
        "container_engine_gpu",
        "training_container_gpus",
    ),
    "Error starting container 1f: error setting rlimit type 8: operation not permitted": (
        "training_container_ulimits",
    ),
    "Error creating container: something new": ("something new", "taco-train"),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_an_error_is_explained(message):
    text = explain("node-0", "taco-train", "img:1", message + ".\n  more")
    assert text.startswith("node-0: ")
    assert "\n" not in text
    for words in MESSAGES[message]:
        assert words in text
