# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What NCCL's own lines say about the network."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_log import (
    networks,
    of_others,
    plugin,
    why_not_loaded,
)

INFO = "[1,2]<stdout>:gpu1:2122:2137 [2] NCCL INFO "


@pytest.mark.parametrize(
    "said", [["Using network HARP", "Using network Socket"], ["NET/Plugin: Using internal network plugin."]]
)
def test_no_plugin_is_in_use_where_a_rank_sends_without_it(said):
    assert plugin("".join(INFO + line + "\n" for line in said)) is False


@pytest.mark.parametrize("text", [None, 5, b"Using network HARP"])
def test_what_is_no_text_says_nothing(text):
    assert plugin(text) is None


def test_the_words_outside_a_line_of_nccl_say_nothing():
    assert networks(["echo Using network HARP", INFO + "Using network A", INFO + "Using network A"]) == ["A"]


@pytest.mark.parametrize(
    ("name", "found", "others"),
    [
        ("HARP", "HARP", False),
        ("ztcp_net", "HARP", False),
        ("IBext_v8", "IBext_v8", True),
        ("AWS Libfabric", "AWS Libfabric", True),
        ("FastPath", "FastPath", False),
        ("Socket", False, False),
    ],
)
def test_harp_is_recognised_by_name_and_another_plugin_is_its_name(name, found, others):
    assert plugin(INFO + f"Using network {name}\n") == found
    assert of_others(found) is others


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open shared object file: No such file",
            None,
        ),
        ("NET/Plugin : Plugin load returned 0 : /lib/libc.so.6: version `GLIBC_2.33' not found.", "GLIBC_2.33"),
        (
            "NET/Plugin : dlerror=libibverbs.so.1: cannot open shared object file No plugin found (libnccl-net.so)",
            "libibverbs",
        ),
        ("NET/Plugin: Failed to find ncclNetPlugin_v5 symbol.", "ncclNetPlugin_v5"),
        ("Failed to initialize NET plugin HARP", "initialize NET plugin HARP"),
        ("Using network Socket", None),
    ],
)
def test_why_the_plugin_was_not_loaded(line, why):
    found = why_not_loaded(INFO + line + "\n")
    assert found is None if why is None else why in found


def test_a_name_that_another_rank_cut_is_no_network():
    cut = INFO + "Using network Sock" + INFO + "Channel 00\n" + INFO + "Using network Soc\n"
    assert networks((cut + INFO + "Using network Socket\n").split("\n")) == ["Socket"]
    assert plugin(cut) is None
