# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first run: each competitor takes bare hosts of its own to the end state."""

import itertools

from bench import competitors, hosts
from bench.contest import Contest, say


class FirstRun(Contest):
    """Hosts that nobody changed before, for each run others."""

    def up(self):
        """Make what all hosts share. The hosts themselves are made for each run."""
        runs = len(self.competing)
        total = sum(runs * count * repeats for count, repeats in zip(self.options.hosts, self.options.repeats))
        self.found(total)
        self.following = iter(hosts.planned(total, self.work))

    def converge(self):
        """Nobody is before the first run."""

    def compete(self):
        """Let the competitors take turns, each on bare hosts."""
        for count, repeats in zip(self.options.hosts, self.options.repeats):
            for repeat in range(repeats):
                for competitor in competitors.in_turn(self.competing, repeat):
                    self.bare_run(competitor, count, repeat)

    def bare_run(self, competitor, count, repeat):
        """Measure one competitor on so many bare hosts."""
        say(f"{count} bare hosts for ({competitor.key})")
        chosen = list(itertools.islice(self.following, count))
        processes = self.start(chosen)
        done, executions = self.play(competitor, chosen, repeat, f"first-{competitor.key}")
        self.keep(competitor, count, done, executions)
        self.stop(chosen, processes)
