# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The arms: what is built in, and what a user's mapping becomes."""

import json

import pytest

from ansible_collections.taco.train.plugins.filter.benchmark import benchmark_arm
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS, arm_of, arms_of, same_arm
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError


def test_the_built_in_arms_are_those_of_the_vendors_comparison():
    assert {name: (arm.plugin, arm.horovod, arm.lossy) for name, arm in ARMS.items()} == {
        "taco": ("on", "image", True),
        "harp": ("on", "image", False),
        "tcp": ("off", "image", False),
        "lightcc": ("off", "image", True),
        "horovod": ("off", "upstream", False),
        "default": ("keep", "image", False),
        "topology": ("keep", "image", False),
    }
    assert ARMS["taco"].env == {
        "HOROVOD_MPI_THREADS_DISABLE": "1",
        "HOROVOD_FUSION_THRESHOLD": "0",
        "HOROVOD_CYCLE_TIME": "0",
        "LIGHT_2D_ALLREDUCE": "1",
        "LIGHT_TOPK_ALLREDUCE": "1",
        "LIGHT_TOPK_THRESHOLD": "2097152",
    }
    assert [ARMS[name].env for name in ("harp", "tcp", "horovod")] == [{}, {}, {}]


def test_lightcc_without_harp_has_the_environment_of_both_over_tcp():
    assert ARMS["lightcc"].env == ARMS["taco"].env and ARMS["lightcc"].plugin == "off"


def test_an_arm_starts_from_its_base_and_a_null_takes_a_variable_away():
    arm = arm_of(
        {
            "name": "exact",
            "label": "LightCC without top-k",
            "base": "taco",
            "env": {"LIGHT_TOPK_ALLREDUCE": None, "LIGHT_TOPK_THRESHOLD": None, "MINE": True, "NUMBER": 2},
        }
    )
    assert (arm.name, arm.label, arm.plugin, arm.horovod) == ("exact", "LightCC without top-k", "on", "image")
    assert arm.env["LIGHT_2D_ALLREDUCE"] == "1" and (arm.env["MINE"], arm.env["NUMBER"]) == ("1", "2")
    assert "LIGHT_TOPK_ALLREDUCE" not in arm.env and not arm.lossy
    assert ARMS["taco"].lossy


def test_an_arm_without_a_base_leaves_everything_as_it_is():
    arm = arm_of({"name": "mine"})
    assert (arm.label, arm.env, arm.plugin, arm.horovod) == ("mine", {}, "keep", "image")
    assert arm_of(arm) is arm


def test_the_promised_network_is_the_bases_where_the_plugin_is_too():
    assert [ARMS[name].network for name in ("taco", "tcp", "lightcc", "horovod")] == [
        None,
        "Socket",
        "Socket",
        "Socket",
    ]
    assert arm_of({"name": "a", "base": "tcp"}).network == "Socket"
    assert arm_of({"name": "a", "base": "tcp", "network": "IB"}).network == "IB"
    assert arm_of({"name": "a", "base": "tcp", "plugin": "on"}).network is None


def test_yaml_reads_on_and_off_as_truth_values():
    assert [arm_of({"name": "a", "plugin": value}).plugin for value in (True, False, "off")] == ["on", "off", "off"]


@pytest.mark.parametrize("empty", [None, [], ()])
def test_keys_of_earlier_versions_are_accepted_without_a_value(empty):
    old = dict(arm_of({"name": "mine"}).document(), before=empty, after=empty)
    assert arm_of(old) == arm_of({"name": "mine", "before": empty}) == arm_of({"name": "mine"})
    assert arm_of(dict(ARMS["tcp"].document(), before=empty, after=empty)) == ARMS["tcp"]


def test_an_arm_read_back_from_its_document_is_that_arm():
    mine = {
        "name": "a",
        "base": "taco",
        "env": {"A": 1},
        "plugin": "off",
        "options": {"xla": "yes"},
    }
    for arm in (*ARMS.values(), arm_of(dict(mine, place="topology"))):
        document = json.loads(json.dumps(arm.document()))
        assert document == arm.document() and arm_of(document) == arm
        assert benchmark_arm(document) == document
        earlier = {key: value for key, value in document.items() if key != "network"}
        assert arm_of(earlier) == arm._replace(network=None if arm.name == "a" else arm.network)
    with pytest.raises(InvalidValueError, match="no key 'lossy'"):
        arm_of({"name": "a", "lossy": False})


