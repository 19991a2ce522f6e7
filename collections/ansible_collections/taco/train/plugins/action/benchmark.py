# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a benchmark on the launcher, show how far it is, and record on the controller what came of it."""

import os
import shlex
import uuid
from datetime import datetime, timezone

from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.progress import Progress, run_seconds
from ansible_collections.taco.train.plugins.plugin_utils.run import needs, record_file, store
from ansible_collections.taco.train.plugins.plugin_utils.run.abandoned import given_up, refuted, setting
from ansible_collections.taco.train.plugins.plugin_utils.run.follow import LogFollower, terminal
from ansible_collections.taco.train.plugins.plugin_utils.run.options import of_each, with_overrides
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import (
    KILL_AFTER,
    PLACES,
    guarded,
    not_active,
    plan,
    require_no_place,
)
from ansible_collections.taco.train.plugins.plugin_utils.run.record import Facts, make_record
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import plain
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import count_of, iteration_of, unit_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import with_delivered

# The module's own limit is only for when the one inside the container didn't hold: it waits for that one's SIGKILL.
OUTER_SECONDS = 30
MAX_OUTPUT_BYTES = 8 * 1024 * 1024
ARGUMENTS = dict(
    PLACES,
    options={"type": "dict", "default": {}},
    runs={"type": "list", "elements": "dict"},
    records_before={"type": "int", "default": 0},
    facts_of={"type": "list", "elements": "str", "default": []},
    job={"type": "dict"},
)


def container_of(exec_prefix):
    """The container that an engine's exec leads into, an empty text for any other way."""
    return exec_prefix[2] if len(exec_prefix) == 3 and exec_prefix[1] == "exec" else ""


def facts_of(hosts, hostvars, workers):
    """Return what a record says of hosts of the play. On many hosts it takes seconds to put this together."""
    known = {str(host): hostvars.get(host) or {} for host in hosts}
    pods = {host: plain(one.get("taco_pod")) or {} for host, one in known.items()}
    places = {host: pod.get("place") for host, pod in pods.items()}
    return Facts(
        {
            host: record_file.system_of(one.get("taco_node") or {}, workers.get(host), pods[host].get("image"))
            for host, one in known.items()
        },
        places if any(places.values()) else {host: pod.get("node") for host, pod in pods.items()},
    )


