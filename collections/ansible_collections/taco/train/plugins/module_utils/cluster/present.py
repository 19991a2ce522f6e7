# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Create, replace or delete an MPIJob, wait for it, and say what was done. The requests are made by client."""

from typing import Any, Dict, List, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils.cluster import owner
from ansible_collections.taco.train.plugins.module_utils.cluster.capacity import capacity
from ansible_collections.taco.train.plugins.module_utils.cluster.client import KubernetesError, Resource
from ansible_collections.taco.train.plugins.module_utils.cluster.definition import Definition
from ansible_collections.taco.train.plugins.module_utils.cluster.diff import Step, differences, patch, step
from ansible_collections.taco.train.plugins.module_utils.cluster.events import keys
from ansible_collections.taco.train.plugins.module_utils.cluster.inventory import JobPods
from ansible_collections.taco.train.plugins.module_utils.cluster.jobs import JobError, JobOptions, Jobs, JobSnapshot
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import name_of
from ansible_collections.taco.train.plugins.module_utils.cluster.wait import Vanish, Wait
from ansible_collections.taco.train.plugins.module_utils.cluster.work import require_idle


def remove(jobs: Jobs, job: Resource, options: JobOptions) -> Dict[str, str]:
    """Delete a job, wait until nothing of it is left, and return the files with the logs of its pods."""
    kept = jobs.keep_logs(jobs.pods(), options.logs_dir, options.allow_lost_logs)
    jobs.cluster.delete(job)
    vanish(jobs, options, owner.uid_of(job))
    return kept


def vanish(jobs: Jobs, options: JobOptions, uid: Optional[str]) -> None:
    """Wait until a job that is being deleted and its pods are gone, or raise what is still there.

    uid is that of the job, None where only pods are left. A job with another uid is not waited for.
    """
    clock = jobs.cluster.clock
    waiting = Vanish(jobs.name, options.wait_timeout, clock.now())
    looked = None
    while True:
        try:
            if looked is not None:
                jobs.wait_for_change(looked, waiting.due(clock.now()), options.poll)
            looked = jobs.look()
        except KubernetesError as error:
            raise JobError(f"{error}. {jobs.left([])}") from error
        if looked.job is not None and owner.uid_of(looked.job) != uid:
            raise JobError(owner.recreated(looked.job, jobs.name, jobs.namespace))
        lines, failure, gone = waiting.look(clock.now(), looked.job, looked.pods)
        for line in lines:
            jobs.cluster.say(line)
        if gone:
            return
        if failure:
            names = " ".join(name_of(pod) for pod in looked.pods)
            force = (
                f". Where a node is lost for good, run `kubectl delete pod {names} --namespace {jobs.namespace} --force`"
                if names
                else ""
            )
            raise JobError(f"the MPIJob {jobs.name} can't be removed: {failure}{force}")


# Events are not read any more often: a namespace may have thousands.
EVENTS_SECONDS = 10.0


class Outcome:
    """What was done, or would be in check mode."""

    def __init__(self, version: str = "", before: Optional[Resource] = None, after: Optional[Resource] = None) -> None:
        self.version, self.before, self.after = version, before, after
        self.done: List[str] = []
        """A sentence for each change; none when nothing is changed."""
        self.pods: List[Resource] = []
        self.made: Optional[JobPods] = None
        """None when there is no job that a benchmark could run in."""
        self.logs: Dict[str, str] = {}


def present(jobs: Jobs, job: Definition, options: JobOptions) -> Outcome:
    """Return what was done to have the job run and its pods ready, or raise why they aren't."""
    version = jobs.choose_version(options.api_version)
    wanted = job.in_version(version, jobs.name, jobs.namespace)
    found = jobs.find()
    if found is not None and found["metadata"].get("deletionTimestamp"):
        if not options.check_mode:
            vanish(jobs, options, owner.uid_of(found))
        found = None
    _require_ours(jobs, found, options, "used or replaced")
    outcome = Outcome(version, found, wanted)
    todo = step(found, wanted)
    if todo.replace and not options.replace and (found is None or owner.is_ours(found)):
        raise JobError(_refusal(jobs, todo))
    if todo.create:
        _require_capacity(jobs, job)
    if todo.replace:
        require_idle(jobs, options, "the replacement")
    outcome.done = [f"{word} the MPIJob {jobs.name}{why}" for word, why in todo.words()]
    if options.check_mode:
        looked = None if todo.create or found is None else _use(jobs, job, outcome, jobs.look())
        return outcome if looked is None else looked
    if todo.replace and found is not None:
        outcome.logs = remove(jobs, found, options)
    uid = (found or {}).get("metadata", {}).get("uid")
    if todo.create:
        uid = _create(jobs, wanted)["metadata"].get("uid")
    elif todo.loose:
        jobs.cluster.change(patch(wanted, todo.loose))
    return _use(jobs, job, outcome, wait(jobs, job, options, uid, todo.create))