@pytest.mark.parametrize("key", [key for key in ARMS["tcp"].document() if key != "lossy"])
def test_a_mapping_with_the_keys_of_a_document_is_checked_like_any_other(key):
    for wrong in (5, [5], [[True]], {"A B": 1}, {"LIGHT_TOPK_RATE": 1}, "Two words", [[]], True):
        document = dict(arm_of({"name": "mine"}).document(), **{key: wrong})
        if (key, wrong) in [("label", "Two words"), ("plugin", True), ("network", "Two words")]:
            assert arm_of(document).document() == dict(document, **({"plugin": "on"} if wrong is True else {}))
            continue
        with pytest.raises(InvalidValueError, match="locate_arm"):
            arm_of(document, "locate_arm")


def test_arms_that_promise_different_networks_are_different_arms():
    own = [arm_of({"name": "own", "network": network}) for network in (None, "IB", "Socket")]
    assert len({str(same_arm(arm.document())) for arm in own}) == 3


def test_a_document_with_the_name_of_a_built_in_arm_is_that_arm():
    with pytest.raises(InvalidValueError, match="that of a built-in arm"):
        arm_of(dict(ARMS["tcp"].document(), plugin="on"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("fast", r"no arm 'fast': set compare_arms to one of taco, harp, tcp, lightcc, horovod"),
        (5, "compare_arms is a name or a mapping.*5"),
        ({}, "has the name None"),
        ({"name": "a-b"}, "has the name 'a-b'.*underscores"),
        ({"name": "Taco"}, "lower-case"),
        ({"name": "a" * 32}, "1 to 31"),
        ({"name": "tcp"}, "that of a built-in arm"),
        ({"name": "a", "envs": {}}, "no key 'envs'; it has name, label, base"),
        ({"name": "a", "base": "b"}, "starts from 'b'.*taco, harp"),
        ({"name": "a", "base": ["taco"]}, "starts from"),
        ({"name": "a", "label": 5}, "the label 5"),
        ({"name": "a", "plugin": "maybe"}, "plugin 'maybe'; it must be one of on, off, keep"),
        ({"name": "a", "plugin": []}, "plugin"),
        ({"name": "a", "network": ""}, "network ''; it must be the name in NCCL's log"),
        ({"name": "a", "horovod": "mine"}, "horovod 'mine'; it must be one of image, upstream"),
        ({"name": "a", "env": ["A=1"]}, "env that is no mapping"),
        ({"name": "a", "env": {"A-B": 1}}, "'A-B' can't be the name of an environment variable"),
        ({"name": "a", "env": {1: 1}}, "1 can't be the name"),
        ({"name": "a", "env": {"A": [1]}}, r"A is \[1\]; it must be a text or a number"),
        ({"name": "a", "env": {"LIGHT_TOPK_RATE": 1}}, "no variable LIGHT_TOPK_RATE; the closest is LIGHT_TOPK_RATIO"),
        ({"name": "a", "before": [["sync"]]}, "has 'before', and arms have no commands any more.*a play of your own"),
        ({"name": "a", "base": "tcp", "after": [["sync"]]}, "has 'after'"),
    ],
)
def test_what_is_no_arm_names_the_variable(value, said):
    with pytest.raises(InvalidValueError, match=said) as error:
        arm_of(value, "compare_arms")
    assert "compare_arms" in str(error.value)


def test_the_arms_of_a_comparison_keep_their_order():
    assert [arm.name for arm in arms_of(["tcp", {"name": "mine"}, "taco"])] == ["tcp", "mine", "taco"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "two or more arms"),
        (["tcp"], "compare_arms has only tcp"),
        ("taco", "compare_arms is a list"),
        (["taco", "harp", "taco"], "taco stands in .* twice"),
    ],
)
def test_what_is_no_comparison(values, said):
    with pytest.raises(InvalidValueError, match=said):
        arms_of(values)
