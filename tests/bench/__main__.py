# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measure the collection beside what people would use instead, on hosts that are made for it and gone afterwards."""

import sys

from bench import namespaces
from bench.options import PLANS, parsed


def main(arguments):
    options = parsed(arguments)
    work = namespaces.folder()
    if work is None:
        from bench import searches, tree

        namespaces.refuse_without_root()
        tree.ensure(*((searches.RANKS, "ranks") if options.locate else ()))
        return namespaces.enter(arguments)
    from bench import contest, first, searches

    namespaces.furnish(work)
    if options.locate:
        return searches.run(options, work)
    kind = first.FirstRun if options.first else contest.Contest
    if not set(options.only) - set(PLANS):
        from bench.plans import Plans

        kind = Plans
    try:
        return contest.run(kind(options, work))
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
