# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Of a container it is known without the engine whether it is the one that is asked for, and of any other it isn't."""

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.module_utils._node.engine import OPTIONS_LABEL
from ansible_collections.taco.train.plugins.plugin_utils.container.convergence import is_known
from ansible_collections.taco.train.plugins.plugin_utils.container.options import OPTIONS, module_options, spec_of

ASKED = {"name": "box", "image": "img:1", "profile": "lightcc", "environment": {"A": "1"}, "mounts_extra": ["/d:/d"]}


def options(**changes):
    """Return the options of the module as it sees them."""
    return ArgumentSpecValidator(**OPTIONS).validate(dict(ASKED, **changes)).validated_parameters


def made(**changes):
    """Return what is observed of a container that was made from these options."""
    wanted = module_options(spec_of(options(**changes)), "missing")
    return {
        "name": wanted["name"],
        "status": "running",
        "image": wanted["image"],
        "image_id": "sha256:1",
        "image_id_by_name": "sha256:1",
        "restart_policy": wanted["restart_policy"],
        "options_sha256": wanted["labels"][OPTIONS_LABEL],
    }


def known(there, **changes):
    return is_known(options(**changes), {"training_container": there, "observed_at": "now"})


def test_the_container_that_was_made_from_these_options_is_known():
    assert known(made())


@pytest.mark.parametrize(
    "drift",
    [
        {"status": "exited"},
        {"status": "paused"},
        {"restart_policy": "no"},
        {"image_id_by_name": "sha256:2"},
        {"image_id_by_name": None},
        {"image_id": None, "image_id_by_name": None},
        {"options_sha256": None},
        {"name": "other"},
        {"image": "snapshot:1"},  # docker commit gives an image the container's labels
    ],
)
def test_what_may_have_changed_since_is_left_to_the_engine(drift):
    assert not known(dict(made(), **drift))


CHANGES = {
    "image": "img:2",
    "profile": "ttf",
    "command": ["sleep", "1"],
    "gpus": "0,1",
    "shm_size": "1g",
    "ulimits": ["memlock=-1"],
    "mounts": ["/m:/m"],
    "mounts_extra": [],
    "privileged": False,
    "network_mode": "bridge",
    "environment": {"A": "2"},
    "restart_policy": "always",
    "name": "other",
}


@given(st.sets(st.sampled_from(sorted(CHANGES)), min_size=1))
def test_a_container_made_from_any_other_options_is_not_known(names):
    assert not known(made(), **{name: CHANGES[name] for name in names})


@pytest.mark.parametrize(
    "asked", [{"state": "absent"}, {"pull": "always"}, {"require_harp": True}, {"shm_size": "much"}, {"image": ""}]
)
def test_what_would_be_done_or_refused_is_left_to_the_module(asked):
    assert not known(made(), **asked)


@pytest.mark.parametrize(
    "node", [{}, {"training_container": None}, {"training_container": made(), "observed_at": None}]
)
def test_of_a_host_without_one_nothing_is_known(node):
    assert not is_known(options(), node)
