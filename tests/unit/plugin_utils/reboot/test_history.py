# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file of earlier reboots keeps the last ones of each host, and a file that is none has none."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.reboot.rolling import (
    MOST_REBOOTS,
    Rebooted,
    read_history,
    with_reboots,
)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"gpu1": 3}', '{"gpu1": ["long", true, -1]}'])
def test_a_file_that_is_no_history_has_no_reboots(text):
    assert read_history(text) == {}


def test_the_times_of_each_host_are_read():
    assert read_history('{"gpu1": [100, 120.5], "gpu2": []}') == {"gpu1": [100.0, 120.5]}


def test_hosts_that_rebooted_without_a_problem_are_added_and_old_reboots_dropped():
    earlier = {"gpu1": [float(number) for number in range(MOST_REBOOTS)], "gpu3": [50.0]}
    hosts = [Rebooted("gpu1", [], 99.0), Rebooted("gpu2", ["unreachable"], 80.0), Rebooted("gpu4", [], None)]
    assert with_reboots(earlier, hosts) == {"gpu1": [1.0, 2.0, 3.0, 4.0, 99.0], "gpu3": [50.0]}


def test_the_time_of_a_batch_besides_the_slowest_boot_is_part_of_each_reboot():
    hosts = [Rebooted("gpu1", [], 60.0), Rebooted("gpu2", [], 80.0), Rebooted("gpu3", ["unreachable"], None)]
    assert with_reboots({}, hosts, 110.0) == {"gpu1": [90.0], "gpu2": [110.0]}
    assert with_reboots({}, hosts, 70.0) == {"gpu1": [60.0], "gpu2": [80.0]}
