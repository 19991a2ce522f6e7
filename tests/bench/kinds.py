# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print how many entries the plan of 200 hosts in 4 kinds has, and how long grouping takes. Ends with status 1 unless it is 4."""

import sys
import time

from planned import fleet

from ansible_collections.taco.train.plugins.plugin_utils.plan.group import grouped

HOSTS, KINDS = 200, 4


def main():
    hosts, own = fleet(HOSTS, KINDS)
    start = time.perf_counter()
    entries = grouped(hosts, own)
    seconds = time.perf_counter() - start
    print(f"plan of {HOSTS} hosts in {KINDS} kinds: {len(entries)} entries, grouped in {seconds:.2f} s")
    return int(len(entries) != KINDS)


if __name__ == "__main__":
    sys.exit(main())
