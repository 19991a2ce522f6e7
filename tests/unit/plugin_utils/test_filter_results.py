# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What filters return holds lists and no tuples, which a loop refuses before ansible-core 2.19."""

import json

import pytest

from ansible_collections.taco.train.plugins.filter import benchmark, reboot

FILTERS = {
    name: function for module in (benchmark, reboot) for name, function in module.FilterModule().filters().items()
}
CALLS = [
    pytest.param("parse_benchmark", ["nothing that it knows"], id="parse_benchmark"),
    pytest.param("reboot_plan", [["gpu1", "gpu2", "gpu3"], "50%", 1], id="reboot_plan"),
]


@pytest.mark.parametrize("name, arguments", CALLS)
def test_a_filter_returns_no_tuple(name, arguments):
    result = FILTERS[name](*arguments)
    # JSON has one kind of list, and a tuple does not equal a list.
    assert result == json.loads(json.dumps(result))
