# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lifecycle of a job of Arena: submit it and wait for it, or delete it with its log kept."""

import os
import shlex
from typing import Any

from ansible_collections.taco.train.plugins.module_utils.cluster import logs, owner, work
from ansible_collections.taco.train.plugins.module_utils.cluster.client import Request
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Deadline
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import FORBIDDEN, Trouble, one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.inventory import JobPods, hosts
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import sentence
from ansible_collections.taco.train.plugins.module_utils.cluster.names import worker_hosts
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection
from ansible_collections.taco.train.plugins.plugin_utils.mpijob import arena_command, arena_status
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.arena_client import (
    Arena,
    ArenaError,
    ArenaTrouble,
    said,
)
from ansible_collections.taco.train.plugins.plugin_utils.run import store


class Lifecycle:
    """Bring a job of Arena to a state."""

    def __init__(self, arena: Arena, reached: PodConnection, check_mode: bool) -> None:
        self.arena, self.reached, self.check_mode = arena, reached, check_mode
        self.placement: dict[str, str] = {}

    def present(self) -> dict[str, Any]:
        argv = arena_command.submit_argv(self.arena.job, self.arena.options["kubeconfig"], self.arena.options["arena"])
        self.arena.require_none(self.arena.get())
        if self.check_mode:
            return {"changed": True, "argv": argv, "skipped": False, "hosts": self._hosts()}
        self.arena.submit(argv)
        begun = self.arena.clock.now()
        job = self._wait()
        duration = self.arena.clock.now() - begun
        log = None if self.arena.options["until"] == "running" else self._log_of_ended(job)
        return {"changed": True, "argv": argv, "duration": duration, "stdout": log, **self._facts(job)}

    def absent(self) -> dict[str, Any]:
        """Keep the log of the launcher, delete the job, and wait until it is gone."""
        job = self.arena.get()
        if job is None:
            left_over = self.arena.left_over
            if left_over and not self.check_mode:
                self.arena.delete(None)
            return {"changed": left_over, "logs": {}}
        self.arena.require_ours(job, "deleted")
        warnings = [] if self.arena.options["interrupt_running_work"] else self._running_work(job)
        if self.check_mode:
            return {"changed": True, "logs": {}, **({"warnings": warnings} if warnings else {})}
        kept = self._keep_log(job)
        self.arena.delete(job)
        deadline = self._deadline()
        while True:
            try:
                left = self.arena.get()
                if left is None:
                    return {"changed": True, "logs": kept}
                if left.uid != job.uid:
                    thing, _cause = self.arena.object(left)
                    raise ArenaError(f"{self.arena.host}: {owner.recreated(thing, job.name, job.namespace)}")
                keeps = f"the job {job.name} is still there"
                fix = f"with {arena_status.left(left)}"
            except ArenaTrouble as error:
                keeps, fix = f"whether the job {job.name} is gone is not known", f"since {error}"
            if not deadline.left:
                raise ArenaError(
                    f"{self.arena.host}: {keeps} {self.arena.options['wait_timeout']} s after arena delete, {fix}"
                )
            deadline.sleep(self.arena.options["poll"])

    def _deadline(self) -> Deadline:
        return Deadline(self.arena.options["wait_timeout"], self.arena.clock, self.arena.say)

    def _wait(self) -> arena_status.ArenaJob:
        """Return the job once it is as far as wanted, or fail with what keeps it."""
        options, name, deadline = self.arena.options, self.arena.job.spec.name, self._deadline()
        while True:
            trouble = None
            try:
                job = self.arena.get()
            except ArenaTrouble as error:
                # The API server may be away for a moment, and a job of hours must not be given up for it.
                job, trouble = None, str(error)
            far = arena_status.progress(job, self.arena.job.workers) if job else None
            # The workers of a job that has ended are removed.
            self.placement.update(job.placement if job else {})
            if job and options["until"] != "running" and job.phase == arena_status.SUCCEEDED:
                return job
            if job and options["until"] == "ended" and job.phase in arena_status.ENDED:
                return job
            if job and far and far.usable and options["until"] == "running":
                return job
            if job and far and far.ended:
                raise ArenaError(f"{self.arena.host}: the job {name} is {job.phase}: {self._last_words(job)}")
            listed = f"{name} is {job.phase if job else 'not listed yet'}"
            waiting = trouble or ("; ".join(far.waiting) if far and far.waiting else listed)
            if not deadline.left:
                fix = arena_status.advice(job, trouble)
                raise ArenaError(
                    f"{self.arena.host}: the job {name} was not {options['until']} after {options['wait_timeout']} s: {waiting}. {fix}"
                )
            deadline.say(f"Waiting for {name}: {waiting}")
            deadline.sleep(options["poll"])

    def _facts(self, job: arena_status.ArenaJob) -> dict[str, Any]:
        wanted, options = self.arena.job, self.arena.options
        made = JobPods(job.name, job.namespace, "v1", wanted.workers, wanted.gpus_per_worker, job.launcher or "")
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

    def _hosts(self) -> list[dict[str, Any]]:
        # Arena's operator reaches workers by kubectl exec, as those of v1 do, so mpirun's hosts are named like theirs.
        return worker_hosts("v1", self.arena.job.spec.name, self.arena.job.workers, self.arena.job.gpus_per_worker)

    def _log_of_ended(self, job: arena_status.ArenaJob) -> str:
        """Return the log of a job that ended, which is the result of its command, or fail while the job still has it."""
        answer = self.arena.log(job)
        if answer["rc"] == 0:
            return str(answer.get("stdout", ""))
        read = arena_command.verb_argv(
            "logs", job.name, job.namespace, self.arena.options["kubeconfig"], self.arena.options["arena"]
        )
        raise ArenaError(
            f"{self.arena.host}: the job {job.name} is {job.phase}, and its log can't be read: {one_line(said(answer))}. The job was not "
            f"deleted: read its log with `{shlex.join(read)}`"
        )

    def _last_words(self, job: arena_status.ArenaJob) -> str:
        """Return the end of the log of the launcher, for a job that ended when it shouldn't have."""
        answer = self.arena.log(job)
        if answer["rc"] != 0:
            return f"its log can't be read: {one_line(said(answer))}"
        return arena_status.last_words(answer.get("stdout") or "") or "its launcher printed nothing; see arena logs"

    def _running_work(self, job: arena_status.ArenaJob) -> list[str]:
        """Refuse to end what mpirun runs in the launcher. Return the warnings: in check mode the refusal is one."""
        message = self._work_refusal(job)
        if message and not self.check_mode:
            raise ArenaError(message)
        return [message] if message else []

    def _work_refusal(self, job: arena_status.ArenaJob) -> str | None:
        """Return why the job may not be deleted, None when nothing runs in its launcher, or when its launcher doesn't run."""
        found: arena_status.ArenaJob | None = job
        cause = ""
        for pause in (0, *arena_status.PAUSES):
            if pause:
                self.arena.clock.sleep(pause * self.arena.options["poll"])
                found = self.arena.get()
            running = [one.name for one in found.instances if one.status == "Running"] if found else []
            if found is None or found.launcher not in running:
                return None
            argv = arena_command.exec_argv(
                found.launcher, found.namespace, self.arena.options["kubeconfig"], self.arena.options["context"]
            )
            answer = self.arena.command([*argv, "sh", "-c", work.LIST])
            if answer.get("rc") == 0:
                running_work = work.in_launcher(found.launcher, work.started(answer.get("stdout", "")))
                if not running_work:
                    return None
                refusal = work.refusal("the deletion", found.name, found.namespace, running_work, running)
                return f"{self.arena.host}: {refusal}"
            cause = one_line(answer.get("stderr") or answer.get("msg"))
        if "(Forbidden)" in cause:
            request = Request("create", "Pod", "v1", job.namespace, job.launcher, "exec")
            doing = f"run a command in the pod {job.launcher} of the namespace {job.namespace} to see whether work runs in it"
            raise ArenaError(f"{self.arena.host}: {sentence(doing, Trouble(FORBIDDEN, cause), request)}")
        return arena_status.unchecked(self.arena.host, found or job, cause)

    def _keep_log(self, job: arena_status.ArenaJob) -> dict[str, str]:
        if not self.arena.options["logs_dir"] or not job.launcher:
            return {}
        answer = self.arena.log(job)
        path = os.path.join(store.absolute(self.arena.options["logs_dir"]), f"{job.launcher}.log")
        text = answer.get("stdout", "") if answer["rc"] == 0 else self._lost_log(job, answer)
        store.write_text(path, text + "\n", store.OWNER_ONLY)
        return {job.launcher: path}

    def _lost_log(self, job: arena_status.ArenaJob, answer: dict[str, Any]) -> str:
        """Return why there is no log, or refuse to delete a job whose log can't be read."""
        cause = one_line(said(answer))
        if self.arena.options["allow_lost_logs"] or arena_status.has_no_log(job, cause):
            return f"There is no log: {cause}"
        raise ArenaError(f"{self.arena.host}: " + logs.refusal(job.name, [f"{job.launcher}: {cause}"]))
