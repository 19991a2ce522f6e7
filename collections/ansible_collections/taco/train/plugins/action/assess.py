# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge all hosts at once, on the controller."""

import json
import os
import tempfile
from collections.abc import Mapping
from datetime import datetime, timezone

import yaml
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.checks_variables import unknown_variables
from ansible_collections.taco.train.plugins.plugin_utils.verdict import Host, VerdictError, failed_hosts, judge
from ansible_collections.taco.train.plugins.plugin_utils.verdict_table import table

ROLES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "roles")
# The variables that several roles share have the collection's name for a prefix.
PREFIXES = {"cluster": "taco_"}
# Older versions of ansible-core show the message of a failure as JSON only, in one long line.
SHOWS_MESSAGES = (2, 19)
# A default that is another one on each host. The task would have it for the host that it runs on.
OWN_NAME = "{{ inventory_hostname }}"
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
    "skip": {"type": "list", "elements": "str", "default": []},
    "verdict_path": {"type": "path"},
    "gate": {"type": "bool", "default": True},
}


def role_options(folder):
    """Return the documented variables of each role below a folder, with their defaults."""
    options = {}
    for role in sorted(os.listdir(folder)):
        path = os.path.join(folder, role, "meta/argument_specs.yml")
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                options[role] = yaml.safe_load(file)["argument_specs"]["main"]["options"]
    return options


def plain(value):
    """Return a value without what Ansible adds to it, as JSON and JMESPath know it."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)


def search(query, value):
    """Return what a JMESPath expression finds. The package is needed only by who writes such a check."""
    try:
        import jmespath
        from jmespath.exceptions import JMESPathError
    except ImportError as error:
        raise VerdictError(
            "checks_extra needs the Python package jmespath on the controller: pip install jmespath"
        ) from error
    try:
        return jmespath.search(query, value)
    except JMESPathError as error:
        raise VerdictError(f"the query {query!r} in checks_extra: {error}") from error


def write_json(path, value):
    """Replace a file as a whole, so that nobody ever reads half of one."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".verdict-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class HostName(str):
    """The name of a host, where that is a variable's default."""


class ActionModule(ActionBase):
    """The shell around the verdict: reads variables, writes the file, fails."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        """Return the verdict on the hosts, or fail with the table of all that is wrong with them."""
        super().run(tmp, task_vars)
        task_vars = task_vars or {}
        _result, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        names = plain(arguments["hosts"] if arguments["hosts"] is not None else task_vars["ansible_play_hosts_all"])
        path = arguments["verdict_path"]
        try:
            hosts = self._hosts(names, task_vars)
            skip, extra = plain(arguments["skip"]), plain(arguments["checks_extra"])
            verdict = judge(hosts, search, skip, extra, plain(task_vars.get("__preflight_kubernetes")))
            if path and not self._task.check_mode:
                stamp = datetime.now(timezone.utc).isoformat(timespec="seconds")
                write_json(path, dict(verdict, created=stamp))
        except VerdictError as error:
            raise AnsibleActionFail(str(error)) from error
        except OSError as error:
            raise AnsibleActionFail(
                f"the verdict can't be written to {path} on the controller: {error.strerror}; set taco_results_dir to a folder "
                "where it can"
            ) from None
        return self._answer(verdict, path, arguments["gate"], task_vars)

    def _answer(self, verdict, path, gate, task_vars):
        text = table(verdict)
        result = {"changed": False, "failed_hosts": failed_hosts(verdict), "verdict_path": path}
        if gate and verdict["summary"]["fail"] and not self._task.check_mode:
            version = task_vars["ansible_version"]
            if (version["major"], version["minor"]) < SHOWS_MESSAGES:
                self._display.display(text)
            # Without the verdict: Ansible prints all of a failed result, and the file has it.
            return dict(result, failed=True, msg=text)
        if verdict["summary"]["fail"] or verdict["summary"]["warn"]:
            self._display.display(text)
        return dict(result, table=text, verdict=verdict)

    def _hosts(self, names, task_vars):
        options = role_options(ROLES)
        declared = {name: spec.get("default") for specs in options.values() for name, spec in specs.items()}
        prefixes = [PREFIXES.get(role, role + "_") for role in options]
        hostvars = task_vars["hostvars"]
        unknown_hosts = [name for name in names if name not in hostvars]
        if unknown_hosts:
            raise AnsibleActionFail(
                f"the option hosts names {', '.join(unknown_hosts)}, which the inventory doesn't have: correct one of them"
            )
        of_play = self._of_play(declared, task_vars)
        return {
            name: self._host(hostvars[name], dict(self._own_names(declared, name)), prefixes, of_play, task_vars)
            for name in names
        }

    def _own_names(self, declared, host):
        """Yield the declared variables with their defaults for a host."""
        for name, default in declared.items():
            yield name, HostName(host) if default == OWN_NAME else default

    def _of_play(self, declared, task_vars):
        """Return the variables that this task sees with another value than the inventory has for its host.

        Those are set by the play or where the role is used, and hold for every host.
        """
        own = task_vars["hostvars"].get(task_vars["inventory_hostname"], {})
        found = {}
        for name in declared:
            if name not in task_vars or name not in own:
                continue
            value = self._of_task(task_vars, name)
            if value != self._of_host(own, name, {}):
                found[name] = value
        return found

    def _of_task(self, task_vars, name):
        """Return a variable of this task, or None when it can't be computed: who needs it will say so."""
        try:
            return plain(self._templar.template(task_vars[name]))
        except AnsibleError:
            return None

    def _of_host(self, own, name, errors):
        """Return a variable of a host, computed for that host, or None with its error kept when it can't be."""
        try:
            return plain(own[name])
        except AnsibleError as error:
            errors[name] = str(error)
            return None

    def _host(self, own, declared, prefixes, of_play, task_vars):
        errors = {}
        variables = {}
        for name, default in declared.items():
            if name in of_play:
                variables[name] = of_play[name]
            elif name in own:
                variables[name] = self._of_host(own, name, errors)
            elif isinstance(default, HostName):
                variables[name] = str(default)
            else:
                # The task knows what the play sets, and the defaults of the roles in it.
                variables[name] = self._of_task(task_vars, name) if name in task_vars else default
        unknown = unknown_variables([str(name) for name in own], prefixes, declared)
        node = self._of_host(own, "taco_node", {}) if "taco_node" in own else None
        return Host(node, variables, self._error(own) if node is None else None, unknown, errors)

    def _error(self, own):
        """Return why the host could not be observed."""
        failure = plain(own["__preflight_error"]) if "__preflight_error" in own else None
        if not failure and "__preflight_observed" in own:
            failure = plain(own["__preflight_observed"])
        if not isinstance(failure, dict):
            return failure
        parts = ["unreachable:" if failure.get("unreachable") else "", failure.get("msg", "")]
        parts += [failure.get(stream, "").strip() for stream in ("module_stderr", "module_stdout") if "rc" in failure]
        return " ".join(part for part in parts if part)
