# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan the rounds of a search for slow hosts, and decide. Works on the controller only."""

import os

from ansible import context
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget
from ansible_collections.taco.train.plugins.plugin_utils.locate import store as searches
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer
from ansible_collections.taco.train.plugins.plugin_utils.locate.inputs import (
    boundaries_of,
    hardware_of,
    hosts_of,
    odd_json,
    odd_ones,
    require_one_interface,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search, SearchError, begin, from_json
from ansible_collections.taco.train.plugins.plugin_utils.locate.wording import announced, sentence
from ansible_collections.taco.train.plugins.plugin_utils.run import series, store
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.hosts import host_named, suspects

ARGUMENTS = {
    "state": {"type": "str", "choices": ["planned", "continued"], "required": True},
    "results_dir": {"type": "str"},
    "run_dir": {"type": "str"},
    "hosts": {"type": "list", "elements": "dict", "default": []},
    "options": {"type": "dict", "default": {}},
    "boundaries": {"type": "raw"},
    "effect": {"type": "float", "default": 0.1},
    "budget_minutes": {"type": "float"},
    "max_rounds": {"type": "int", "default": 12},
    "alone": {"type": "bool", "default": True},
    "expected": {"type": "float"},
    "fresh": {"type": "bool", "default": False},
    "lab": {"type": "bool", "default": False},
}


def groups_of(runs, hosts, known):
    """Return the hosts of each run by its first one, and those of mpirun, which may have the domain of their job in their names."""
    of_mpirun = {host_named(str(host["name"]), known): host for host in hosts}
    return {
        run.hosts[0]: {"names": list(run.hosts), "hosts": [of_mpirun[name] for name in run.hosts if name in of_mpirun]}
        for run in runs
        if not run.done
    }


class ActionModule(ActionBase):
    """Read, decide, write on the controller."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        try:
            if options["state"] == "planned":
                return self.planned(options, task_vars)
            if not options["run_dir"]:
                raise SearchError(f"run_dir is not set; it is required with state={options['state']}.")
            return self.continued(store.absolute(options["run_dir"]), options["hosts"])
        except (SearchError, store.RecordError) as error:
            return {"failed": True, "msg": str(error)}

    def planned(self, options, task_vars):
        """Begin a search, or find the one that was interrupted."""
        if not options["results_dir"]:
            raise SearchError("results_dir is not set; it is required with state=planned.")
        known = task_vars["hostvars"]
        names = hosts_of(options["hosts"], task_vars["ansible_play_hosts_all"])
        nodes = {host: known[host].get("taco_node") or {} for host in names}
        budget = Budget(options["budget_minutes"], options["max_rounds"])
        boundaries = boundaries_of(options["boundaries"], names, lambda host, name: known[host].get(name))
        require_one_interface(options["options"].get("interface"), names, lambda host, name: known[host].get(name))
        hardware = hardware_of(nodes, options["hosts"])
        limits = {"effect": options["effect"], "alone": options["alone"], "expected": options["expected"]}
        search = begin(Search(names, hardware, boundaries, budget=budget, **limits))
        forks = context.CLIARGS.get("forks") or 0
        if forks and forks < len(names):
            raise SearchError(
                f"{forks} forks are fewer than the {len(names)} hosts, so the runs of a round would not be at the same time: "
                f"run the playbook with --forks {len(names)}."
            )
        results, identity = store.absolute(options["results_dir"]), searches.fingerprint(search, options["options"])
        kept = None if options["fresh"] else searches.unfinished(results, search, identity, self._display.warning)
        if not kept:
            # The counters and the duration of an ordinary run before the search.
            earlier = store.read(os.path.join(results, "latest"))[0]
            seconds = searches.seconds_of_a_run(earlier, names)
            search = search._replace(suspects=tuple(suspects(earlier, names)), run_seconds=seconds)
        run_dir, search = kept or (series.new_folder(results, "locate"), search)
        series.enter(series.SEARCH, run_dir, write=not self._task.check_mode)
        if kept:
            search = searches.with_records(search, store.read(run_dir)[0], complete=False)
        return self.decided(run_dir, search, identity, odd_json(odd_ones(nodes)), options["lab"], options["hosts"])

    def continued(self, run_dir, hosts):
        """Record the results of a round and decide."""
        try:
            kept = searches.load(run_dir)
        except store.RecordError as error:
            raise SearchError(f"{error} Run the playbook again to begin a new search.") from error
        series.enter(series.SEARCH, run_dir, write=not self._task.check_mode)
        search = searches.with_records(from_json(kept["search"]), store.read(run_dir)[0], complete=True)
        return self.decided(run_dir, search, kept["fingerprint"], kept["odd"], kept["lab"], hosts)

    def decided(self, run_dir, search, identity, odd, lab, hosts):
        """Keep the search with its next round or its answer, show it, and return it."""
        search, found = searches.step(search)
        final = isinstance(found, Answer)
        if not self._task.check_mode:
            searches.keep(run_dir, search, found if final else None, identity, odd, lab)
        result = {"changed": False, "run_dir": run_dir, "round": None, "groups": {}, "answer": None, "odd": odd}
        if final:
            if not self._task.check_mode:
                series.release(run_dir)
            result.update(answer=searches.answer_json(found), msg=sentence(search, found))
            result["culprits"] = searches.culprits(found)
        else:
            groups = groups_of(found.runs, hosts, search.hosts)
            result.update(round=found.number, groups=groups, msg=announced(search, found))
        self._display.display(result["msg"])
        return result
