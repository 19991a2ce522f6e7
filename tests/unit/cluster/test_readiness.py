# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a node is back."""

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster import readiness
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError

NODE = {
    "metadata": {"name": "n1", "labels": {"a": "b"}, "managedFields": ["long"]},
    "spec": {"unschedulable": True},
    "status": {
        "capacity": {"hugepages-1Gi": "50Gi", "hugepages-2Mi": "4Mi"},
        "allocatable": {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": "8"},
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {"bootID": "new"},
        "images": ["long"],
    },
}
DOWN = {
    **NODE,
    "status": {**NODE["status"], "conditions": [{"type": "Ready", "status": "Unknown", "message": "no word"}]},
}


def test_pages_are_counted_as_the_kubelet_has_them():
    assert readiness.pages(NODE) == {"1G": 50, "2M": 2}
    assert readiness.pages({}) == {"1G": 0, "2M": 0}


@pytest.mark.parametrize(
    "node, resources, counts, boot_id, words",
    [
        (NODE, {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": 8}, {"1G": 50}, "new", []),
        (NODE, {"hugepages-1Gi": "51Gi", "nvidia.com/gpu": 9}, {}, None, ["51 GiB", "9"]),
        (NODE, {}, {"1G": 49, "2M": 2}, None, ["counts 50 hugepages of 1G, and its kernel has 49"]),
        (NODE, {}, {}, "newer", ["has not reported since the reboot"]),
        ({**NODE, "status": {}}, {}, {}, "newer", []),
        (DOWN, {}, {}, None, ["n1 is not Ready (no word)"]),
    ],
)
def test_what_a_node_is_still_waited_for(node, resources, counts, boot_id, words):
    found = readiness.problems(node, resources, counts, boot_id)
    assert len(found) == len(words) and all(word in problem for word, problem in zip(words, found))


@pytest.mark.parametrize(
    "given, said",
    [
        ({"3G": 1}, "pages has the size '3G': expected 1G or 2M"),
        ({1: 1}, "pages has the size 1: expected 1G or 2M"),
        ({"1G": "x"}, "pages of 1G are 'x': expected a whole number, 0 or more"),
        ({"1G": None}, "pages of 1G are None: expected a whole number, 0 or more"),
        ({"2M": -1}, "pages of 2M are -1"),
        ({"2M": True}, "pages of 2M are True"),
        ({"2M": 1.5}, "pages of 2M are 1.5"),
        ({"2M": [1]}, "pages of 2M are "),
    ],
)
def test_pages_that_can_not_be_counted_are_refused(given, said):
    with pytest.raises(MpijobError) as error:
        readiness.wanted_pages(given)
    assert said in str(error.value)
    assert readiness.wanted_pages({"1G": "50", "2M": 0}) == {"1G": 50, "2M": 0}


def test_what_is_long_is_left_out():
    outline = readiness.outline(NODE)
    assert outline["metadata"] == {"name": "n1", "labels": {"a": "b"}}
    assert (
        set(outline["status"]) == {"capacity", "allocatable", "conditions", "nodeInfo"}
        and outline["spec"] == NODE["spec"]
    )
