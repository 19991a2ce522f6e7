# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What filters return holds lists and no tuples, which a loop refuses before ansible-core 2.19."""

import json

import pytest

from ansible_collections.taco.train.plugins.filter import benchmark, reboot
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS

FILTERS = {
    name: function for module in (benchmark, reboot) for name, function in module.FilterModule().filters().items()
}
OWN_ARM = {"name": "mine", "before": [["echo", "a b"], ["true"]], "after": [["sync"]]}
CALLS = [
    *(pytest.param("benchmark_arm", [arm], id=f"benchmark_arm {arm}") for arm in ARMS),
    pytest.param("benchmark_arm", [OWN_ARM], id="benchmark_arm of a user"),
    pytest.param("parse_benchmark", ["nothing that it knows"], id="parse_benchmark"),
    pytest.param("reboot_plan", [["gpu1", "gpu2", "gpu3"], "50%", 1], id="reboot_plan"),
]


@pytest.mark.parametrize("name, arguments", CALLS)
def test_a_filter_returns_no_tuple(name, arguments):
    result = FILTERS[name](*arguments)
    # JSON has one kind of list, and a tuple does not equal a list.
    assert result == json.loads(json.dumps(result))


def test_the_commands_of_an_arm_are_those_that_were_given():
    result = FILTERS["benchmark_arm"](OWN_ARM)
    assert (result["before"], result["after"]) == (OWN_ARM["before"], OWN_ARM["after"])
