# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hosts of boot_host.py and trusting_hosts.py, the worker of worker_arm.py and the Arena of arena_actor.py.

Other tests have hosts of their own by these names.
"""

import boot_host
import pytest
from arena_actor import arena
from trusting_hosts import hosts
from worker_arm import arm, worker

from ansible_collections.taco.train.plugins.modules import hugepages

__all__ = ["arena", "arm", "hosts", "worker"]


@pytest.fixture
def host(tmp_path):
    """A Debian host whose boot entries are generated."""
    return boot_host.debian_host(tmp_path / "root")


@pytest.fixture
def el7(host):
    """The same host without drop-ins below /etc/default/grub.d."""
    return boot_host.change_to_el7(host)


@pytest.fixture
def pages(run, host):
    """Return a function that runs the module on the host."""
    return lambda check=False, **options: run(hugepages.main, check=check, sysroot=str(host), **options)
