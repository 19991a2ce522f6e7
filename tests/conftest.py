# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What all tests share: the environment of the commands that they start."""

import os

import hypothesis

# What a command prints must not depend on who runs the tests: a workflow asks for colour, a terminal has a width.
COLOURLESS = {"NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1", "TERM": "dumb"}
UNWANTED = ("ANSIBLE_FORCE_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLUMNS", "LINES")


def pytest_configure():
    # How long an example takes says how busy the machine is. The values here are of few kinds: half of the usual examples have them all.
    hypothesis.settings.register_profile("without deadline", deadline=None, max_examples=50)
    hypothesis.settings.load_profile("without deadline")
    os.environ.update(COLOURLESS)
    for name in UNWANTED:
        os.environ.pop(name, None)
