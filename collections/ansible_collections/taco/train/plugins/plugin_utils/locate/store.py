# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep a search on the controller: locate.json beside the records of its runs, and an inventory without the culprits."""

import json
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import same_arm
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer, answer_json, next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    Round,
    Run,
    Search,
    as_json,
    from_json,
    recorded,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.tables import tables
from ansible_collections.taco.train.plugins.plugin_utils.locate.wording import sentence
from ansible_collections.taco.train.plugins.plugin_utils.run import json_schema, series, store
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.hosts import host_named, over_all
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.shares import busy

INVENTORY, SCHEMA = "locate_inventory.yml", "locate-1"
GROUP = "locate_hosts"


def case_id(number: int) -> str:
    """The id of the case of the records of a round."""
    return f"round {number}"


def fingerprint(search: Search, options: Mapping[str, Any]) -> str:
    """A text that tells this search from others. The budget is no part of it: a search goes on with a larger one."""
    same = as_json(search._replace(rounds=(), higher_is_better=True, suspects=()))
    del same["budget"], same["run_seconds"]
    return series.fingerprint([same, dict(options, arm=same_arm(options["arm"])) if options.get("arm") else options])


def load(run_dir: str) -> Dict[str, Any]:
    """The content of locate.json in a folder."""
    path = os.path.join(run_dir, series.SEARCH.file)
    value = series.load(path, "a search")
    problems = json_schema.problems(value, json_schema.load(SCHEMA))
    if problems:
        raise store.RecordError(f"{path} is not a search: {problems[0]}.")
    unknown = sorted(_hosts_of_rounds(value) - set(value["search"]["hosts"]))
    if unknown:
        raise store.RecordError(f"{path} is not a search: {unknown[0]} has a run and is no host of the search.")
    numbers = [one["number"] for one in value["search"]["rounds"]]
    if numbers != list(range(1, len(numbers) + 1)):
        raise store.RecordError(
            f"{path} is not a search: its rounds have the numbers {numbers}, expected 1, 2 and so on."
        )
    return value


def _hosts_of_rounds(value: Mapping[str, Any]) -> Set[str]:
    return {host for one in value["search"]["rounds"] for run in one["runs"] for host in run["hosts"]}


def unfinished(
    results_dir: str, search: Search, identity: str, warn: Callable[[str], None]
) -> Optional[Tuple[str, Search]]:
    """The newest folder of the same search that has rounds left within the budget, with the search as it was left.

    warn is called about each file that is skipped because it can't be read.
    """
    found = series.newest(series.SEARCH, results_dir, identity, load, warn)
    if not found:
        return None
    folder, kept = found
    left = from_json(kept["search"])._replace(budget=search.budget)
    over = kept["answer"] is not None and not kept["answer"]["undecided"]
    return None if over or isinstance(next_step(left), Answer) else (folder, left)


def with_records(search: Search, records: Sequence[Mapping[str, Any]], complete: bool) -> Search:
    """The search with the results of its open round.

    complete: the round was run, so that a run without a record failed. After a search was killed, such a run stays open.
    """
    if not search.rounds:
        return search
    number = search.rounds[-1].number
    runs = []
    for record in records:
        if (record.get("case") or {}).get("id") == case_id(number):
            result, problems = record.get("result"), record.get("problems") or ["no reason was recorded"]
            hosts = tuple(host_named(host["name"], search.hosts) for host in record["hosts"])
            seconds = record.get("duration_s") or 0.0
            value, reason = (result["value"], None) if result else (None, problems[0])
            runs.append(Run(hosts, value, reason, seconds, busy=_busy(record, search.hosts)))
            if result:
                search = search._replace(higher_is_better=result["higher_is_better"])
    if complete:
        have = {frozenset(run.hosts) for run in runs}
        absent = [run for run in search.rounds[-1].runs if not run.done and frozenset(run.hosts) not in have]
        runs += [
            run._replace(reason=f"{run.hosts[0]} did not run it; check that the host can be reached") for run in absent
        ]
    return recorded(search, runs)


def _busy(record: Mapping[str, Any], hosts: Sequence[str]) -> Dict[str, float]:
    """How busy the connections of each host of a run were, as far as the counters of the record show it."""
    members = {host["name"] for host in record["hosts"]}
    happened = (record.get("witnesses") or {}).get("hosts") or {}
    found = {host_named(host, hosts): busy(one) for host, one in happened.items() if one and host in members}
    return {host: share for host, share in found.items() if share is not None}


def seconds_of_a_run(records: Sequence[Mapping[str, Any]], hosts: Sequence[str]) -> Optional[float]:
    """The seconds of the newest run over these hosts, None without one."""
    took = [one.get("duration_s") for one in records if over_all(one, hosts)]
    return next((float(seconds) for seconds in reversed(took) if seconds), None)


def step(search: Search) -> Tuple[Search, Union[Round, Answer]]:
    """The next round, which the search then has as its open one, or the answer."""
    found = next_step(search)
    if isinstance(found, Round) and (not search.rounds or search.rounds[-1].number != found.number):
        search = search._replace(rounds=(*search.rounds, found))
    return search, found


def keep(run_dir: str, search: Search, answer: Optional[Answer], identity: str, odd: Sequence[Any], lab: bool) -> str:
    """Write locate.json, and with an answer the inventory before it, so that a search with an answer has one, also after a kill."""
    value = {
        "schema": 1,
        "fingerprint": identity,
        "lab": lab,
        "search": as_json(search),
        "answer": answer_json(answer) if answer else None,
        "sentence": sentence(search, answer) if answer else None,
        "odd": list(odd),
        "tables": tables(search, answer),
    }
    if answer:
        store.write_text(os.path.join(run_dir, INVENTORY), inventory(search, answer))
    problems = json_schema.problems(value, json_schema.load(SCHEMA))
    return series.keep(os.path.join(run_dir, series.SEARCH.file), value, problems)


def culprits(answer: Answer) -> List[str]:
    """The hosts that a fleet is better without: proved ones, and those whose runs fail."""
    return [host for one in answer.findings if one.proved and one.kind != "link" for host in one.hosts]


def inventory(search: Search, answer: Answer) -> str:
    """An inventory with a group of the hosts that are not culprits, for taco_hosts."""
    out = set(culprits(answer))
    lines = ["---", f"# Use it beside your inventory, with -e taco_hosts={GROUP}.", f"{GROUP}:", "  hosts:"]
    lines += [f"    {json.dumps(host)}: {{}}" for host in search.hosts if host not in out]
    return "\n".join(lines) + "\n"
