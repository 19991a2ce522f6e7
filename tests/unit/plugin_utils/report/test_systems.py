# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of the hosts of a run is as wide as they differ, however many they are."""

from compared import SYSTEM

from ansible_collections.taco.train.plugins.plugin_utils.report.systems import hosts


def test_hosts_that_look_equal_share_a_column_and_a_different_one_has_its_own():
    memory = SYSTEM["memory_bytes"]
    systems = {
        f"gpu{number}": dict(SYSTEM, hostname=f"gpu{number}", memory_bytes=memory + number) for number in range(9)
    }
    systems["gpu7"]["driver"] = "535.1"
    head, rows, *_details = hosts([{"id": "a", "system": systems}])
    assert head == ("Property", "gpu0, gpu1, gpu2, gpu3, gpu4 and 3 more", "gpu7")
    assert [row for row in rows if len(set(row[1:])) > 1] == [("Driver", SYSTEM["driver"], "535.1")]
