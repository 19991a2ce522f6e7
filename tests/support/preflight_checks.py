# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every check of preflight says."""


def assert_says(check, status, words):
    assert check.status == status, check
    for word in words:
        assert word in check.found + " " + check.fix, check
    if status in ("fail", "warn"):
        assert check.expected and check.found and check.fix, check
