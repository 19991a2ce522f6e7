# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cluster the outcomes are checked on."""

import contextlib
import os

import contract_cluster
import pytest


def pytest_collection_modifyitems(config, items):
    """On a real cluster leave out what only the double can bring about; the marker has the reason."""
    if contract_cluster.NODE in os.environ:
        left = [item for item in items if item.get_closest_marker("double_only")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


@pytest.fixture
def double():
    """Return a function that starts a double, which ends with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *given, **options: stack.enter_context(contract_cluster.double(*given, **options))


@pytest.fixture
def cluster():
    """Return the cluster of the test, with a namespace of its own."""
    node = os.environ.get(contract_cluster.NODE)
    with contract_cluster.real(node) if node else contract_cluster.double() as found:
        yield found
