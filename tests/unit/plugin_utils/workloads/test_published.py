# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The vendors' figures, and the arithmetic that they were made with."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import (
    PUBLISHED,
    efficiency,
)

CASES = {(case.instances, case.model, bool(case.single)): case for case in PUBLISHED}


@pytest.mark.parametrize(
    ("instances", "model", "percent"),
    [
        (
            *("2 x GT4.41XLARGE948", "ResNet50"),
            {"Horovod over kernel TCP": 44.27, "Horovod and HARP": 63.20, "LightCC and HARP": 89.87},
        ),
        ("2 x HCCPNV4h", "ResNet50", {"Horovod over RDMA": 93.85, "LightCC over RDMA": 95.63}),
    ],
)
def test_the_vendors_percentages_come_out_of_its_figures(instances, model, percent):
    case = CASES[instances, model, True]
    found = {name: 100 * efficiency(total, case.ranks, case.single) for name, total in case.totals.items()}
    assert found == pytest.approx(percent, abs=0.01)


def test_one_host_of_eight():
    assert efficiency(6105, 8, 777) == pytest.approx(0.9821, abs=0.0001)
    # The vendor cuts the percentages of this case to whole ones.
    case = CASES["2 x GN10Xp.20XLARGE320", "vgg16", True]
    found = [int(100 * efficiency(total, case.ranks, case.single)) for total in case.totals.values()]
    assert (found, int(100 * efficiency(case.host, 8, case.single))) == ([21, 40, 88], 98)


def test_placement_by_topology_is_worth_what_was_published():
    gains = {case.model: case.totals for case in PUBLISHED if "ACK" in case.instances}
    ratio = {model: totals["scheduled by topology"] / totals["scheduled as usual"] for model, totals in gains.items()}
    assert ratio == pytest.approx({"vgg16": 4.95, "resnet50": 1.97}, abs=0.01)


@pytest.mark.parametrize("numbers", [(0, 16, 777), (1, 0, 777), (1, 16, -1), (float("nan"), 1, 1)])
def test_no_efficiency_of_what_was_not_measured(numbers):
    with pytest.raises(ValueError, match="numbers above zero"):
        efficiency(*numbers)
