# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The interface of the SSH connection is found behind sudo too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.connection import interface_of, local_address

COLLECTIONS = Path(__file__).parents[4] / "collections"
ADDRESSES = {"lo": ["127.0.0.1/8"], "eth0": ["10.0.2.8/24", "2001:db8::8/64"], "eth1": ["10.0.3.9/32"]}
ASK = (
    "from ansible_collections.taco.train.plugins.module_utils._node.connection import environments, local_address\n"
    "print(local_address(environments()))"
)


@pytest.mark.parametrize(
    ("address", "interface"),
    [
        ("10.0.3.9", "eth1"),
        ("2001:DB8::8", "eth0"),
        ("::ffff:10.0.2.8", "eth0"),
        ("fe80::5054:ff:fe00:1%eth1", "eth1"),
        ("10.0.9.9", None),
        ("127.0.0.1", None),
        ("UNKNOWN", None),
        (None, None),
    ],
)
def test_the_interface_is_the_one_with_the_address(address, interface):
    assert interface_of(address, ADDRESSES) == interface


def test_an_environment_without_a_connection_is_passed_over():
    assert (
        local_address(iter([{}, {"SSH_CONNECTION": "odd"}, {"SSH_CONNECTION": "10.0.0.1 5 10.0.2.8 22"}])) == "10.0.2.8"
    )
    assert local_address(iter([{}])) is None


def test_a_program_whose_environment_was_cleared_is_found_by_those_that_started_it():
    """As sudo does: it has the variable, and what it starts does not."""
    inner = ["env", "-i", f"PYTHONPATH={COLLECTIONS}", sys.executable, "-c", ASK]
    started = f"import subprocess, sys; sys.exit(subprocess.call({inner!r}))"
    environment = dict(os.environ, SSH_CONNECTION="10.0.0.1 50000 10.0.2.8 22")
    argv = [sys.executable, "-c", started]
    assert subprocess.run(argv, env=environment, stdout=subprocess.PIPE, check=True).stdout == b"10.0.2.8\n"
