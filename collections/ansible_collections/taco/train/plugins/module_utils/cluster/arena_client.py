# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job of Arena: read, submit and delete it with Arena, and with kubectl where Arena has no verb."""

import shlex
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Tuple, TypeVar

from ansible_collections.taco.train.plugins.module_utils.cluster import arena_command, arena_status, owner
from ansible_collections.taco.train.plugins.module_utils.cluster.arena_command import kubectl
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Clock, ProgressLines
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.names import CRD
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError

INSTALL = (
    "install it there (https://github.com/kubeflow/arena), set arena_job's option arena to its path, or submit the job "
    "natively (ack_submit: native)"
)
# Pauses between the tries of a command, in units of poll. With the default of 2 seconds they take about a minute.
PAUSES = (1, 2, 4, 8, 10)
T = TypeVar("T")


class ArenaError(Exception):
    """The job can't be submitted, read or deleted."""


class ArenaTrouble(ArenaError):
    """Arena could not report the state of the job; a later call may succeed."""


class Answer(NamedTuple):
    """The end of a command. Without a status it could not be started."""

    rc: Optional[int]
    stdout: str
    stderr: str

    @property
    def printed(self) -> str:
        return f"{self.stdout}\n{self.stderr}".strip()

    @property
    def cause(self) -> str:
        """Why a command failed, as one line."""
        return one_line(self.stderr.strip() or self.stdout)


class Arena:
    """One job, with the options of the module arena_job."""

    def __init__(
        self,
        options: Mapping[str, Any],
        run: Callable[[List[str]], Tuple[int, str, str]],
        progress: ProgressLines,
    ) -> None:
        self.options, self.run, self.progress = options, run, progress
        self.name: str = options["name"]
        self.clock = Clock()
        self.left_over = False
        """Whether Arena has a record of the job and there is no job."""

    def command(self, argv: List[str]) -> Answer:
        try:
            return Answer(*self.run(argv))
        except OSError as error:
            return Answer(None, "", f"{argv[0]}: {error.strerror}")

    def patiently(self, ask: Callable[[], Tuple[T, bool]]) -> T:
        """Return the first answer that is settled, or the last one: it may be lost for a moment only."""
        answer, settled = ask()
        for pause in PAUSES:
            if settled:
                break
            self.clock.sleep(pause * self.options["poll"])
            answer, settled = ask()
        return answer

    def _arena(self, argv: List[str]) -> Answer:
        answer = self.command(argv)
        if answer.rc is None:
            raise ArenaError(f"there is no {argv[0]} that can be started: {INSTALL}")
        return answer

    def argv(self, verb: str) -> List[str]:
        options = self.options
        return arena_command.verb_argv(verb, self.name, options["namespace"], options["kubeconfig"], options["arena"])

    def require_context(self) -> None:
        """Refuse a context that Arena would not take: it would submit to, or delete in, another cluster."""
        if not self.options["context"]:
            return
        answer = self.command(kubectl({"kubeconfig": self.options["kubeconfig"]}, "config", "current-context"))
        found = answer.stdout.strip()
        if answer.rc != 0 or not found:
            found = f"no answer ({answer.cause})"
        if found != self.options["context"]:
            raise ArenaError(arena_command.context_refusal(self.options, found))

    def get(self) -> Optional[arena_status.ArenaJob]:
        """Return the job, None when there is none."""
        answer = self._arena(self.argv("get"))
        self.left_over = False
        if answer.rc != 0:
            if arena_status.is_absent(answer.printed):
                self.left_over = arena_status.is_left_over(answer.printed)
                return None
            raise ArenaTrouble(f"arena get {self.name} failed: {answer.printed}")
        try:
            return arena_status.read(answer.stdout, self.name)
        except MpijobError as error:
            raise ArenaTrouble(str(error)) from None

    def require_none(self, found: Optional[arena_status.ArenaJob]) -> None:
        if found is not None:
            self.require_ours(found, "replaced")
            raise ArenaError(
                f"there is a job {found.name} in {found.namespace} already ({found.phase}), and Arena can't change one: remove it with "
                "state absent, or give this one another name"
            )

    def submit(self, argv: List[str]) -> None:
        if self.left_over:
            self.delete(None)
        answer = self._arena(argv)
        if answer.rc != 0 and arena_status.is_left_over(answer.printed):
            # Another run may be about to submit it, so that its job is not there yet.
            self.clock.sleep(self.options["poll"])
            self.require_none(self.get())
            self.progress.say(f"Arena keeps the record of a job {self.name} that is not there: removing it")
            self.delete(None)
            answer = self._arena(argv)
        if answer.rc != 0:
            raise ArenaError(f"arena submit {self.name} failed: {answer.printed}")

    def delete(self, job: Optional[arena_status.ArenaJob]) -> None:
        """Delete the job that was checked, or with None the record of one that is not there.

        arena delete knows names only, so what has the name now is read again just before it.
        """
        now = self.get()
        if now is not None:
            self.require_same(now, job)
            self.require_ours(now, "deleted")
        elif job is not None and not self.left_over:
            return
        answer = self._arena(self.argv("delete"))
        gone = arena_status.is_absent(answer.printed) or arena_status.is_not_found(answer.printed, self.name)
        if answer.rc != 0 and not gone:
            raise ArenaError(f"arena delete {self.name} failed: {answer.printed}")

    def kubectl(self, job: arena_status.ArenaJob, *arguments: str) -> Answer:
        return self.command(kubectl({**self.options, "namespace": job.namespace}, *arguments))

    def require_same(self, now: arena_status.ArenaJob, job: Optional[arena_status.ArenaJob]) -> None:
        """Refuse a job that another client has created since."""
        if job is None or now.uid != job.uid:
            thing, _cause = self.object(now)
            raise ArenaError(owner.recreated(thing, now.name, now.namespace))

    def object(self, job: arena_status.ArenaJob) -> Tuple[Optional[Mapping[str, Any]], Optional[str]]:
        """The object of a job with its labels, which Arena doesn't print, and why it can't be read. Neither where the job is gone."""

        def ask() -> Tuple[Tuple[Optional[Mapping[str, Any]], Optional[str]], bool]:
            answer = self.kubectl(job, "get", CRD, job.name, "--output=json")
            things = [thing for thing in arena_status.objects_of(answer.stdout) if thing.get("kind") == "MPIJob"]
            if answer.rc == 0 and things:
                return (things[0], None), True
            if arena_status.is_not_found(answer.cause, job.name):
                return (None, None), True
            return (None, answer.cause or "kubectl printed no MPIJob"), False

        return self.patiently(ask)

    def require_ours(self, job: arena_status.ArenaJob, doing: str) -> None:
        """Refuse a job of another manager."""
        if self.options["any_manager"]:
            return
        thing, cause = self.object(job)
        if cause is not None:
            raise ArenaError(owner.unread(job.name, job.namespace, doing, cause))
        if thing is not None and not owner.is_ours(thing):
            raise ArenaError(owner.refusal(thing, job.name, job.namespace, doing))

    def log(self, job: arena_status.ArenaJob) -> Answer:
        """Return the answer to arena logs."""

        def ask() -> Tuple[Answer, bool]:
            answer = self._arena(self.argv("logs"))
            return answer, answer.rc == 0 or arena_status.has_no_log(job, one_line(answer.printed))

        return self.patiently(ask)

    def command_of(self, verb: str) -> str:
        """Return a command of Arena for people."""
        return " ".join(map(shlex.quote, self.argv(verb)))
