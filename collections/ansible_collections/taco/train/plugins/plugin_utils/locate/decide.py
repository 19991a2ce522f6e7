# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide the next round of a search, or its answer. Values in, values out.

An accused host is a culprit only with its proof. Otherwise it is a suspicion.
"""

import math
from statistics import median
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Union

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    all_cleared,
    clear_bound,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate import boundary, configuration, proof, schedule
from ansible_collections.taco.train.plugins.plugin_utils.locate.direction import direction, open_directions, repeatable
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import LINK, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis, analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.failures import (
    all_pairs_failed,
    doubtful,
    failing,
    last_reason,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    ALONE,
    LEAST_PEERS,
    PAIRS,
    Round,
    Run,
    Search,
    open_runs,
)


class Finding(NamedTuple):
    """One cause: a host, a link, a boundary, or a host whose runs fail."""

    kind: str
    hosts: Sequence[str]
    loss: Optional[float]
    proved: bool
    text: str
    boundary: Optional[str] = None
    value: Optional[str] = None
    sender: Optional[str] = None
    """Of a link the host that sends over the slow direction, None where it is not decided."""


class Answer(NamedTuple):
    """The end of a search."""

    kind: str  # located, nobody, configuration or undecided
    findings: Sequence[Finding]
    undecided: Sequence[str]
    reason: str
    minutes_of_a_round: Optional[float]
    limited: bool = False
    """Whether a limit ended the search, so that a higher one allows one more round."""


def unsettled(search: Search, state: Analysis) -> List[str]:
    """The hosts about which more runs are needed."""
    bound, broken, failed = clear_bound(search.rates), failing(search), doubtful(search)
    hosts = [host for host in search.comparable if host not in broken]
    rest = [host for host in hosts if host not in state.accused]
    done = all_cleared([state.pairs[host] for host in rest], search.rates)
    return [
        host
        for host in hosts
        if host in failed
        or host in state.doubtful
        or (
            not proof.proved(search, state, host)
            if host in state.accused
            else not done and not state.cleared(host, bound)
        )
    ]


def open_links(search: Search, state: Analysis) -> List[frozenset[str]]:
    """The pairs that run together again: their slow run is not explained yet, or not proved."""
    bound = accept(search, LINK)
    return [pair for pair, evidence in state.links.items() if 0 < evidence.mixture < bound]


def next_step(search: Search) -> Union[Round, Answer]:
    """The next round, or the rest of one that was interrupted, or the answer."""
    if open_runs(search):
        return search.rounds[-1]
    if not search.comparable:
        return Answer("undecided", [], list(search.hosts), _too_few(search), search.minutes_of_a_round)
    state = analysis(search)
    # The counters show the network too, which a host alone doesn't use.
    if not search.rounds and search.alone and not search.suspects:
        return _limited(search, state, [], Round(1, ALONE, tuple(Run((host,)) for host in search.comparable)))
    crossed = boundary.crossings(search, state)
    rest, links = unsettled(search, state), open_links(search, state)
    if _paired(search) and not (rest or links or boundary.undecided(crossed) or _failed_after_pairs(search)):
        return _last_round(search, state) or answer(search, state, crossed, [], "")
    if all_pairs_failed(search):
        return answer(search, state, crossed, rest, "the runs of all hosts fail: " + last_reason(search))
    planned = _pairs(search, state, [*links, *repeatable(search, state)])
    if planned is None:
        return answer(search, state, crossed, rest, "no two hosts are left that could run together")
    return _limited(search, state, crossed, planned)


def _pairs(search: Search, state: Analysis, fixed: Sequence[frozenset[str]]) -> Optional[Round]:
    """A round of pairs, fixed ones among them; None where no two hosts can run together."""
    broken, failed = failing(search), doubtful(search)
    hosts = [host for host in search.comparable if host not in broken]
    weights = {host: state.best(host).mixture + schedule.FAILED * failed.get(host, 0) for host in hosts}
    groups = schedule.pairs(search, hosts, weights, state.accused, [*fixed, *proof.together(state, hosts)])
    return Round(len(search.rounds) + 1, PAIRS, tuple(Run(group) for group in groups)) if groups else None


def _last_round(search: Search, state: Analysis) -> Optional[Round]:
    """What is open of a finding: the cause of a host, or the direction of a link."""
    if not search.budget.allows(search.time, 1, len(search.rounds)):
        return None
    links = open_directions(search, state)
    return proof.next_round(search, state) or (_pairs(search, state, links) if links else None)


def _limited(
    search: Search, state: Analysis, crossed: Sequence[boundary.Crossing], planned: Round
) -> Union[Round, Answer]:
    """The round, unless it is beyond the budget."""
    rounds = len(search.rounds)
    if search.budget.allows(search.time, 1, rounds):
        return planned
    reason = search.budget.reason(search.time, rounds)
    return answer(search, state, crossed, unsettled(search, state), reason)._replace(limited=True)


def _failed_after_pairs(search: Search) -> bool:
    """Whether a run after the last round of pairs failed: pairs show which host ended it."""
    last = max(one.number for one in search.rounds if one.kind == PAIRS)
    return any(run.value is None for one in search.rounds if one.number > last for run in one.runs)


def _paired(search: Search) -> bool:
    return any(one.kind == PAIRS for one in search.rounds)


def _too_few(search: Search) -> str:
    most = max(len(search.peers(host)) for host in search.hosts)
    return (
        f"no host has {LEAST_PEERS} peers of like hardware ({len(search.hosts)} hosts): add {LEAST_PEERS - most} or more hosts of like "
        "hardware to the search, since with fewer, a slow host cannot be distinguished from slow peers"
    )


def answer(
    search: Search, state: Analysis, crossed: Sequence[boundary.Crossing], rest: Sequence[str], reason: str
) -> Answer:
    """What the search ends with; rest are the hosts that it could not decide."""
    broken = failing(search)
    found = [
        Finding("failing", [host], None, True, f"{host}: its runs fail: {why.rstrip('.')}")
        for host, why in broken.items()
    ]
    area = boundary.inside(search, state.accused)
    if area:
        losses = [proof.loss_of(state, host) for host in state.accused]
        certain = all(proof.proved(search, state, host) for host in state.accused)
        words = f"the hosts in {area.name} {area.value} are {median(losses):.0%} slower"
        found.append(Finding("boundary", area.hosts, median(losses), certain, words, area.name, area.value))
    else:
        found += [_host(search, state, host) for host in state.accused]
    for crossing in crossed:
        if crossing.slower:
            words = f"runs that cross {crossing.name} are {crossing.loss:.0%} slower"
            found.append(Finding("boundary", [], crossing.loss, crossing.proved, words, crossing.name))
    bound = accept(search, LINK)
    for pair, evidence in state.links.items():
        if evidence.mixture >= bound:
            found.append(_link(search, state, sorted(pair)))
    low = configuration.below(search, state)
    # A host without enough peers is never cleared.
    left = [host for host in search.hosts if host in rest or host not in search.comparable]
    if not reason and len(left) > len(rest):
        reason = "hosts without 4 peers of like hardware can't be compared"
    kind = "located" if found else "undecided" if left or reason else "configuration" if low else "nobody"
    return Answer(kind, found, left, reason, search.minutes_of_a_round)


def _host(search: Search, state: Analysis, host: str) -> Finding:
    loss, sure = proof.loss_of(state, host), proof.proved(search, state, host)
    how = "proved by swap" if sure else "a suspicion: the proof by swap is missing"
    return Finding(
        "host",
        [host],
        loss,
        sure,
        f"{host} is {loss:.0%} slower than its peers{proof.cause(search, state, host).text} ({how})",
    )


def _link(search: Search, state: Analysis, pair: Sequence[str]) -> Finding:
    values = [run.residual for run in state.runs if sorted(run.point.hosts) == list(pair)]
    loss, sure = 1 - math.exp(median(values)), len(values) > 1
    way = direction(search, state, pair)
    words = f"the link between {pair[0]} and {pair[1]} is {loss:.0%} slower; each of them is not, with other partners; {way.text}"
    return Finding("link", list(pair), loss, sure, words, sender=way.sender)


def answer_json(found: Answer) -> Mapping[str, Any]:
    """The answer as locate.json keeps it."""
    findings = [dict(one._asdict(), hosts=list(one.hosts)) for one in found.findings]
    return dict(found._asdict(), findings=findings, undecided=list(found.undecided))
