# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The message of a module that failed names the cause and, if rights are missing, how to get them."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._process.failure import failure


def caused(error):
    wrapped = ValueError("the files are as they were")
    wrapped.__cause__ = error
    return wrapped


DENIED = PermissionError(13, "Permission denied", "/etc/default/grub")


@pytest.mark.parametrize(
    "error, user, said",
    [
        (ValueError("no ENI: attach one"), 1000, "no ENI: attach one"),
        (DENIED, 1000, "/etc/default/grub: Permission denied; it needs root: set become: true"),
        (DENIED, 0, "/etc/default/grub: Permission denied"),
        (caused(DENIED), 1000, "the files are as they were; it needs root: set become: true"),
    ],
)
def test_a_failure_in_words(error, user, said):
    assert failure(error, user) == said


def test_the_name_that_the_machine_gives_itself_is_not_in_the_message():
    """It need not be the name in the inventory, which Ansible prints beside the message."""
    assert failure(ValueError("no"), user=0) == "no"
