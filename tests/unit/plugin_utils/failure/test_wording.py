# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentences about causes."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.failure.hosts import inventory_name
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import Places
from ansible_collections.taco.train.plugins.plugin_utils.failure.reason import reason
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import of_ranks, sentence, with_places
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import tagged_lines


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([], ""),
        ([3], "rank 3"),
        ([1, 4], "ranks 1 and 4"),
        ([0, 1, 2, 3, 4, 5], "ranks 0 to 5"),
        ([0, 2, 5], "ranks 0, 2 and 5"),
        ([0, 2, 5, 7, 9], "5 ranks"),
    ],
)
def test_ranks_in_words(ranks, words):
    assert of_ranks(ranks) == words


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("it failed ({why})", {"why": "no route"}, "it failed (no route)"),
        ("it failed ({why})", {}, "it failed: 'the line of the log'"),
        ("call() failed", {}, "call() failed: 'the line of the log'"),
        ("its peer {peer}, which ended", {"what": "x"}, "its peer, which ended: 'the line of the log'"),
    ],
)
def test_a_sentence_has_a_value_or_quotes_the_line(template, values, text):
    assert sentence(template, values, " the line  of the log\n") == text


def test_several_places():
    assert with_places("it failed", {"b", "a"}, {1, 0}) == "ranks 0 and 1 on a and b: it failed"


@pytest.mark.parametrize(
    ("host", "text", "name"),
    [
        ("gpu1.cluster.lan", "", "gpu1"),
        ("gpu2", "", "gpu2.lan"),
        ("other", "it names gpu1 only", "gpu1"),
        ("other", "it names gpu1 and gpu2.lan", "other"),
        (None, "it names gpu10", None),
        ("10.0.0.1", "", "10.0.0.1"),
    ],
)
def test_the_name_of_a_host_is_that_of_the_inventory(host, text, name):
    assert inventory_name(host, ["gpu1", "gpu2.lan"], text) == name


def test_an_address_has_its_host_behind():
    places = Places(tagged_lines("gpu3:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.3<0>\n"))
    assert (
        places.with_hosts("connect to 10.0.0.3<4711> and 10.0.0.33") == "connect to 10.0.0.3<4711> (gpu3) and 10.0.0.33"
    )
    assert (places.of_peer("10.0.0.3<1>"), places.of_peer("gpu4<1>"), places.of_peer("10.0.0.9<1>")) == (
        "gpu3",
        "gpu4",
        None,
    )


@pytest.mark.parametrize("rc", [0, 1])
def test_wrong_data_is_the_cause_whatever_the_status(rc):
    why = reason("# Out of bounds values : 8 FAILED\n", rc, False, 60, ["8 values are wrong."])
    assert why.cause == "wrong_data" and "NCCL_P2P_DISABLE" in why.fix
    assert ("8 values are wrong" if rc == 0 else "8 FAILED") in why.found
