# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What NCCL's own lines say about the network."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import arm_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_log import (
    joined,
    networks,
    plugin,
    unproved,
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


# What NCCL prints of its network, by version; {} is the name of a plugin.
LOADED = {
    "2.7": ["NET/Plugin: Failed to find ncclCollNetPlugin_v3 symbol.", "Using network {}"],
    "2.8": ["NET/Plugin: Failed to find ncclCollNetPlugin_v4 symbol.", "Using network {}"],
    "2.14": ["NET/Plugin: Loaded net plugin {} (v4)", "Using network {}"],
    "2.21": ["NET/Plugin: Loaded net plugin {} (v8)", "Using network {}"],
    "2.28": ["Initialized NET plugin {}", "Assigned NET plugin {} to comm", "Using network {}"],
}
SYMBOLS = (
    "NET/Plugin: Failed to find ncclNetPlugin symbol (>= v5). ncclNetPlugin symbols v4 and lower are not supported."
)
INTERNAL = {
    "2.7": ["NET/Plugin : No plugin found (libnccl-net.so), using internal implementation", "Using network Socket"],
    "2.8, other symbols": ["NET/Plugin: Failed to find ncclNetPlugin_v4 symbol.", "Using network Socket"],
    "2.18": ["NET/Plugin : No plugin found, using internal implementation", "Using network Socket"],
    "2.19, other symbols": ["NET/Plugin: Failed to find ncclNetPlugin_v7 symbol.", SYMBOLS, "Using network Socket"],
    "2.21": ["NET/Plugin: Using internal network plugin.", "Using network Socket"],
    "2.28": [
        "NET/Plugin: Could not find: libnccl-net.so",
        "Assigned NET plugin Socket to comm",
        "Using network Socket",
    ],
}
RDMA = arm_of({"name": "rdma", "base": "tcp", "network": "IB"})
EFA = arm_of({"name": "efa", "network": "AWS Libfabric"})
OFF = arm_of({"name": "bare", "plugin": "off"})
MINE = arm_of({"name": "mine"})
OWN_NAME = arm_of({"name": "own", "base": "taco", "network": "TNet"})


def proof(arm, lines, name="", required=True):
    log = "".join(INFO + line.format(name) + "\n" for line in lines)
    return unproved(arm_of(arm), joined(networks(log.splitlines())), log, required)


@pytest.mark.parametrize("version", LOADED)
def test_a_plugin_proves_only_the_arms_that_promise_it_by_name(version):
    for name, proved in {
        "HARP": ("taco", "harp", MINE),
        "ztcp_net": ("taco", "harp", MINE),
        "LabHARP": ("taco", "harp", MINE),
        "TCCL": (MINE,),
        "NVIDIA SHARP": (MINE,),
        "IBext_v8": (MINE,),
        "TNet": (OWN_NAME, MINE),
        "AWS Libfabric": (EFA, MINE),
    }.items():
        for arm in ("taco", "harp", "tcp", "lightcc", "horovod", OFF, RDMA, EFA, OWN_NAME, MINE):
            found = proof(arm, LOADED[version], name)
            assert (found is None) is (arm in proved), (arm, name)
            assert found is None or f"NCCL used network {name}, and arm {arm_of(arm).name} promises" in found[0]


@pytest.mark.parametrize("version", INTERNAL)
def test_a_network_of_nccls_own_proves_only_the_arms_without_a_plugin(version):
    for arm in ("tcp", "lightcc", "horovod", OFF, MINE):
        assert proof(arm, INTERNAL[version]) is None
    for arm in ("taco", "harp", RDMA, EFA, OWN_NAME):
        assert "NCCL used network Socket" in proof(arm, INTERNAL[version])[0]
    why = proof("taco", INTERNAL[version])[1]
    assert ("NCCL did not load the plugin (Failed to find ncclNetPlugin" in why) is ("symbols" in version)


@pytest.mark.parametrize(
    ("arm", "lines", "found", "fix"),
    [
        ("taco", ["Using network Socket"], "arm taco promises HARP (harp, ztcp or tfabric in the name)", "ztcp*.conf"),
        ("taco", ["Using network TCCL"], "NCCL used network TCCL", "set network: TCCL in an arm of your own"),
        ("taco", ["NET/Plugin: Using internal network plugin."], "NCCL used network of its own", "libnccl-net.so"),
        ("tcp", ["Using network IB"], "arm tcp promises Socket", "NCCL_IB_DISABLE: 1"),
        ("tcp", ["Using network HARP"], "arm tcp promises Socket", "RPATH"),
        (EFA, ["Using network Socket"], "arm efa promises AWS Libfabric", "look for the plugin libnccl-net.so in"),
        (RDMA, ["Using network Socket"], "arm rdma promises IB", ""),
        ("taco", [], "NCCL's log names no network", "NCCL_DEBUG=INFO"),
        ("tcp", ["NET/Plugin: Using internal network plugin."], "NCCL's log names no network", "NCCL_DEBUG=INFO"),
        (EFA, [], "NCCL's log names no network, and arm efa promises AWS Libfabric", "NCCL_DEBUG=INFO"),
    ],
)
def test_a_network_that_is_not_proved_is_named_with_the_promise_and_the_fix(arm, lines, found, fix):
    problem = proof(arm, lines)
    assert found in problem[0] and fix in problem[1]


def test_an_arm_without_a_plugin_is_proved_by_its_absence_and_silence_counts_only_where_proof_is_required():
    assert proof(OFF, ["NET/Plugin: Using internal network plugin."]) is None
    assert [proof(arm, [], required=False) for arm in ("taco", "tcp", EFA, MINE)] == [None] * 4
    assert proof("taco", ["Using network Socket"], required=False)


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
