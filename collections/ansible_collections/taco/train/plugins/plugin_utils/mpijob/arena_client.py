# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job of Arena: read, submit and delete it, by a function that runs commands where Arena is."""

import shlex
from typing import Any, Callable, Mapping

from ansible_collections.taco.train.plugins.module_utils.cluster import owner
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Clock
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.mpijob import arena_command, arena_status
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import Job

INSTALL = (
    "install it there (https://github.com/kubeflow/arena), set arena_job's option arena to its path, or submit the job "
    "natively (ack_submit: native)"
)


class ArenaError(Exception):
    """The job can't be submitted, read or deleted."""


class ArenaTrouble(ArenaError):
    """Arena could not report the state of the job; a later call may succeed."""


def said(answer: Mapping[str, Any]) -> str:
    """Return all that a command printed."""
    return f"{answer.get('stdout', '')}\n{answer.get('stderr', '')}".strip()


class Arena:
    """One job, with the options of the action arena_job."""

    def __init__(
        self,
        job: Job,
        options: Mapping[str, Any],
        host: str,
        command: Callable[[list[str]], dict[str, Any]],
        say: Callable[[str], Any],
    ) -> None:
        self.job, self.options, self.host, self.command, self.say = job, options, host, command, say
        self.clock = Clock()
        self.left_over = False
        """Whether Arena has a record of the job and there is no job."""

    def _arena(self, argv: list[str]) -> dict[str, Any]:
        """Run Arena and return its result; fail with how to install it where it is missing."""
        answer = self.command(argv)
        started = not answer.get("failed") or answer.get("msg") == "non-zero return code"
        if not started and answer.get("rc") is not None:
            raise ArenaError(f"{self.host}: there is no {argv[0]} that can be started: {INSTALL}.")
        if answer.get("rc") is None:
            raise ArenaTrouble(f"{self.host}: {shlex.join(argv)} could not be run: {answer.get('msg') or answer}")
        return answer

    def require_context(self) -> None:
        """Refuse a context that Arena would not take: it would submit to, or delete in, another cluster."""
        context, config = self.options["context"], self.options["kubeconfig"]
        if not context:
            return
        answer = self.command(arena_command.context_argv(config))
        found = (answer.get("stdout") or "").strip()
        if answer.get("rc") != 0 or not found:
            found = f"no answer ({one_line(answer.get('stderr') or answer.get('msg'))})"
        if found != context:
            raise ArenaError(arena_command.context_refusal(self.host, context, found, config))

    def verb(self, verb: str) -> dict[str, Any]:
        job = self.job
        return self._arena(
            arena_command.verb_argv(
                verb, job.spec.name, job.namespace, self.options["kubeconfig"], self.options["arena"]
            )
        )

    def get(self) -> arena_status.ArenaJob | None:
        """Return what Arena says of the job, None when there is none."""
        answer = self.verb("get")
        printed = said(answer)
        # Of a job that is not there.
        self.left_over = False
        if answer["rc"] != 0:
            if arena_status.is_absent(printed):
                self.left_over = arena_status.is_left_over(printed)
                return None
            raise ArenaTrouble(f"{self.host}: arena get {self.job.spec.name} failed: {printed}")
        try:
            return arena_status.read(answer.get("stdout", ""), self.job.spec.name)
        except MpijobError as error:
            raise ArenaTrouble(f"{self.host}: {error}") from None

    def require_none(self, found: arena_status.ArenaJob | None) -> None:
        if found is not None:
            self.require_ours(found, "replaced")
            raise ArenaError(
                f"{self.host}: there is a job {found.name} in {found.namespace} already ({found.phase}), and Arena can't change one: "
                "remove it with state absent, or give this one another name."
            )

    def submit(self, argv: list[str]) -> None:
        if self.left_over:
            self.delete(None)
        answer = self._arena(argv)
        if answer["rc"] != 0 and arena_status.is_left_over(said(answer)):
            # Another run may be about to submit it, so that its job is not there yet.
            self.clock.sleep(self.options["poll"])
            self.require_none(self.get())
            self.say(
                f"{self.host}: Arena keeps the record of a job {self.job.spec.name} that is not there: removing it"
            )
            self.delete(None)
            answer = self._arena(argv)
        if answer["rc"] != 0:
            raise ArenaError(f"{self.host}: arena submit {self.job.spec.name} failed: {said(answer)}")

    def delete(self, job: arena_status.ArenaJob | None) -> None:
        """Delete the job that was checked, or with None the record of one that is not there.

        arena delete knows names only, so what has the name now is read again just before it.
        """
        now = self.get()
        if now is not None and (job is None or now.uid != job.uid):
            thing, _cause = self.object(now)
            raise ArenaError(f"{self.host}: {owner.recreated(thing, now.name, now.namespace)}")
        if now is None and job is not None and not self.left_over:
            return
        if now is not None:
            self.require_ours(now, "deleted")
        answer = self.verb("delete")
        printed = said(answer)
        gone = arena_status.is_absent(printed) or arena_status.is_not_found(printed, self.job.spec.name)
        if answer["rc"] != 0 and not gone:
            raise ArenaError(f"{self.host}: arena delete {self.job.spec.name} failed: {printed}")

    def object(self, job: arena_status.ArenaJob) -> tuple[Mapping[str, Any] | None, str | None]:
        """The object of a job, and why it can't be read. Neither where the job is gone."""
        options, cause = self.options, ""
        argv = arena_command.object_argv(job.name, job.namespace, options["kubeconfig"], options["context"])
        for pause in (0, *arena_status.PAUSES):
            self.clock.sleep(pause * options["poll"])
            answer = self.command(argv)
            thing = arena_status.object_of(answer.get("stdout", ""))
            if answer.get("rc") == 0 and thing is not None:
                return thing, None
            cause = one_line(answer.get("stderr") or answer.get("stdout") or answer.get("msg"))
            if arena_status.is_not_found(cause, job.name):
                return None, None
        return None, cause or "kubectl printed no MPIJob"

    def require_ours(self, job: arena_status.ArenaJob, doing: str) -> None:
        """Refuse a job of another manager."""
        if self.options["any_manager"]:
            return
        thing, cause = self.object(job)
        if cause is not None:
            raise ArenaError(owner.unread(self.host, job.name, job.namespace, doing, cause))
        if thing is not None and not owner.is_ours(thing):
            raise ArenaError(f"{self.host}: {owner.refusal(thing, job.name, job.namespace, doing)}")

    def log(self, job: arena_status.ArenaJob) -> dict[str, Any]:
        """Return the answer to arena logs. Where the log can't be read, ask again: the answer may be lost for a moment only."""
        answer = self.verb("logs")
        for pause in arena_status.PAUSES:
            if answer["rc"] == 0 or arena_status.has_no_log(job, one_line(said(answer))):
                break
            self.clock.sleep(pause * self.options["poll"])
            answer = self.verb("logs")
        return answer
