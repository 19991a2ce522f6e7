# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the command."""

import argparse
from pathlib import Path

FORKS = 20
KEYS = "abcde"
PLANS = "pq"
RAW = "de"
TARGETS = ("all", "executions", "plan", "first")


def sizes(text):
    """Return the numbers of hosts in a text such as "10 40 200", the smallest first."""
    try:
        found = sorted({int(word) for word in text.replace(",", " ").split()})
    except ValueError:
        found = []
    if not found or found[0] < 1 or found[-1] > 1000:
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers of hosts from 1 to 1000, such as '10 40 200'")
    return found


def repeats(text):
    """Return how often to measure, for each number of hosts or for all alike, from a text such as "5 3 1" or "3"."""
    try:
        found = [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected how often to measure, such as '3' or '5 3 1'")
    return found


def parsed(arguments):
    """Return the options in the arguments."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--hosts", type=sizes, default=[10, 40, 200], metavar="N", help="numbers of hosts (BENCH_HOSTS)"
    )
    parser.add_argument(
        "--repeats", type=repeats, default=[1], metavar="R", help="measurements of each (BENCH_REPEATS)"
    )
    parser.add_argument("--forks", type=int, default=FORKS, help=f"hosts at a time, for all; {FORKS} as in ansible.cfg")
    parser.add_argument("--only", default=KEYS, metavar="KEYS", help="competitors by their letters")
    parser.add_argument("--first", action="store_true", help="measure the first run, on bare hosts")
    parser.add_argument("--locate", action="store_true", help="search for slow hosts, on the first number of hosts")
    parser.add_argument("--targets", choices=TARGETS, default="all", help="which targets decide")
    parser.add_argument(
        "--no-between", dest="between", action="store_false", help="leave out what is between two runs of a comparison"
    )
    parser.add_argument(
        "--results", type=Path, default=Path("results/bench"), help="folder for bench.json and bench.md"
    )
    parser.add_argument("--keep-logs", type=Path, help="folder for the output of every run")
    options = parser.parse_args(arguments)
    if not options.only or set(options.only) - set(KEYS + PLANS):
        parser.error(f"--only {options.only}: expected letters of {KEYS + PLANS}")
    if set(options.only) & set(RAW) and "a" not in options.only:
        parser.error(f"--only {options.only}: d and e send what a sends, so they need a")
    if len(options.repeats) not in (1, len(options.hosts)):
        parser.error("--repeats: expected one number, or one for each number of hosts")
    options.repeats *= len(options.hosts) if len(options.repeats) == 1 else 1
    return options
