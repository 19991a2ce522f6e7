# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A role is converged only where the controller can decide so: by a valid observation and by options that it knows."""

import pytest
from observed import NODE

from ansible_collections.taco.train.plugins.module_utils._boot.options import OPTIONS as HUGEPAGES
from ansible_collections.taco.train.plugins.module_utils._harp.options import OPTIONS as HARP
from ansible_collections.taco.train.plugins.module_utils._node.enis import OPTIONS as ENIS
from ansible_collections.taco.train.plugins.plugin_utils.container.options import OPTIONS as CONTAINER
from ansible_collections.taco.train.plugins.plugin_utils.convergence import converged, harp, hugepages
from ansible_collections.taco.train.plugins.plugin_utils.convergence.converged import ROLES, is_converged

EIGHT = {"expected": 8}


@pytest.mark.parametrize(
    ("desired", "node", "expected"),
    [
        (EIGHT, NODE, True),
        ({"expected": 7}, NODE, False),
        # The role needs no ENI.
        ({}, NODE, True),
        # A variable of the role can't be computed.
        (None, NODE, False),
        (EIGHT, dict(NODE, observed_at=None), False),
        (EIGHT, {}, False),
        (dict(EIGHT, later="x"), NODE, False),
        ({"expected": "many"}, NODE, False),
    ],
)
def test_the_host_is_left_alone_only_where_everything_is_known(desired, node, expected):
    assert is_converged("eni", desired, node) is expected


@pytest.mark.parametrize("work", [{"install": ["Docker Engine"]}, {"force": True}, {"prove": True}])
def test_an_engine_with_work_is_not_converged(work):
    idle = {"install": [], "force": False, "prove": False}
    assert is_converged("container_engine", idle, NODE) and not is_converged("container_engine", {**idle, **work}, NODE)


@pytest.mark.parametrize(
    ("known", "spec", "apart"),
    [
        (hugepages.KNOWN, HUGEPAGES, {"node", "desired"}),
        (harp.KNOWN, HARP, {"node", "desired"}),
        (converged.ENIS, ENIS, {"nics", "desired", "sysroot"}),
        (converged.CONTAINER, CONTAINER, {"node", "desired"}),
    ],
)
def test_every_option_is_decided_or_left_to_the_host_on_purpose(known, spec, apart):
    """A new option fails here until somebody has decided whether the controller can take it into account."""
    assert known.options == spec["argument_spec"].keys() - apart


def test_each_role_with_a_desired_value_has_a_decision():
    assert set(ROLES) == {"container_engine", "eni", "harp", "hugepages", "ssh_trust", "training_container"}
