# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What breaks while the boot configuration of a node of the Docker lab is changed, and what is left of it then."""

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor

import faults
import pytest

INVENTORY = "inventories/lab"
BROKEN, WHOLE = "taco-lab-node-0", "taco-lab-node-1"
COUNT = 1  # pages of the lab's inventory
# Content, mode and owner; the times of what was put back after a failure are new.
DESCRIBE = (
    "find /etc/default/grub /etc/default/grub.d -type f -exec stat -c '%n %a %U %s' {} + | sort; "
    "find /etc/default/grub /etc/default/grub.d /boot/grub/grub.cfg -type f -exec sha256sum {} + | sort; "
    "ls /boot/grub/grub.cfg.new 2> /dev/null; grep -o 'hugepage.*' /boot/grub/grub.cfg"
)


@pytest.fixture(scope="module")
def pages(command):
    """Return a function that reserves pages on both nodes."""

    def run(count, *arguments, **environment):
        extra = (
            *arguments,
            "-e",
            json.dumps({"hugepages_count": count, "hugepages_max_memory_fraction": 1.0}),
            "--tags",
            "hugepages",
        )
        return command("ansible-playbook", "playbooks/prepare.yml", "-i", INVENTORY, *extra, **environment)

    return run


@pytest.fixture(scope="module", autouse=True)
def settled(pages):
    """The tests begin and end with what the lab's inventory asks for. Each test asks for other pages than the one before."""
    done = pages(COUNT)
    assert done.returncode == 0, done.stdout
    yield
    done = pages(COUNT)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def boot_files(command):
    def run(node):
        done = command(*faults.command(node, "set +e\n" + DESCRIBE))
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


@contextlib.contextmanager
def broken(fault):
    faults.switch(BROKEN, fault, True)
    try:
        yield
    finally:
        faults.switch(BROKEN, fault, False)


FAILURES = {
    "generator-fails": ("ended with 9", "the generator is broken", "as they were"),
    "boot-full": ("/boot/grub: 0 bytes are free", "make room"),
    "defaults-read-only": ("Read-only file system",),
}


def test_a_change_that_fails_is_undone_and_the_other_host_is_not_held_back(pages, boot_files):
    before = boot_files(BROKEN)
    # The other host gets other pages each time.
    for fault, count in zip(FAILURES, (2, 3, 2)):
        with broken(fault):
            done = pages(count)
            assert done.returncode != 0 and "fatal: [%s]" % BROKEN in done.stdout, done.stdout
            for word in FAILURES[fault]:
                assert word in done.stdout, done.stdout
            assert "changed: [%s]" % WHOLE in done.stdout
            assert boot_files(BROKEN) == before
    done = pages(2)
    assert done.returncode == 0, done.stdout
    assert "hugepages=2" in boot_files(BROKEN)


def test_a_connection_lost_in_the_middle_leaves_a_host_that_boots_and_the_next_run_finishes(pages, boot_files):
    with broken("ssh-lost"):
        done = pages(3, ANSIBLE_SSH_RETRIES="0")
        assert done.returncode != 0 and "UNREACHABLE" in done.stdout, done.stdout
    left = boot_files(BROKEN)
    assert left.count("hugepages=3") + left.count("hugepages=2") >= 1
    done = pages(3)
    assert done.returncode == 0, done.stdout
    assert "hugepages=3" in boot_files(BROKEN) and "hugepages=2" not in boot_files(BROKEN)


def test_with_retries_a_lost_connection_is_made_again_in_the_same_run(pages, boot_files):
    with broken("ssh-lost"):
        done = pages(2)
        assert done.returncode == 0, done.stdout
    assert "hugepages=2" in boot_files(BROKEN) and "hugepages=3" not in boot_files(BROKEN)


def test_of_two_controllers_at_once_one_is_refused_and_neither_does_harm(pages, boot_files):
    # Over one host: of two, each controller may be the faster one on another.
    with broken("generator-slow"), ThreadPoolExecutor(2) as pool:
        first, second = [run.result() for run in [pool.submit(pages, count, "--limit", BROKEN) for count in (3, 4)]]
    outputs = first.stdout + second.stdout
    assert sorted((first.returncode == 0, second.returncode == 0)) == [False, True], outputs
    assert "another run has been changing this host" in outputs
    count = 3 if first.returncode == 0 else 4
    text = boot_files(BROKEN)
    assert "hugepages=%d" % count in text and "hugepages=%d" % (7 - count) not in text
