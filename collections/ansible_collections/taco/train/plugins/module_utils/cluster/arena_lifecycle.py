# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lifecycle of a job of Arena: submit it and wait for it, or delete it with its log kept."""

import os
from typing import Any, Dict, List, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.idle import VARIABLE
from ansible_collections.taco.train.plugins.module_utils.cluster import arena_status, logs, work
from ansible_collections.taco.train.plugins.module_utils.cluster.arena_client import (
    Answer,
    Arena,
    ArenaError,
    ArenaTrouble,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.arena_command import CONTAINER, submit_argv
from ansible_collections.taco.train.plugins.module_utils.cluster.client import Request
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Deadline
from ansible_collections.taco.train.plugins.module_utils.cluster.definition import Definition
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import FORBIDDEN, Trouble, one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.inventory import JobPods, hosts
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import sentence
from ansible_collections.taco.train.plugins.module_utils.cluster.names import worker_hosts
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection

ArenaJob = arena_status.ArenaJob


def present(arena: Arena, definition: Definition, reached: PodConnection, check_mode: bool) -> Dict[str, Any]:
    """Submit the job and return it once it is as far as wanted."""
    options = arena.options
    argv = submit_argv(definition, arena.name, options["namespace"], options["kubeconfig"], options["arena"])
    # Arena's operator reaches workers by kubectl exec, as those of v1 do, so mpirun's hosts are named like theirs.
    named = worker_hosts("v1", arena.name, definition.workers, definition.slots)
    result: Dict[str, Any] = {"changed": True, "argv": argv, "hosts": named, "pods": [], "logs": {}}
    arena.require_none(arena.get())
    if check_mode:
        return {**result, "msg": f"Check mode, nothing was submitted: would have submitted {arena.name} through Arena."}
    arena.submit(argv)
    begun = arena.clock.now()
    job, placement = _wait(arena, definition.workers)
    result["duration"] = arena.clock.now() - begun
    result["stdout"] = None if options["until"] == "running" else _log_of_ended(arena, job)
    made = JobPods(job.name, job.namespace, "v1", definition.workers, definition.slots, job.launcher or "")
    pods = arena_status.pods(job, CONTAINER) if job.phase == arena_status.RUNNING else []
    return {
        **result,
        "msg": f"Arena has submitted {job.name}, which is {job.phase} in the namespace {job.namespace}.",
        "phase": job.phase,
        "namespace": job.namespace,
        "launcher": {"pod": job.launcher},
        "workers": [{"pod": one.name, "node": one.node} for one in job.instances if not one.chief],
        "placement": placement,
        "container": CONTAINER,
        "pods": hosts(pods, made, reached, {}, options["pod_variables"]),
    }


def absent(arena: Arena, check_mode: bool) -> Tuple[Dict[str, Any], List[str]]:
    """Keep the log of the launcher, delete the job, and wait until it and its pods are gone. Return the warnings too."""
    job = arena.get()
    changed = job is not None or arena.left_over
    kept: Dict[str, str] = {}
    warnings: List[str] = []
    if job is not None:
        arena.require_ours(job, "deleted")
        refusal = None if arena.options["interrupt_running_work"] else _work_refusal(arena, job)
        if refusal and not check_mode:
            raise ArenaError(refusal)
        warnings = [refusal] if refusal else []
    if not check_mode:
        kept = _keep_log(arena, job) if job is not None else {}
        if changed:
            arena.delete(job)
        _wait_until_gone(arena, job)
    gone = f"The job {arena.name} is gone"
    done = f"Check mode: would have deleted the job {arena.name}" if check_mode and changed else gone
    return {"changed": changed, "logs": kept, "pods": [], "msg": f"{done}."}, warnings


def _wait_until_gone(arena: Arena, job: Optional[ArenaJob]) -> None:
    deadline = Deadline(arena.options["wait_timeout"], arena.clock, arena.progress.say)
    while True:
        still, fix = _remains(arena, job)
        if not still:
            return
        if not deadline.left:
            since = "after arena delete" if job is not None else "later"
            raise ArenaError(f"{still} {arena.options['wait_timeout']} s {since}, {fix}")
        deadline.say(f"Waiting until {arena.name} is gone: {still}")
        deadline.sleep(arena.options["poll"])


def _remains(arena: Arena, job: Optional[ArenaJob]) -> Tuple[str, str]:
    """Return what is still there of a job that was deleted, and what to check; empty texts when nothing is."""
    try:
        now = arena.get() if job is not None else None
    except ArenaTrouble as error:
        return f"whether the job {arena.name} is gone is not known", f"since {error}"
    if now is not None:
        arena.require_same(now, job)
        return f"the job {arena.name} is still there", f"with {arena_status.left(now)}"
    # Arena lists a job no more before its pods have left, and until then they have the GPUs.
    answer = arena.kubectl(job or ArenaJob(arena.name, arena.options["namespace"] or "", "", ()), *_pods_of(arena.name))
    names = answer.stdout.split()
    if answer.rc is None:
        raise ArenaError(
            f"whether the pods of the job {arena.name} are gone can't be seen without kubectl: {answer.cause}"
        )
    if answer.rc != 0:
        return f"whether the pods of the job {arena.name} are gone is not known", f"since {answer.cause}"
    check = "check that its nodes answer (kubectl get pods --output=wide)"
    return (f"pods of the job {arena.name} are still there", f"with {len(names)} pods: {check}") if names else ("", "")


def _pods_of(name: str) -> Tuple[str, ...]:
    return ("get", "pods", f"--selector=release={name}", "--output=name")


def _wait(arena: Arena, workers: int) -> Tuple[ArenaJob, Dict[str, str]]:
    """Return the job once it is as far as wanted with the nodes of its workers, or fail with what keeps it."""
    options, name = arena.options, arena.name
    deadline = Deadline(options["wait_timeout"], arena.clock, arena.progress.say)
    # The workers of a job that has ended are removed.
    placement: Dict[str, str] = {}
    while True:
        job, trouble, missing = None, None, [f"{name} is not listed yet"]
        try:
            job = arena.get()
        except ArenaTrouble as error:
            # The API server may be away for a moment, and a job of hours must not be given up for it.
            trouble = str(error)
        if job is not None:
            placement.update(job.placement)
            missing = arena_status.missing(job, workers)
            if _is_there(job, missing, options["until"]):
                return job, placement
            if job.phase in arena_status.ENDED:
                raise ArenaError(f"the job {name} is {job.phase}: {_last_words(arena, job)}")
        waiting = trouble or "; ".join(missing) or f"{name} is {job.phase if job else 'not listed yet'}"
        if not deadline.left:
            raise ArenaError(
                f"the job {name} was not {options['until']} after {options['wait_timeout']} s: {waiting}. "
                f"{arena_status.advice(job, trouble)}"
            )
        deadline.say(f"Waiting for {name}: {waiting}")
        deadline.sleep(options["poll"])


def _is_there(job: ArenaJob, missing: List[str], until: str) -> bool:
    if until == "running":
        return job.phase == arena_status.RUNNING and not missing
    return job.phase == arena_status.SUCCEEDED or (until == "ended" and job.phase in arena_status.ENDED)


def _log_of_ended(arena: Arena, job: ArenaJob) -> str:
    """Return the log of a job that ended, which is the result of its command, or fail while the job still has it."""
    answer = arena.log(job)
    if answer.rc == 0:
        return answer.stdout.rstrip("\n")
    raise ArenaError(
        f"the job {job.name} is {job.phase}, and its log can't be read: {one_line(answer.printed)}. The job was not deleted: read its "
        f"log with `{arena.command_of('logs')}`"
    )


def _last_words(arena: Arena, job: ArenaJob) -> str:
    """Return the end of the log of the launcher, for a job that ended when it shouldn't have."""
    answer = arena.log(job)
    if answer.rc != 0:
        return f"its log can't be read: {one_line(answer.printed)}"
    return arena_status.last_words(answer.stdout) or "its launcher printed nothing; see arena logs"


def _work_refusal(arena: Arena, job: ArenaJob) -> Optional[str]:
    """Return why the job may not be deleted, None when nothing runs in its launcher, or when its launcher doesn't run."""
    found, answer = arena.patiently(lambda: _processes(arena))
    if found is None or answer is None:
        return None
    launcher = str(found.launcher)
    if answer.rc == 0:
        running = work.in_launcher(launcher, work.started(answer.stdout))
        return work.refusal("the deletion", found.name, found.namespace, running, found.running) if running else None
    if "(Forbidden)" in answer.cause:
        request = Request("create", "Pod", "v1", job.namespace, launcher, "exec")
        doing = f"run a command in the pod {launcher} of the namespace {job.namespace} to see whether work runs in it"
        raise ArenaError(sentence(doing, Trouble(FORBIDDEN, answer.cause), request))
    return (
        f"the MPIJob {found.name} in the namespace {found.namespace} is not deleted, since whether mpirun runs in its launcher pod "
        f"{launcher} was not checked: {answer.cause}. Run it again when `kubectl exec` reaches the pod from this host, or set "
        f"{VARIABLE}: true to delete the job with what runs in it"
    )


def _processes(arena: Arena) -> Tuple[Tuple[Optional[ArenaJob], Optional[Answer]], bool]:
    """Return the job with the processes in its launcher, as far as it runs, and whether this is settled."""
    found = arena.get()
    if found is None or found.launcher not in found.running:
        return (found, None), True
    answer = arena.kubectl(found, "exec", str(found.launcher), f"--container={CONTAINER}", "--", "sh", "-c", work.LIST)
    return (found, answer), answer.rc == 0


def _keep_log(arena: Arena, job: ArenaJob) -> Dict[str, str]:
    if not arena.options["logs_dir"] or not job.launcher:
        return {}
    answer = arena.log(job)
    text = answer.stdout
    if answer.rc != 0:
        cause = one_line(answer.printed)
        if not arena.options["allow_lost_logs"] and not arena_status.has_no_log(job, cause):
            raise ArenaError(logs.refusal(job.name, [f"{job.launcher}: {cause}"]))
        text = f"There is no log: {cause}\n"
    path = os.path.join(arena.options["logs_dir"], f"{job.launcher}.log")
    logs.write(path, text)
    return {job.launcher: path}
