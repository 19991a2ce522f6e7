# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A worker, and the module acceleration on it."""

import sys

import pytest
from fake_worker import Worker

from ansible_collections.taco.train.plugins.modules import acceleration


@pytest.fixture
def worker(tmp_path):
    made = Worker(tmp_path)
    yield made
    made.close()


@pytest.fixture
def arm(worker, run):
    """Return a function that runs the module on the worker."""

    def call(check=False, **options):
        common = {
            "container": "box",
            "engine_command": [str(worker.engine)],
            "plugin_path": str(worker.plugin),
            "python": sys.executable,
            "state_dir": str(worker.state),
            "pip_args": ["--no-index", "--find-links", str(worker.index)],
        }
        common.update(options)
        return run(acceleration.main, check=check, **common)

    return call
