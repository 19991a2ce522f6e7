# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page that the bench prints."""

from bench.figures import Figure, judged
from bench.idle import Idle
from bench.table import markdown, page

SETTING = {"ansible-core": "2.19.14", "cores": 2, "forks": 20, "load": "0.50"}


def figure(key, hosts, wall, *few):
    name = "taco.train" if key == "a" else "raw ssh"
    return Figure(key, name, hosts, 3, wall, [wall], 2.0, 6.0, 3 * 1024**2, *few)


def test_columns_are_aligned_and_it_is_markdown():
    text = markdown(["way", "wall s"], [["(a)", "1.0"], ["(bcd)", "100.0"]], left=1)
    assert text == "| way   | wall s |\n| ----- | -----: |\n| (a)   |    1.0 |\n| (bcd) |  100.0 |\n"


def test_the_page_says_what_was_measured_how_often_and_what_was_missed():
    figures = [figure("a", 10, 12.0), figure("d", 10, 4.0), figure("a", 200, 240.0, 1.5, 0.01), figure("d", 200, 160.0)]
    text = page(figures, [Idle(2, 0.4, 1.2, 1.0)], judged(figures), SETTING)
    assert "2 cores, 20 forks, load 0.50 at the end; medians of: 3 on 10 hosts, 3 on 200 hosts." in text
    assert "ansible-core 2.19.14." in text
    (row,) = [line for line in text.splitlines() if line.startswith("| 200") and "(a)" in line]
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "200", "(a) taco.train", "240.0", "1.200", "0.010", "6.0", "3", "1.00x", "1.50x"
    ]  # fmt: skip
    (missed,) = [line for line in text.splitlines() if "MISSED" in line]
    assert "wall of (a) over (d), 10 hosts" in missed and "at most 2x" in missed and "3.00x" in missed
    (growth,) = [line for line in text.splitlines() if line.startswith("| (a)")]
    assert [cell.strip() for cell in growth.strip("|").split("|")] == [
        "(a)", "1.500", "1.200", "0.80x", "0.010", "0.010", "1.00x"
    ]  # fmt: skip


def test_one_number_of_hosts_has_no_growth():
    figures = [figure("a", 10, 12.0)]
    assert "growth" not in page(figures, [Idle(2, 0.4, 1.2, 1.0)], judged(figures), SETTING)
