# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The answer of a search in words. Values in, text out."""

from typing import List

from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    ALONE,
    PAIRS,
    Round,
    Search,
)
from ansible_collections.taco.train.plugins.plugin_utils.text import counted, some


def price(answer: Answer) -> str:
    """The price of one more round, and how to get it where it can decide something."""
    if answer.minutes_of_a_round is None:
        return "What a round takes is not known, because these hosts had no run together."
    minutes = f"{answer.minutes_of_a_round:.1f} minutes"
    if not answer.limited:
        return f"A round takes about {minutes}, and more rounds decide nothing."
    return f"One more round takes about {minutes}: raise locate_budget_minutes or locate_max_rounds."


def sentence(search: Search, answer: Answer) -> str:
    """The answer, its reason, and the price of one more round where hosts are undecided."""
    parts: List[str] = [one.text + "." for one in answer.findings]
    spent = f"{counted(len(search.rounds), 'round')}, {search.time.spent / 60:.1f} minutes"
    if answer.kind == "nobody":
        parts.append(f"No host is slower than its peers by {search.effect:.0%} or more, alone or with another one.")
    if answer.kind == "configuration":
        parts.append(
            f"All hosts are alike, and runs over two of them are below the expected value of {search.expected:g}: the cause is "
            "something that all hosts share, such as the configuration."
        )
    if answer.undecided:
        parts.append(f"Undecided: {some(answer.undecided)}.")
    if answer.reason:
        parts.append(f"The search ended because {answer.reason}.")
        parts.append(price(answer))
    return " ".join([part for part in parts if part] + [f"({spent}.)"])


def announced(search: Search, found: Round) -> str:
    """The next round, before it is run."""
    kinds = {ALONE: "each host alone", PAIRS: "pairs of hosts"}
    left = sum(not run.done for run in found.runs)
    took = search.time.of_a_run
    minutes = f", about {took / 60:.1f} minutes" if took else ""
    return f"Round {found.number}: {counted(left, 'run')} at the same time, {kinds[found.kind]}{minutes}."
