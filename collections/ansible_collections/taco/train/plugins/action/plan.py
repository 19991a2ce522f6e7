# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collect the changes that roles decided on in check mode, save them as a plan, and compare hosts with a saved plan."""

import getpass
import os
from datetime import datetime, timezone
from typing import Any, Iterable, Mapping

from ansible import context
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.module_utils._files.owner_lock import lock_path
from ansible_collections.taco.train.plugins.modules.plan import ARGUMENT_SPEC, REQUIRED_IF
from ansible_collections.taco.train.plugins.plugin_utils.plan import page, wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.change import checksum, identity_of
from ansible_collections.taco.train.plugins.plugin_utils.plan.collect import (
    applied_differences,
    changes_of,
    differences,
    identity_differences,
    reboot_not_allowed,
)
from ansible_collections.taco.train.plugins.plugin_utils.plan.forecast import forecast
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import grouped, own_values
from ansible_collections.taco.train.plugins.plugin_utils.plan.skipped_tasks import not_of_all_hosts, not_whole
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import (
    SET_FILE,
    Plan,
    PlanError,
    change_of_document,
    count,
    read,
    render,
    require_same_fleet,
    whole_change,
)
from ansible_collections.taco.train.plugins.plugin_utils.preflight.controller import collection_version
from ansible_collections.taco.train.plugins.plugin_utils.reboot.rolling import History, read_history
from ansible_collections.taco.train.plugins.plugin_utils.reboot.rolling import plan as rolling_plan
from ansible_collections.taco.train.plugins.plugin_utils.report.render import html
from ansible_collections.taco.train.plugins.plugin_utils.run import store as run_store
from ansible_collections.taco.train.plugins.plugin_utils.run.owner import identity, is_of_another, playbook
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import plain

OWNER_ONLY = 0o600


def addresses(hosts: Iterable[str], task_vars: Mapping[str, Any]) -> dict[str, str]:
    """Where the inventory reaches each host."""
    return {host: _address(host, task_vars["hostvars"][host]) for host in hosts}


def _address(host: str, variables: Mapping[str, Any]) -> str:
    name, port = str(variables.get("ansible_host") or host), variables.get("ansible_port")
    return f"{name} port {port}" if port else name


