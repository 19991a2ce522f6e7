# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How all hypotheses of a search share its rate of false findings. Values in, values out.

Each kind of finding has a share of the rate, and the hypotheses of a kind share that: Bonferroni over the whole search.
"""

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import accuse_bound
from ansible_collections.taco.train.plugins.plugin_utils.locate import several
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search

HOST, SEVERAL, LINK, BOUNDARY = "host", "several", "link", "boundary"
CONFIGURATION, DIRECTION, CAUSE = "configuration", "direction", "cause"
SHARES = {
    HOST: 0.5,
    SEVERAL: 0.05,
    LINK: 0.15,
    BOUNDARY: 0.2,
    CONFIGURATION: 0.025,
    DIRECTION: 0.05,
    CAUSE: 0.025,
}


def accept(search: Search, kind: str) -> float:
    """The evidence from which a hypothesis of a kind is accepted, as the logarithm of a ratio."""
    return accuse_bound(search.rates.false_accusation * SHARES[kind], _hypotheses(search, kind))


def _hypotheses(search: Search, kind: str) -> float:
    hosts = len(search.hosts)
    if kind == CAUSE:
        # Each host may be called slow alone.
        return hosts
    if kind == HOST:
        # By its runs over two hosts, and by all of its runs.
        return 2 * hosts
    if kind == SEVERAL:
        return several.hypotheses(hosts)
    if kind == LINK:
        return hosts * (hosts - 1) / 2
    if kind == DIRECTION:
        # Of each pair either one.
        return hosts * (hosts - 1)
    if kind == BOUNDARY:
        return len(search.boundaries)
    return 1
