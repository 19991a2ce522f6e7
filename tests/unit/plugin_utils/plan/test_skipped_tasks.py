# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of ansible-playbook that skip tasks are named."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.plan.skipped_tasks import (
    not_of_all_hosts,
    not_whole,
    options_that_skip,
)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({}, []),
        ({"start_at_task": None, "step": False, "tags": ("all",), "skip_tags": ()}, []),
        ({"tags": [], "skip_tags": [], "limit": "gpu1"}, []),
        ({"tags": ("harp",), "skip_tags": ("plan",)}, ["--tags", "--skip-tags"]),
        ({"tags": ("all", "never"), "start_at_task": "x", "step": True}, ["--start-at-task", "--step", "--tags"]),
    ],
)
def test_options_that_skip_tasks(arguments, options):
    assert options_that_skip(arguments) == options
    assert (", ".join(options) + " could skip" in not_whole("plan.json", arguments)) == bool(options)


@pytest.mark.parametrize(
    ("plans", "refused"),
    [
        ({"a": "p", "b": "p"}, False),
        ({"a": None, "b": None}, False),
        ({"a": "p", "b": None}, True),
        ({"a": "p", "b": "q"}, True),
    ],
)
def test_all_hosts_have_one_plan(plans, refused):
    assert (
        not_of_all_hosts("a", plans).startswith("taco_plan is p for a, and has another value or none for b.") == refused
    )
