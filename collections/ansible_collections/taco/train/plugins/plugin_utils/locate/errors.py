# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How all hypotheses of a search share its rate of false findings. Values in, values out.

Each kind of finding has a share of the rate, and the hypotheses of a kind share that: Bonferroni over the whole search.
"""

import math

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import accuse_bound
from ansible_collections.taco.train.plugins.plugin_utils.locate import several
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import LEAST_GROUP, Search

HOST, SEVERAL, LINK, BOUNDARY, GROUPS, GROUP = "host", "several", "link", "boundary", "groups", "group"
SHARED, WHOLE, CONFIGURATION, DIRECTION, CAUSE = "shared", "whole", "configuration", "direction", "cause"
SHARES = {
    HOST: 0.35,
    SEVERAL: 0.05,
    LINK: 0.1,
    BOUNDARY: 0.1,
    GROUPS: 0.1,
    GROUP: 0.1,
    SHARED: 0.05,
    WHOLE: 0.05,
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
    if kind == GROUP:
        # Either half may be the slower one, on each level and in the exchange.
        levels = math.floor(math.log2(max(2, hosts) / LEAST_GROUP)) if hosts >= 2 * LEAST_GROUP else 0
        return 2 * (levels + 1)
    # The number of ways to divide the hosts into two groups is part of the model that shows them.
    return 1
