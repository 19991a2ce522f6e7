# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts the role reboot would reboot. That it does, and what comes of it, is tested on machines that can be rebooted."""

import pytest
from played import check

PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        taco_reboot: {required: "{{ needed }}", page_size: 1G, count: 50, said: ["50"], trial: false}
    - ansible.builtin.include_role:
        name: taco.train.reboot
"""


@pytest.fixture
def play(tmp_path):
    """Return a function that runs the role in check mode on hosts with variables of their own."""

    return lambda hosts, **options: check(tmp_path, PLAY, hosts, options)


ALLOWED, FORBIDDEN = {"needed": True, "reboot_allowed": True}, {"needed": True, "reboot_allowed": False}
SETTLED = {"needed": False, "reboot_allowed": True}


@pytest.mark.parametrize(
    "hosts, forecast",
    [
        ([ALLOWED, ALLOWED, FORBIDDEN], "2 hosts to reboot in 2 batches"),
        ([FORBIDDEN, ALLOWED, ALLOWED], "2 hosts to reboot in 2 batches"),
        ([SETTLED, ALLOWED, SETTLED], "1 host to reboot in 1 batch"),
        ([SETTLED, SETTLED, FORBIDDEN], None),
    ],
)
def test_each_host_is_asked_whether_it_needs_a_reboot_and_may_have_it(play, hosts, forecast):
    status, output = play(
        {f"gpu-{number}": variables for number, variables in enumerate(hosts)}, reboot_required_now=False
    )
    assert status == 0, output
    if forecast is None:
        assert "to reboot in" not in output
    else:
        assert forecast in output


def test_a_batch_that_is_none_is_refused(play):
    status, output = play({"gpu-0": ALLOWED}, reboot_batch="many")
    assert status != 0 and "reboot_batch must be a number of hosts" in output