def _earlier_reboots(path: str | None) -> History:
    """The seconds of the earlier reboots of each host, none without a readable file."""
    try:
        with open(run_store.absolute(path or ""), encoding="utf-8") as stream:
            return read_history(stream.read())
    except (OSError, UnicodeError):
        return {}


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _user() -> str:
    """The user who runs the playbook; a container may have none of that number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


class ActionModule(ActionBase):
    """Read, decide in plugin_utils, write. Only a lock is on a host."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC, required_if=REQUIRED_IF)
        options = plain(options)
        try:
            result.update({"changed": False, **getattr(self, "_" + options["state"])(options, task_vars)})
        except (PlanError, InvalidValueError, run_store.RecordError) as error:
            # Ansible would add the messages of all causes.
            raise AnsibleActionFail(str(error)) from None
        return result

    def _decided(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        changes = changes_of(options["results"])
        return {
            "changes": [whole_change(change) for change in changes],
            "own": own_values(task_vars["inventory_hostname"], options["node"]) if changes else {},
            "identity": identity_of(options["node"]),
            "reboot_not_allowed": reboot_not_allowed(options["results"]),
            "text": wording.changes_text(changes),
        }

    def _plan(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> Plan:
        hosts = {host: tuple(map(change_of_document, found["changes"])) for host, found in options["hosts"].items()}
        needed = [host for host, changes in hosts.items() if any(change.role == "reboot" for change in changes)]
        waiting = {host: found["reboot_not_allowed"] for host, found in options["hosts"].items()}
        batches = rolling_plan(needed, options["reboot_batch"], 0, options["boot_seconds"]).batches
        return Plan(
            options["of"],
            collection_version(),
            _now(),
            hosts,
            addresses(options["hosts"], task_vars),
            {host: found["identity"] for host, found in options["hosts"].items()},
            {
                **forecast(batches, _earlier_reboots(options["reboots"]), options["boot_seconds"])._asdict(),
                "not_allowed": {host: reason for host, reason in waiting.items() if reason},
            },
        )

    def _saved(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        plan, path = self._plan(options, task_vars), run_store.absolute(options["path"])
        entries = grouped(plan.hosts, {host: found["own"] for host, found in options["hosts"].items()})
        html_path = os.path.splitext(path)[0] + ".html"
        if html_path == path:
            raise PlanError(
                f"{path} would be replaced by the page of the plan: set plan_file to a name that does not end with .html"
            )
        # A plan is no change, so check mode writes it, too.
        run_store.write_text(path, render(plan), OWNER_ONLY)
        run_store.write_text(html_path, html(page.document(plan, entries)), OWNER_ONLY)
        return {
            "count": count(plan),
            "entries": len(entries),
            "text": wording.render(plan, entries),
            "path": path,
            "page": html_path,
        }

    def _read(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> tuple[Plan, str, str]:
        """The plan, its file and the checksum of that."""
        if not options["path"].strip():
            raise PlanError(f"taco_plan is empty. {SET_FILE}, or do not set taco_plan")
        refusal = not_whole(options["path"], context.CLIARGS)
        if refusal:
            raise PlanError(refusal)
        path = run_store.absolute(options["path"])
        try:
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
            plan, found = read(text, path), checksum(text)
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            raise PlanError(f"{path} can't be read: {reason}. {SET_FILE}") from error
        if options["checksum"] not in ("", found):
            raise PlanError(wording.replaced(path))
        reached = addresses(options["hosts"], task_vars)
        require_same_fleet(plan, path, options["of"], collection_version(), task_vars["groups"]["all"], reached)
        return plan, path, found

    def _loaded(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        hostvars = task_vars["hostvars"]
        plans = {host: plain(hostvars[host].get("taco_plan")) for host in task_vars["ansible_play_hosts"]}
        refusal = not_of_all_hosts(task_vars["inventory_hostname"], plans)
        if refusal:
            raise PlanError(refusal)
        plan, _path, found = self._read(options, task_vars)
        changing = [host for host, changes in plan.hosts.items() if changes]
        return {"count": count(plan), "changing": changing, "checksum": found}

    def _locked(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        own = {**identity(playbook()), "user": _user(), "since": _now()}
        arguments = {**{name: options[name] for name in ("state", "state_dir")}, "owner": own}
        found: dict[str, Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        other = found.get("other") or {}
        # A lock that was made by hand may name no process.
        if other and (not str(other.get("pid")).isdecimal() or not is_of_another(other, own)):
            found = self._execute_module(module_args={**arguments, "ended": other}, task_vars=task_vars)
            other = found.get("other") or {}
        host, path = task_vars["inventory_hostname"], lock_path(options["state_dir"])
        return {**found, "refusal": wording.locked(host, other, path) if other else ""}

    _released = _locked

    def _refused(self, _options: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        hostvars = task_vars["hostvars"]
        # The playbook that applies the plan has compared its hosts with it, and imports this one.
        others = [host for host in task_vars["ansible_play_hosts"] if "plan_checked" not in hostvars[host]]
        # A play can set the variable, too.
        plans = [self._templar.template(task_vars.get("taco_plan"))] if others else []
        plans += [hostvars[host].get("taco_plan") for host in others]
        for plan in plans:
            if plan is not None:
                raise PlanError(wording.not_applied(str(plan)))
        return {}

    def _checked(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        try:
            plan, path, _found = self._read(options, task_vars)
        except PlanError as error:
            # The hosts are locked: the role releases them before it fails.
            return {
                "refused": {next(iter(options["hosts"]), ""): str(error)},
                "fatal": True,
                "count": 0,
            }
        refused = {host: text for host, text in zip(options["hosts"], options["locked"]) if text}
        for host, found in options["hosts"].items():
            if host in refused:
                continue
            if host not in plan.hosts:
                refused[host] = wording.unplanned(host, path)
                continue
            decided = map(change_of_document, found["changes"])
            differing = identity_differences(plan.identities[host], found["identity"])
            differing += differences(plan.hosts[host], decided)
            if differing:
                refused[host] = wording.refusal(host, path, differing)
        return self._result(plan, path, options, refused)

    def _compared(self, options: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        plan, path, _found = self._read(options, task_vars)
        refused = {}
        for host, found in options["hosts"].items():
            applied = map(change_of_document, found["changes"])
            differing = applied_differences(plan.hosts.get(host, ()), applied)
            if differing:
                refused[host] = wording.mismatch(host, path, differing)
        return self._result(plan, path, options, refused)

    def _result(self, plan: Plan, path: str, options: dict[str, Any], refused: dict[str, str]) -> dict[str, Any]:
        """The messages for hosts that are refused. One for hosts that were not compared goes to the first host."""
        compared, play = options["hosts"], options["all_hosts"]
        lost, outside = ([host for host in hosts if host not in compared] for hosts in (play, plan.hosts))
        outside = [host for host in outside if host not in play]
        if (lost or outside) and not options["partial"]:
            first = next(iter(compared))
            texts = [refused.get(first), wording.not_compared(path, lost, outside)]
            refused = {**refused, first: "\n".join(filter(None, texts))}
        return {"refused": refused, "fatal": bool(refused) and not options["partial"], "count": count(plan)}
