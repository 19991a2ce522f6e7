# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.preflight.no_hosts import no_host

GROUPS = {"all": ["a1", "a2", "w1"], "ungrouped": [], "api": ["a1", "a2"], "web": ["w1"], "old": []}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("gpu_nodes", GROUPS, [], None),
            ["'gpu_nodes' (variable taco_hosts)", "api (2 hosts), old (0 hosts), web (1 host)", "-e taco_hosts=GROUP"],
        ),
        (("", GROUPS, [], None), ["the variable taco_hosts is empty", "web (1 host)"]),
        (("api", GROUPS, ["a1", "a2"], "w1"), ["--limit w1 excludes every host of 'api' (a1, a2)", "Change --limit"]),
        # The group is wrong, whatever the limit.
        (("gpu_nodes", GROUPS, [], "w1"), ["'gpu_nodes' (variable taco_hosts)"]),
        (("gpu_nodes", {"all": [], "ungrouped": []}, [], None), ["the inventory has no hosts", "-i INVENTORY"]),
        (("gpu_nodes", {"all": ["a1"], "ungrouped": ["a1"]}, [], None), ["the inventory has no groups"]),
    ],
)
def test_the_error_names_what_was_wanted_what_there_is_and_the_fix(arguments, said):
    text = no_host(*arguments)
    assert all(part in text for part in said), text


def test_a_long_list_of_groups_is_cut():
    text = no_host("gpu_nodes", {"all": ["h"], **{f"group{number:03}": ["h"] for number in range(300)}}, [], None)
    assert "group004 (1 host) and 295 more" in text and "group005" not in text
