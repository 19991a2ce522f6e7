# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What NCCL's own lines say about the network."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.parse_nccl_log import networks, plugin_in_use

INFO = "[1,2]<stdout>:gpu1:2122:2137 [2] NCCL INFO "


@pytest.mark.parametrize(
    ("said", "in_use"),
    [
        (["Using network Socket"], False),
        (["Using network IB"], False),
        (["Using network HARP"], True),
        (["Using network AWS Libfabric"], True),
        (["Using network HARP", "Using network Socket"], False),
        (["NET/Plugin : No plugin found (libnccl-net.so), using internal implementation"], False),
        (["NET/Plugin: Using internal network plugin."], False),
        (["NET/Plugin: Loaded net plugin HARP (v4)"], None),
        (["NET/Plugin: Loaded net plugin HARP (v4)", "Using network HARP"], True),
        (["NET/Plugin: Failed to find ncclCollNetPlugin_v4 symbol.", "Using network HARP"], True),
        (["NET/Socket : Using [0]eth0:10.0.0.1<0>"], None),
        ([], None),
    ],
)
def test_a_plugin_is_in_use_when_nccl_names_a_network_that_is_not_its_own(said, in_use):
    assert plugin_in_use("".join(INFO + line + "\n" for line in said)) is in_use


@pytest.mark.parametrize("text", [None, 5, b"Using network HARP"])
def test_what_is_no_text_says_nothing(text):
    assert plugin_in_use(text) is None


def test_the_words_outside_a_line_of_nccl_say_nothing():
    assert networks(["echo Using network HARP", INFO + "Using network A", INFO + "Using network A"]) == ["A"]
