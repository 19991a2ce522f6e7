# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Submit a job through Arena, wait for it, and take it down with its logs kept; ansible.builtin.command runs Arena."""

from __future__ import annotations

import os
import shlex
import time
from typing import Any, Mapping

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.container.spec import SpecError
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes import logs as mpijob_logs
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.action import pods_reached
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import one_line
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.mpijob import arena_command, arena_status, owner
from ansible_collections.taco.train.plugins.plugin_utils.mpijob import work as mpijob_work
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.inventory import Made, hosts
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import Job, job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.names import worker_hosts
from ansible_collections.taco.train.plugins.plugin_utils.run import store

ARGUMENT_SPEC = {
    "job": {"type": "dict", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "until": {"type": "str", "choices": ["running", "succeeded", "ended"], "default": "running"},
    "wait_timeout": {"type": "int", "default": 600},
    "interrupt_running_work": {"type": "bool", "default": False},
    "allow_lost_logs": {"type": "bool", "default": False},
    "any_manager": {"type": "bool", "default": False},
    "poll": {"type": "float", "default": 2.0},
    "logs_dir": {"type": "str"},
    "kubeconfig": {"type": "str"},
    "context": {"type": "str"},
    "arena": {"type": "str", "default": "arena"},
    "python": {"type": "path", "default": "/usr/bin/python3"},
    "pod_variables": {"type": "dict", "default": {}},
}
SAY_EVERY = 15
INSTALL = (
    "install it there (https://github.com/kubeflow/arena), set arena_job's option arena to its path, or submit the job "
    "natively (ack_submit: native)"
)


class ArenaTrouble(AnsibleActionFail):
    """Arena could not say how the job is; it may be able to the next time."""


def _said(answer: Mapping[str, Any]) -> str:
    """Return all that a command printed."""
    return f"{answer.get('stdout', '')}\n{answer.get('stderr', '')}".strip()


class ActionModule(ActionBase):
    """Ask Arena how things are, and tell it what is missing."""

    _supports_check_mode = True
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validated, self.options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        self.task_vars = task_vars or {}
        self.host = str(self._task.delegate_to or self.task_vars.get("inventory_hostname", "this host"))
        try:
            self.job = job_of(self.options["job"])
            self.reached = pods_reached(self, self.options, self.host)
            self._require_context()
            result.update(self._present() if self.options["state"] == "present" else self._absent())
        except (MpijobError, SpecError) as error:
            doing = "submitted" if self.options["state"] == "present" else "removed"
            raise AnsibleActionFail(f"{self.host}: the job can't be {doing} through Arena: {error}.") from None
        except store.RecordError as error:
            raise AnsibleActionFail(str(error)) from None
        return result

    def _command(self, argv: list[str]) -> dict[str, Any]:
        """Run a command, in check mode as well: what runs there only reads, and the module would skip it."""
        checking, self._task.check_mode = self._task.check_mode, False
        try:
            return self._execute_module(
                module_name="ansible.builtin.command", module_args={"argv": argv}, task_vars=self.task_vars
            )
        finally:
            self._task.check_mode = checking

    def _arena(self, argv: list[str]) -> dict[str, Any]:
        """Run Arena and return its result; fail with how to install it where it is missing."""
        answer = self._command(argv)
        started = not answer.get("failed") or answer.get("msg") == "non-zero return code"
        if not started and answer.get("rc") is not None:
            raise AnsibleActionFail(f"{self.host}: there is no {argv[0]} that can be started: {INSTALL}.")
        if answer.get("rc") is None:
            raise ArenaTrouble(f"{self.host}: {shlex.join(argv)} could not be run: {answer.get('msg') or answer}")
        return answer

    def _require_context(self) -> None:
        """Refuse a context that Arena would not take: it would submit to, or delete in, another cluster."""
        context, config = self.options["context"], self.options["kubeconfig"]
        if not context:
            return
        answer = self._command(arena_command.context_argv(config))
        found = (answer.get("stdout") or "").strip()
        if answer.get("rc") != 0 or not found:
            found = f"no answer ({one_line(answer.get('stderr') or answer.get('msg'))})"
        if found != context:
            raise AnsibleActionFail(arena_command.context_refusal(self.host, context, found, config))

    def _verb(self, verb: str) -> dict[str, Any]:
        job = self.job
        return self._arena(
            arena_command.verb_argv(
                verb, job.spec.name, job.namespace, self.options["kubeconfig"], self.options["arena"]
            )
        )

    def _get(self) -> arena_status.ArenaJob | None:
        """Return what Arena says of the job, None when there is none."""
        answer = self._verb("get")
        said = _said(answer)
        # Of a job that is not there.
        self.left_over = False
        if answer["rc"] != 0:
            if arena_status.is_absent(said):
                self.left_over = arena_status.is_left_over(said)
                return None
            raise ArenaTrouble(f"{self.host}: arena get {self.job.spec.name} failed: {said}")
        try:
            return arena_status.read(answer.get("stdout", ""), self.job.spec.name)
        except MpijobError as error:
            raise ArenaTrouble(f"{self.host}: {error}") from None

    def _present(self) -> dict[str, Any]:
        argv = arena_command.submit_argv(self.job, self.options["kubeconfig"], self.options["arena"])
        self._require_none(self._get())
        if self._task.check_mode:
            return {"changed": True, "argv": argv, "skipped": False, "hosts": self._hosts()}
        self._submit(argv)
        begun = time.monotonic()
        job = self._wait()
        duration = time.monotonic() - begun
        log = None if self.options["until"] == "running" else self._log_of_ended(job)
        return {"changed": True, "argv": argv, "duration": duration, "stdout": log, **self._facts(job)}

    def _require_none(self, found: arena_status.ArenaJob | None) -> None:
        if found is not None:
            self._require_ours(found, "replaced")
            raise AnsibleActionFail(
                f"{self.host}: there is a job {found.name} in {found.namespace} already ({found.phase}), and Arena can't change one: "
                "remove it with state absent, or give this one another name."
            )

    def _submit(self, argv: list[str]) -> None:
        if self.left_over:
            self._delete(None)
        answer = self._arena(argv)
        if answer["rc"] != 0 and arena_status.is_left_over(_said(answer)):
            # Another run may be about to submit it, so that its job is not there yet.
            time.sleep(self.options["poll"])
            self._require_none(self._get())
            self._display.display(
                f"{self.host}: Arena keeps the record of a job {self.job.spec.name} that is not there: removing it"
            )
            self._delete(None)
            answer = self._arena(argv)
        if answer["rc"] != 0:
            raise AnsibleActionFail(f"{self.host}: arena submit {self.job.spec.name} failed: {_said(answer)}")

    def _delete(self, job: arena_status.ArenaJob | None) -> None:
        """Delete the job that was checked, or with None the record of one that is not there.

        arena delete knows names only, so what has the name now is read again just before it.
        """
        now = self._get()
        if now is not None and (job is None or now.uid != job.uid):
            thing, _cause = self._object(now)
            raise AnsibleActionFail(owner.recreated(thing, now.name, now.namespace, self.host))
        if now is None and job is not None and not self.left_over:
            return
        if now is not None:
            self._require_ours(now, "deleted")
        answer = self._verb("delete")
        said = _said(answer)
        gone = arena_status.is_absent(said) or arena_status.is_not_found(said, self.job.spec.name)
        if answer["rc"] != 0 and not gone:
            raise AnsibleActionFail(f"{self.host}: arena delete {self.job.spec.name} failed: {said}")

    def _object(self, job: arena_status.ArenaJob) -> tuple[Mapping[str, Any] | None, str | None]:
        """The object of a job, and why it can't be read. Neither where the job is gone."""
        options, cause = self.options, ""
        argv = arena_command.object_argv(job.name, job.namespace, options["kubeconfig"], options["context"])
        for pause in (0, *arena_status.PAUSES):
            time.sleep(pause * options["poll"])
            answer = self._command(argv)
            thing = arena_status.object_of(answer.get("stdout", ""))
            if answer.get("rc") == 0 and thing is not None:
                return thing, None
            cause = one_line(answer.get("stderr") or answer.get("stdout") or answer.get("msg"))
            if arena_status.is_not_found(cause, job.name):
                return None, None
        return None, cause or "kubectl printed no MPIJob"

    def _require_ours(self, job: arena_status.ArenaJob, doing: str) -> None:
        """Refuse a job of another manager."""
        if self.options["any_manager"]:
            return
        thing, cause = self._object(job)
        if cause is not None:
            raise AnsibleActionFail(owner.unread(self.host, job.name, job.namespace, doing, cause))
        if thing is not None and not owner.is_ours(thing):
            raise AnsibleActionFail(owner.refusal(self.host, thing, job.name, job.namespace, doing))

    def _log(self, job: arena_status.ArenaJob) -> dict[str, Any]:
        """Return the answer to arena logs. Where the log can't be read, ask again: the answer may be lost for a moment only."""
        answer = self._verb("logs")
        for pause in arena_status.PAUSES:
            if answer["rc"] == 0 or arena_status.has_no_log(job, one_line(_said(answer))):
                break
            time.sleep(pause * self.options["poll"])
            answer = self._verb("logs")
        return answer

    def _log_of_ended(self, job: arena_status.ArenaJob) -> str:
        """Return the log of a job that ended, which is the result of its command, or fail while the job still has it."""
        answer = self._log(job)
        if answer["rc"] == 0:
            return str(answer.get("stdout", ""))
        read = arena_command.verb_argv(
            "logs", job.name, job.namespace, self.options["kubeconfig"], self.options["arena"]
        )
        raise AnsibleActionFail(
            f"{self.host}: the job {job.name} is {job.phase}, and its log can't be read: {one_line(_said(answer))}. The job was not "
            f"deleted: read its log with `{shlex.join(read)}`"
        )

    def _hosts(self) -> list[dict[str, Any]]:
        # Arena's operator reaches workers by kubectl exec, as those of v1 do, so mpirun's hosts are named like theirs.
        return worker_hosts("v1", self.job.spec.name, self.job.workers, self.job.gpus_per_worker)

    def _facts(self, job: arena_status.ArenaJob) -> dict[str, Any]:
        wanted: Job = self.job
        options = self.options
        made = Made(job.name, job.namespace, "v1", wanted.workers, wanted.gpus_per_worker, job.launcher or "")
        pods = arena_status.pods(job, arena_command.CONTAINER) if job.phase == arena_status.RUNNING else []
        workers = [{"pod": one.name, "node": one.node} for one in job.instances if not one.chief]
        return {
            "phase": job.phase,
            "namespace": job.namespace,
            "launcher": {"pod": job.launcher},
            "workers": workers,
            "placement": self.placement,
            "container": arena_command.CONTAINER,
            "hosts": self._hosts(),
            "pods": hosts(pods, made, self.reached, {}, options["pod_variables"]),
        }

    def _wait(self) -> arena_status.ArenaJob:
        """Return the job once it is as far as wanted, or fail with what keeps it."""
        options, name = self.options, self.job.spec.name
        self.placement: dict[str, str] = {}
        end, said_at = time.monotonic() + options["wait_timeout"], 0.0
        while True:
            trouble = None
            try:
                job = self._get()
            except ArenaTrouble as error:
                # The API server may be away for a moment, and a job of hours must not be given up for it.
                job, trouble = None, str(error)
            far = arena_status.progress(job, self.job.workers) if job else None
            # The workers of a job that has ended are removed.
            self.placement.update(job.placement if job else {})
            if job and options["until"] != "running" and job.phase == arena_status.SUCCEEDED:
                return job
            if job and options["until"] == "ended" and job.phase in arena_status.ENDED:
                return job
            if job and far and far.usable and options["until"] == "running":
                return job
            if job and far and far.ended:
                raise AnsibleActionFail(f"{self.host}: the job {name} is {job.phase}: {self._last_words(job)}")
            now = time.monotonic()
            listed = f"{name} is {job.phase if job else 'not listed yet'}"
            waiting = trouble or ("; ".join(far.waiting) if far and far.waiting else listed)
            if now >= end:
                fix = arena_status.advice(job, trouble)
                raise AnsibleActionFail(
                    f"{self.host}: the job {name} was not {options['until']} after {options['wait_timeout']} s: {waiting}. {fix}"
                )
            if now - said_at >= SAY_EVERY:
                self._display.display(f"Waiting for {name}: {waiting}")
                said_at = now
            time.sleep(min(options["poll"], max(0.0, end - now)))

    def _last_words(self, job: arena_status.ArenaJob) -> str:
        """Return the end of the log of the launcher, for a job that ended when it shouldn't have."""
        answer = self._log(job)
        if answer["rc"] != 0:
            return f"its log can't be read: {one_line(_said(answer))}"
        return arena_status.last_words(answer.get("stdout") or "") or "its launcher printed nothing; see arena logs"

    def _absent(self) -> dict[str, Any]:
        """Keep the log of the launcher, delete the job, and wait until it is gone."""
        job = self._get()
        if job is None:
            left_over = self.left_over
            if left_over and not self._task.check_mode:
                self._delete(None)
            return {"changed": left_over, "logs": {}}
        self._require_ours(job, "deleted")
        warnings = [] if self.options["interrupt_running_work"] else self._running_work(job)
        if self._task.check_mode:
            return {"changed": True, "logs": {}, **({"warnings": warnings} if warnings else {})}
        logs = self._keep_log(job)
        self._delete(job)
        end = time.monotonic() + self.options["wait_timeout"]
        while True:
            try:
                left = self._get()
                if left is None:
                    return {"changed": True, "logs": logs}
                if left.uid != job.uid:
                    thing, _cause = self._object(left)
                    raise AnsibleActionFail(owner.recreated(thing, job.name, job.namespace, self.host))
                keeps = f"the job {job.name} is still there"
                fix = f"with {arena_status.left(left)}"
            except ArenaTrouble as error:
                keeps, fix = f"whether the job {job.name} is gone is not known", f"since {error}"
            if time.monotonic() >= end:
                raise AnsibleActionFail(
                    f"{self.host}: {keeps} {self.options['wait_timeout']} s after arena delete, {fix}"
                )
            time.sleep(self.options["poll"])

    def _running_work(self, job: arena_status.ArenaJob) -> list[str]:
        """Refuse to end what mpirun runs in the launcher. Return the warnings: in check mode the refusal is one."""
        message = self._work_refusal(job)
        if message and not self._task.check_mode:
            raise AnsibleActionFail(message)
        return [message] if message else []

    def _work_refusal(self, job: arena_status.ArenaJob) -> str | None:
        """Return why the job may not be deleted, None when nothing runs in its launcher, or when its launcher doesn't run."""
        found: arena_status.ArenaJob | None = job
        cause = ""
        for pause in (0, *arena_status.PAUSES):
            if pause:
                time.sleep(pause * self.options["poll"])
                found = self._get()
            running = [one.name for one in found.instances if one.status == "Running"] if found else []
            if found is None or found.launcher not in running:
                return None
            argv = arena_command.exec_argv(
                found.launcher, found.namespace, self.options["kubeconfig"], self.options["context"]
            )
            answer = self._command([*argv, "sh", "-c", mpijob_work.LIST])
            if answer.get("rc") == 0:
                work = mpijob_work.in_launcher(found.launcher, mpijob_work.started(answer.get("stdout", "")))
                if not work:
                    return None
                return mpijob_work.refusal(self.host, "the deletion", found.name, found.namespace, work, running)
            cause = one_line(answer.get("stderr") or answer.get("msg"))
        return arena_status.unchecked(self.host, found or job, cause)

    def _keep_log(self, job: arena_status.ArenaJob) -> dict[str, str]:
        if not self.options["logs_dir"] or not job.launcher:
            return {}
        answer = self._log(job)
        path = os.path.join(os.path.abspath(os.path.expanduser(self.options["logs_dir"])), f"{job.launcher}.log")
        text = answer.get("stdout", "") if answer["rc"] == 0 else self._lost_log(job, answer)
        store.write_text(path, text + "\n", store.OWNER_ONLY)
        return {job.launcher: path}

    def _lost_log(self, job: arena_status.ArenaJob, answer: dict[str, Any]) -> str:
        """Return why there is no log, or refuse to delete a job whose log can't be read."""
        said = one_line(_said(answer))
        if self.options["allow_lost_logs"] or arena_status.has_no_log(job, said):
            return f"There is no log: {said}"
        raise AnsibleActionFail(mpijob_logs.refusal(self.host, job.name, [f"{job.launcher}: {said}"]))
