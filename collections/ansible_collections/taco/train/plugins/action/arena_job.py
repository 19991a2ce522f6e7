# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Submit a job through Arena, wait for it, and take it down with its logs kept; ansible.builtin.command runs Arena."""

from __future__ import annotations

import os
import shlex
import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils import (
    arena_command,
    arena_status,
    mpijob_logs,
    mpijob_work,
    records,
)
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes_action import pods_reached
from ansible_collections.taco.train.plugins.plugin_utils.mpijob_hosts import Made, hosts
from ansible_collections.taco.train.plugins.plugin_utils.mpijob_job import Job, job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob_names import MpijobError, worker_hosts
from ansible_collections.taco.train.plugins.plugin_utils.training_spec import SpecError

ARGUMENT_SPEC = {
    "job": {"type": "dict", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "until": {"type": "str", "choices": ["running", "succeeded", "ended"], "default": "running"},
    "wait_timeout": {"type": "int", "default": 600},
    "interrupt_running_work": {"type": "bool", "default": False},
    "allow_lost_logs": {"type": "bool", "default": False},
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
            result.update(self._present() if self.options["state"] == "present" else self._absent())
        except (MpijobError, SpecError) as error:
            raise AnsibleActionFail(f"The job can't be submitted through Arena: {error}.") from None
        except records.RecordError as error:
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
            raise AnsibleActionFail(f"There is no {argv[0]} on {self.host} that can be started: {INSTALL}.")
        if answer.get("rc") is None:
            raise AnsibleActionFail(
                f"{shlex.join(argv)} could not be run on {self.host}: {answer.get('msg') or answer}"
            )
        return answer

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
        said = f"{answer.get('stdout', '')}\n{answer.get('stderr', '')}"
        if answer["rc"] != 0:
            if arena_status.is_absent(said):
                return None
            raise ArenaTrouble(f"arena get {self.job.spec.name} failed on {self.host}: {said.strip()}")
        return arena_status.read(answer.get("stdout", ""), self.job.spec.name)

    def _present(self) -> dict[str, Any]:
        argv = arena_command.submit_argv(self.job, self.options["kubeconfig"], self.options["arena"])
        found = self._get()
        if found is not None:
            raise AnsibleActionFail(
                f"There is a job {found.name} in {found.namespace} already ({found.phase}), and Arena can't change one: remove it with "
                "state absent, or give this one another name."
            )
        if self._task.check_mode:
            return {"changed": True, "argv": argv, "skipped": False, "hosts": self._hosts()}
        answer = self._arena(argv)
        if answer["rc"] != 0:
            said = (answer.get("stderr") or answer.get("stdout") or "").strip()
            raise AnsibleActionFail(f"arena submit {self.job.spec.name} failed on {self.host}: {said}")
        begun = time.monotonic()
        job = self._wait()
        duration = time.monotonic() - begun
        log = None if self.options["until"] == "running" else self._verb("logs").get("stdout", "")
        return {"changed": True, "argv": argv, "duration": duration, "stdout": log, **self._facts(job)}

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
                raise AnsibleActionFail(f"The job {name} is {job.phase}: {self._last_words()}")
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

    def _last_words(self) -> str:
        """Return the end of the log of the launcher, for a job that ended when it shouldn't have."""
        lines = (self._verb("logs").get("stdout") or "").strip().splitlines()
        return " ".join(lines[-3:])[-400:] or "its launcher printed nothing; see arena logs"

    def _absent(self) -> dict[str, Any]:
        """Keep the log of the launcher, delete the job, and wait until it is gone."""
        job = self._get()
        if job is None:
            return {"changed": False, "logs": {}}
        warnings = [] if self.options["interrupt_running_work"] else self._running_work(job)
        if self._task.check_mode:
            return {"changed": True, "logs": {}, **({"warnings": warnings} if warnings else {})}
        logs = self._keep_log(job)
        answer = self._verb("delete")
        said = f"{answer.get('stdout', '')}\n{answer.get('stderr', '')}".strip()
        if answer["rc"] != 0 and not arena_status.is_absent(said):
            raise AnsibleActionFail(f"arena delete {job.name} failed on {self.host}: {said}")
        end = time.monotonic() + self.options["wait_timeout"]
        while True:
            left = self._get()
            if left is None:
                return {"changed": True, "logs": logs, **({"warnings": warnings} if warnings else {})}
            if time.monotonic() >= end:
                raise AnsibleActionFail(
                    f"{self.host}: the job {job.name} is still there {self.options['wait_timeout']} s after arena delete, with "
                    f"{arena_status.left(left)}"
                )
            time.sleep(self.options["poll"])

    def _running_work(self, job: arena_status.ArenaJob) -> list[str]:
        """Refuse to end what mpirun runs in the launcher. Return the warnings: in check mode the refusal is one."""
        running = [one.name for one in job.instances if one.status == "Running"]
        if job.launcher not in running:
            return []
        options = self.options
        argv = arena_command.exec_argv(job.launcher, job.namespace, options["kubeconfig"], options["context"])
        answer = self._command([*argv, "sh", "-c", mpijob_work.LIST])
        if answer.get("rc") != 0:
            cause = str(answer.get("stderr") or answer.get("msg")).strip()
            return [f"{self.host}: whether mpirun runs in the launcher pod {job.launcher} was not checked: {cause}"]
        work = mpijob_work.in_launcher(job.launcher, mpijob_work.started(answer.get("stdout", "")))
        if not work:
            return []
        message = mpijob_work.refusal(self.host, "the deletion", job.name, job.namespace, work, running)
        if not self._task.check_mode:
            raise AnsibleActionFail(message)
        return [message]

    def _keep_log(self, job: arena_status.ArenaJob) -> dict[str, str]:
        if not self.options["logs_dir"] or not job.launcher:
            return {}
        answer = self._verb("logs")
        path = os.path.join(os.path.abspath(os.path.expanduser(self.options["logs_dir"])), f"{job.launcher}.log")
        text = answer.get("stdout", "") if answer["rc"] == 0 else self._lost_log(job, answer)
        records.write_text(path, text + "\n", records.OWNER_ONLY)
        return {job.launcher: path}

    def _lost_log(self, job: arena_status.ArenaJob, answer: dict[str, Any]) -> str:
        """Return why there is no log, or refuse to delete a job whose log can't be read."""
        said = " ".join(str(answer.get("stderr") or answer.get("stdout") or answer.get("msg")).split())
        if self.options["allow_lost_logs"] or arena_status.has_no_log(job, said):
            return f"There is no log: {said}"
        raise AnsibleActionFail(mpijob_logs.refusal(self.host, job.name, [f"{job.launcher}: {said}"]))