class ActionModule(ActionBase):
    """Read the options, run, record, judge."""

    _supports_check_mode = True
    _requires_connection = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        launcher = str(self._task.delegate_to or task_vars["inventory_hostname"])
        runs, before, members = (options.pop(name) for name in ("runs", "records_before", "facts_of"))
        run_options, self.done = options.pop("options"), options.pop("job")
        try:
            of_runs = (
                of_each(options, run_options, runs) if runs is not None else [with_overrides(options, run_options)]
            )
            todo = [(one, plan(with_delivered(one))) for one in of_runs]
            for one, planned in todo:
                if not one["case"]:
                    require_no_place(planned.arm)
        except InvalidValueError as error:
            return {"failed": True, "msg": f"The benchmark can't be run: {error}"}
        if self._task.check_mode:
            argvs = [planned.argv for _one, planned in todo]
            message = f"Check mode: {launcher} would run " + "; then ".join(map(shlex.join, argvs))
            # A skipped task's message stays unseen without -v, and it is all there is to see of this one.
            self._display.display(message)
            return {"changed": False, "skipped": True, "argv": argvs[0] if argvs else [], "msg": message}
        try:
            # What a comparison has measured up to now says how long a run takes, and which arms always fail.
            self.kept = store.read(store.absolute(options["run_dir"]))[0] if options["case"] or runs is not None else []
            self.facts = facts_of(members, task_vars.get("hostvars", {}), options["workers"])
            if runs is None:
                return self.run_and_record(*todo[0], launcher, task_vars)
            return self.run_all(todo, before, launcher, task_vars)
        except store.RecordError as error:
            return {"failed": True, "msg": str(error), "argv": todo[0][1].argv if todo else []}

    def run_all(self, todo, before, launcher, task_vars):
        """Do the runs of a comparison, except those of an arm that failed too often in a row in a case since it was planned, or that
        took another path than it promises.
        """
        done = []
        for options, planned in todo:
            kept = self.kept[before:]
            if setting(options["case"]["id"], planned.arm.name) in given_up(kept) or planned.arm.name in refuted(kept):
                continue
            result = self.run_and_record(dict(options, fail_on_bad_run=False), planned, launcher, task_vars)
            record = result["record"]
            self.show(options["label"], record["result"], result.get("msg"))
            done.append({"label": options["label"], "outcome": record["outcome"], "log": result["log"]})
            done[-1].update(record=record["id"], changed=result["changed"], msg=result.get("msg", ""))
        changed = any(one["changed"] for one in done)
        records = [one["record"] for one in done]
        return {"changed": changed, "runs": done, "records": records, "given_up": given_up(self.kept[before:])}

    def show(self, label, measured, message):
        """Show what a run of a comparison measured, unless its iterations did, or why it failed."""
        if message:
            self._display.display(f"{label}: {message}", color=constants.COLOR_ERROR)
        elif not self.shown:
            self._display.display(f"{label}: {measured['value']:.6g} {measured['unit']}")

    def run_and_record(self, options, planned, launcher, task_vars):
        run_dir = store.absolute(options["run_dir"])
        # A run takes half an hour; that its result can't be kept is better known before.
        record_file.require_schema()
        store.make_directory(os.path.join(run_dir, "logs"))
        store.point_latest(run_dir)
        time = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        identity = record_file.record_id(time, planned.arm.name, uuid.uuid4().hex[:6])
        job = self.execute(options, planned, identity, task_vars, launcher)
        if options["json_path"] and job.get("rc") == 0:
            options = dict(options, json=self.content_of([*options["exec_prefix"], "cat", options["json_path"]]))
        record, reason = make_record(options, job, planned, launcher, self.facts)
        log = f"logs/{identity}.log"
        path = os.path.join(run_dir, log)
        store.write_text(path, job.get("stdout") or str(job.get("msg", "")) + "\n", store.OWNER_ONLY)
        record.update(
            id=identity, run=os.path.basename(run_dir), time=time, argv=planned.argv, notes=planned.notes, log=log
        )
        record_file.append(run_dir, record)
        self.kept.append(record)
        result = {"changed": "rc" in job, "argv": planned.argv, "record": record, "records": [identity], "log": path}
        if reason:
            expected = f"{planned.ranks} ranks on {len(options['hosts'])} hosts and a total"
            result["failed"] = options["fail_on_bad_run"]
            result["msg"] = (
                f"The benchmark on launcher {launcher} failed: expected {expected}, but {reason.found}. "
                f"To fix it, {reason.fix}.{reason.shown()} Log: {path}"
            )
        return result

    def content_of(self, argv):
        """Return what a command on the launcher prints, or an empty text: what is missing then makes the run a failed one."""
        try:
            done = self._low_level_execute_command(shlex.join(argv))
        except AnsibleConnectionFailure:
            return ""
        return done["stdout"] if done["rc"] == 0 else ""

    def execute(self, options, planned, identity, task_vars, launcher):
        """Run the command on the launcher: the one execution there. A lost connection is a failed run like any other."""
        self.shown = 0
        if self.done:
            return dict(self.done)
        unready = not_active(planned.arm, options["workers"], options["not_ready"], planned.mpi)
        if unready:
            return {"failed": True, "msg": unready}
        workers = options["workers"] if planned.mpi else {launcher: options["workers"].get(launcher)}
        lacking = needs.problem(with_delivered(options), workers, planned.env, container_of(options["exec_prefix"]))
        if lacking:
            return {"failed": True, "msg": lacking.found, "fix": lacking.fix}
        log_path = os.path.join(options["target_log_dir"], identity + ".log")
        argv, end_argv = guarded(planned.argv, options["exec_prefix"])
        arguments = {
            "argv": argv,
            "end_argv": end_argv,
            "timeout": options["timeout"] + (OUTER_SECONDS if options["exec_prefix"] else 0),
            "grace": KILL_AFTER,
            "log_path": log_path,
            "max_output_bytes": MAX_OUTPUT_BYTES,
        }
        # ssh would begin the whole run again, beside what is left of the first.
        if self._connection.transport == "ssh":
            self._connection.set_option("reconnection_retries", 0)
        follower = self.follower(options, planned, log_path)
        try:
            job = self._execute_module(module_name="taco.train.command_job", module_args=arguments, task_vars=task_vars)
        except AnsibleConnectionFailure as error:
            job = {"failed": True, "msg": f"the connection to it was lost: {error}"}
            # The next run must not rely on a folder that a rebooted launcher no longer has.
            self._connection._shell.tmpdir = None
        finally:
            if follower:
                follower.stop()
        if follower:
            follower.finish(job.get("stdout", ""))
        self.shown = follower.shown if follower else 0
        return job

    def follower(self, options, planned, log_path):
        """Return what shows the iterations of the run as they come, or None when nobody wants to see them."""
        reader = iteration_of(options) if options["progress"] else None
        if reader is None:
            return None
        label = options["label"] or f"{planned.arm.name}, {options['model'] or options['workload']}"
        of_comparison = options["case"] is not None
        took = run_seconds(self.kept) if of_comparison else None
        left = {"runs_left": options["runs_left"], "run_seconds": took}
        progress = Progress(label, count_of(options), reader, unit_of(options), **left)
        shown = (self._display, terminal(), of_comparison)
        follower = LogFollower(self, log_path, options["progress_interval"], progress.feed, *shown)
        follower.start()
        return follower
