# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge all hosts at once, on the controller."""

import json
import sys
from datetime import datetime, timezone

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.check import Check
from ansible_collections.taco.train.plugins.plugin_utils.preflight.controller import look
from ansible_collections.taco.train.plugins.plugin_utils.preflight.host import OTHER_BATCH
from ansible_collections.taco.train.plugins.plugin_utils.preflight.host_failures import failures, outcome
from ansible_collections.taco.train.plugins.plugin_utils.preflight.table import summary, table
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import (
    Host,
    QueryError,
    VerdictError,
    failed_hosts,
    judge,
)
from ansible_collections.taco.train.plugins.plugin_utils.run import store
from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import unknown_variables
from ansible_collections.taco.train.plugins.plugin_utils.variables.play import variables_of
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options, plain, prefixes
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import VALID, InvalidValue, Validator

ARGUMENTS = {
    "hosts": {"type": "list", "elements": "str"},
    "checks_extra": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "id": {"type": "str", "required": True},
            "query": {"type": "str", "required": True},
            "expected": {"type": "raw"},
            "message": {"type": "str"},
            "fix": {"type": "str"},
        },
    },
    "findings": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "hosts": {"type": "list", "elements": "str", "required": True},
            "expected": {"type": "str", "required": True},
            "found": {"type": "str", "required": True},
            "fix": {"type": "str", "required": True},
        },
    },
    "skip": {"type": "list", "elements": "str", "default": []},
    "verdict_path": {"type": "path"},
    "gate": {"type": "bool", "default": True},
    "failures": {"type": "dict"},
}


def search(query, value):
    """Return what a JMESPath expression finds. The package is needed only by who writes such a check."""
    try:
        import jmespath
        from jmespath.exceptions import JMESPathError
    except ImportError as error:
        fix = f"{sys.executable} -m pip install jmespath"
        raise QueryError("the Python package jmespath on the controller", str(error), fix) from error
    try:
        return jmespath.search(query, value)
    except (JMESPathError, TypeError, ValueError) as error:
        fix = "correct its query in preflight_extra_checks (checks_extra)"
        raise QueryError("a query that can be computed", f"{query!r}: {error}", fix) from error


class ActionModule(ActionBase):
    """The shell around the verdict: reads variables, writes the file, fails."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        """Return the verdict on the hosts, or fail with the table of all that is wrong with them."""
        super().run(tmp, task_vars)
        task_vars = task_vars or {}
        _result, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        if arguments["failures"] is not None:
            return self._failure(plain(arguments["failures"]), task_vars)
        names = plain(arguments["hosts"] if arguments["hosts"] is not None else task_vars["ansible_play_hosts_all"])
        path = arguments["verdict_path"]
        try:
            hosts = self._hosts(names, task_vars, plain(arguments["findings"]))
            skip, extra = plain(arguments["skip"]), plain(arguments["checks_extra"])
            cluster = plain((task_vars.get("__preflight_cluster") or {}).get("kubernetes"))
            verdict = judge(hosts, search, skip, extra, cluster, look())
        except VerdictError as error:
            raise AnsibleActionFail(str(error)) from None
        unwritten = self._write(path, verdict)
        return self._answer(verdict, path, arguments["gate"], task_vars, unwritten)

    def _failure(self, found, task_vars):
        """Return the failure of this host in an earlier verdict."""
        failure = outcome(task_vars["inventory_hostname"], task_vars["ansible_play_batch"], found)
        if failure is None or self._task.check_mode:
            return {"changed": False}
        return {"changed": False, "unreachable" if failure["unreachable"] else "failed": True, "msg": failure["msg"]}

    def _write(self, path, verdict):
        """Write the verdict; the answer is why that was not possible."""
        if not path or self._task.check_mode:
            return None
        stamp = datetime.now(timezone.utc).isoformat(timespec="seconds")
        text = json.dumps(dict(verdict, created=stamp), indent=2, ensure_ascii=False)
        try:
            store.write_text(store.absolute(path), text + "\n")
        except store.RecordError as error:
            return str(error)
        return None

    def _answer(self, verdict, path, gate, task_vars, unwritten):
        written = None if unwritten or self._task.check_mode else path
        text = table(verdict, written)
        result = {"changed": False, "failed_hosts": failed_hosts(verdict), "verdict_path": path}
        result["failures"] = failures(verdict, self._unreachable(verdict["hosts"], task_vars["hostvars"]))
        # Here and not in a message, which Ansible prints twice and some versions in one long line.
        if unwritten or verdict["summary"]["fail"] or verdict["summary"]["warn"]:
            self._display.display(text)
        if unwritten:
            return dict(result, failed=True, msg=unwritten)
        if gate and verdict["summary"]["fail"] and not self._task.check_mode:
            # Without the verdict: Ansible prints all of a failed result, and the file has it.
            return dict(result, failed=True, msg=f"{summary(verdict)}: see the table above")
        return dict(result, table=text, verdict=verdict)

    def _hosts(self, names, task_vars, findings):
        specs = all_options()
        hostvars = task_vars["hostvars"]
        unknown_hosts = [name for name in names if name not in hostvars]
        if unknown_hosts:
            raise AnsibleActionFail(
                f"the option hosts names {', '.join(unknown_hosts)}, which the inventory doesn't have: correct one of them"
            )
        # Each look into hostvars combines the variables of a host anew.
        own = {name: hostvars[name] for name in names}
        given = {name: variables_of(self, name, specs) for name in names}
        fleet = tuple((name, variables.get("taco_gpus_per_node")) for name, (variables, _errors) in given.items())
        validator = Validator(specs, fleet)
        batch = task_vars.get("ansible_play_batch", names)
        wrong = {name: [] for name in names}
        for one in findings:
            check = Check(VALID, "fail", one["expected"], one["found"], one["fix"])
            for name in wrong.keys() & set(one["hosts"]):
                wrong[name].append(InvalidValue(check))
        return {name: self._host(own[name], *given[name], validator, name in batch, wrong[name]) for name in names}

    def _host(self, own, variables, errors, validator, is_here, findings):
        permitted = variables.get("preflight_known_variables") or []
        # A text is a list for Ansible, as it is for a role.
        permitted = permitted if isinstance(permitted, list) else str(permitted).split(",")
        unknown = unknown_variables([str(name) for name in own], prefixes(), validator.specs, permitted)
        node = self._node(own)
        wrong = validator.problems(variables, list(errors)) + findings
        error = None if node is not None else self._error(own) or (None if is_here else OTHER_BATCH)
        return Host(node, variables, error, unknown, errors, wrong)

    def _node(self, own):
        """Return the observation of the host, or None when there is none that can be computed."""
        try:
            return plain(own["taco_node"]) if "taco_node" in own else None
        except AnsibleError:
            return None

    def _unreachable(self, names, hostvars):
        """The hosts that the role preflight could not reach."""
        observed = {
            name: hostvars[name]["__preflight_observed"] for name in names if "__preflight_observed" in hostvars[name]
        }
        return [name for name, found in observed.items() if plain(found).get("unreachable")]

    def _error(self, own):
        """Return why the host could not be observed."""
        failure = plain(own["__preflight_observed"]) if "__preflight_observed" in own else None
        if not isinstance(failure, dict):
            return failure
        parts = ["unreachable:" if failure.get("unreachable") else "", failure.get("msg", "")]
        parts += [failure.get(stream, "").strip() for stream in ("module_stderr", "module_stdout") if "rc" in failure]
        return " ".join(part for part in parts if part)