def absent(jobs: Jobs, options: JobOptions) -> Outcome:
    """Return what was done to have the job gone, or raise what is left of it."""
    outcome = Outcome()
    if not jobs.find_version():
        if jobs.served:
            jobs.warn(
                f"whether there is an MPIJob {jobs.name} in the namespace {jobs.namespace} was not checked: the "
                f"cluster serves MPIJobs in {', '.join(jobs.served)} only. `arena delete {jobs.name} --type mpijob` removes one of Arena's"
            )
        return outcome
    looked = jobs.look()
    outcome.version, outcome.before, outcome.pods = jobs.version, looked.job, looked.pods
    if looked.job is None and not looked.pods:
        return outcome
    _require_ours(jobs, looked.job, options, "deleted")
    require_idle(jobs, options, "the deletion")
    outcome.done = [f"deleted the MPIJob {jobs.name}"]
    if options.check_mode:
        return outcome
    if looked.job is not None:
        outcome.logs = remove(jobs, looked.job, options)
    else:
        vanish(jobs, options, None)
    return outcome


def _require_ours(jobs: Jobs, job: Optional[Resource], options: JobOptions, doing: str) -> None:
    """Refuse a job of another manager, also one that doesn't differ: the other manager may change or delete it at any time."""
    if job is not None and not options.any_manager and not owner.is_ours(job):
        raise JobError(owner.refusal(job, jobs.name, jobs.namespace, doing))


def _refusal(jobs: Jobs, todo: Step) -> str:
    return (
        f"the MPIJob {jobs.name} in the namespace {jobs.namespace} is not the one that is asked for, and can't be "
        f"made it: {'; '.join(todo.reasons)}. Set mpijob_replace: true to have it deleted, after the logs of its pods were kept, and "
        "made anew, or mpijob_name to another name"
    )


def _require_capacity(jobs: Jobs, job: Definition) -> None:
    """Refuse a job that the nodes could never hold, before anything is created."""
    nodes = jobs.nodes()
    if nodes is None:
        return
    could = capacity(list(nodes), job.limits, job.workers)
    if could.problem:
        raise JobError(f"the MPIJob {jobs.name} is not submitted: {'; '.join([could.problem, *could.shortfalls])}")


def _create(jobs: Jobs, wanted: Mapping[str, Any]) -> Resource:
    try:
        made = jobs.cluster.create(wanted)
    except KubernetesError as error:
        raise JobError(f"{error}. {_left_after(jobs, error)}") from error
    meanwhile = "Another client has created it meanwhile"
    if not owner.is_ours(made):
        raise JobError(f"{owner.refusal(made, jobs.name, jobs.namespace, 'used')}. {meanwhile}")
    others = [difference for difference in differences(made, wanted) if not difference.loose]
    if others:
        raise JobError(f"{_refusal(jobs, Step(True, list(map(str, others)), []))}. {meanwhile}")
    return made


def _left_after(jobs: Jobs, error: KubernetesError) -> str:
    """Say what a creation that failed may have left. A lost answer followed by a lost way leaves the question open."""
    cause = error.trouble
    try:
        refused = not cause.passes or (cause.code is not None and jobs.find() is None)
    except KubernetesError:
        refused = False
    return "Nothing was created" if refused else jobs.left([], unknown=True)


def wait(jobs: Jobs, job: Definition, options: JobOptions, uid: Optional[str], created: bool) -> JobSnapshot:
    """Return what there is of the job once all of its pods are ready, or raise why they never will be."""
    clock = jobs.cluster.clock
    waiting = Wait(jobs.name, job.workers, options.wait_timeout, clock.now())
    waiting.uid = uid
    looked, events, events_at = JobSnapshot(None, []), [], clock.now()
    held: Dict[str, str] = {}
    try:
        while True:
            looked = jobs.look()
            if clock.now() - events_at >= EVENTS_SECONDS:
                events, events_at = jobs.events(), clock.now()
                held = held or jobs.held(looked.pods)
            verdict = waiting.look(clock.now(), looked.job, looked.pods, events, held)
            lines = verdict.lines
            if verdict.failure and looked.job is not None:
                # The newest events may have the reason, also one that is worth waiting on.
                events, held = jobs.events(), jobs.held(looked.pods)
                verdict = waiting.look(clock.now(), looked.job, looked.pods, events, held)
                lines = lines + verdict.lines
            for line in lines:
                jobs.cluster.say(line)
            if verdict.usable:
                return looked
            if verdict.failure:
                why = "; ".join([verdict.failure, *jobs.printed(looked.pods)])
                raise JobError(f"the MPIJob {jobs.name} is not usable: {why}. {_left(jobs, looked)}")
            if not created and waiting.known is None:
                # What kept the pods of a job that was there before from being created may be repaired.
                events = jobs.events()
                waiting.known = keys(events)
            jobs.wait_for_change(looked, waiting.due(clock.now()), options.poll)
    except KubernetesError as error:
        raise JobError(f"{error}. {_left(jobs, looked, True)}") from error


def _left(jobs: Jobs, looked: JobSnapshot, unknown: bool = False) -> str:
    if looked.job is None and not looked.pods and not unknown:
        return f"Nothing of it is left in the namespace {jobs.namespace}"
    return jobs.left(looked.pods, unknown=looked.job is None)


def _use(jobs: Jobs, job: Definition, outcome: Outcome, looked: JobSnapshot) -> Outcome:
    """Return the outcome with the pods, if a benchmark could run in them."""
    state = Wait(jobs.name, job.workers, 0, 0).look(0, looked.job, looked.pods, [])
    if state.usable and state.progress is not None and state.progress.launcher:
        outcome.pods = looked.pods
        outcome.made = JobPods(
            jobs.name, jobs.namespace, outcome.version, job.workers, job.slots, state.progress.launcher
        )
    return outcome
