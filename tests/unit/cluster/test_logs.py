# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A log that can't be read is lost with its pod only if there is one."""

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.failures import Trouble
from ansible_collections.taco.train.plugins.module_utils.cluster.logs import is_waiting, may_be_absent, never_ran


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ('container "mpi-worker" in pod "j-worker-0" is waiting to start: ContainerCreating', True),
        ('container "mpi-worker" in pod "j-worker-0" is waiting to start: PodInitializing', True),
        ('container "mpi-worker" in pod "j-worker-0" is waiting to start: trying and failing to pull image', True),
        ("pod j-worker-0 does not have a host assigned", True),
        ('container "mpi-worker" in pod "j-worker-0" is not available', True),
        ("container mpi-worker is not valid for pod j-worker-0", False),
        ("dial tcp 10.0.0.5:10250: i/o timeout", False),
        ('previous terminated container "mpi-worker" in pod "j-worker-0" not found', False),
    ],
)
def test_the_server_says_that_nothing_has_started(said, waits):
    assert is_waiting(Trouble("other", said)) is waits


def test_a_pod_that_is_gone_may_be_meant():
    assert may_be_absent(Trouble("other", "Pod default/j-worker-0 not found.")) and may_be_absent(
        Trouble("not found", "x", 404)
    )
    assert not may_be_absent(Trouble("other", "i/o timeout"))


def pod(phase, *statuses):
    return {"status": {"phase": phase, "containerStatuses": [{"name": "mpi-worker", **one} for one in statuses]}}


@pytest.mark.parametrize(
    ("found", "never"),
    [
        ({}, True),
        (pod("Pending"), True),
        (pod("Failed"), True),
        (pod("Running"), False),
        (pod("Unknown"), False),
        (pod("Pending", {"state": {"waiting": {"reason": "ContainerCreating"}}}), True),
        (pod("Running", {"state": {"running": {}}}), False),
        (pod("Failed", {"state": {"terminated": {"exitCode": 1}}}), False),
        (pod("Running", {"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 1}}}), False),
        (pod("Running", {"state": {"waiting": {}}, "restartCount": 2}), False),
    ],
)
def test_a_status_tells_whether_a_container_has_run(found, never):
    assert never_ran(found, "mpi-worker") is never
