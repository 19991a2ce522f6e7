# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The running work of an MPIJob, which its deletion would end: a launcher that runs its command, or mpirun in one that waits."""

import os.path
from typing import Any, List, Mapping

from ansible_collections.taco.train.plugins.module_utils._process.idle import VARIABLE, is_idle
from ansible_collections.taco.train.plugins.module_utils.cluster.client import Resource
from ansible_collections.taco.train.plugins.module_utils.cluster.inventory import container_of
from ansible_collections.taco.train.plugins.module_utils.cluster.jobs import JobError, JobOptions, Jobs
from ansible_collections.taco.train.plugins.module_utils.cluster.names import role_of
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import name_of

# Each process of the pod in a line of its own.
LIST = 'for one in /proc/[0-9]*; do tr "\\000" " " < "$one/cmdline"; echo; done 2>&-'
STARTERS = ("mpirun", "mpiexec", "orterun", "prterun", "horovodrun")


def running_launchers(pods: List[Resource], job: str) -> List[Resource]:
    """The launcher pods whose containers run."""
    return [
        pod for pod in pods if role_of(pod, job) == "launcher" and (pod.get("status") or {}).get("phase") == "Running"
    ]


def command_of(pod: Mapping[str, Any], container: str) -> List[str]:
    """The command line of a container by its specification, empty when the image says it."""
    containers = (pod.get("spec") or {}).get("containers") or []
    spec: Mapping[str, Any] = next((one for one in containers if one.get("name") == container), {})
    return [str(word) for word in [*(spec.get("command") or []), *(spec.get("args") or [])]]


def waits(command: List[str]) -> bool:
    """Whether a launcher only waits until a benchmark starts mpirun in it."""
    words = " ".join(command).split()
    return bool(words) and is_idle(words)


def started(processes: str) -> List[str]:
    """The command lines in the output of LIST that start ranks."""
    lines = [line.split() for line in processes.splitlines() if line.strip()]
    return [" ".join(words) for words in lines if any(os.path.basename(word) in STARTERS for word in words[:2])]


def launcher_work(jobs: Jobs, pods: List[Resource]) -> List[str]:
    """The running work of a job, each with its pod."""
    found = []
    for pod in running_launchers(pods, jobs.name):
        name = name_of(pod)
        container = container_of(pod, "launcher")
        command = command_of(pod, container)
        if not waits(command):
            found.append(f"the launcher pod {name} runs {' '.join(command) or 'the command of its image'}")
            continue
        text, cause = jobs.cluster.execute_in(name, jobs.namespace, container, ["sh", "-c", LIST])
        if cause is not None and not _still_runs(jobs, pod):
            continue
        # What can't be checked counts as running work.
        found += in_launcher(name, started(text)) if cause is None else [unchecked(name, cause)]
    return found


def _still_runs(jobs: Jobs, pod: Resource) -> bool:
    """Whether a launcher pod that ran is still there and runs: another client may have deleted the job since."""
    current = jobs.cluster.find("Pod", "v1", name_of(pod), jobs.namespace)
    if current is None or current["metadata"].get("uid") != pod["metadata"].get("uid"):
        return False
    return bool(running_launchers([current], jobs.name))


def in_launcher(pod: str, command_lines: List[str]) -> List[str]:
    """The running work of a launcher pod by the command lines in it, each with the pod."""
    return [f"{line} runs in the launcher pod {pod}" for line in command_lines]


def unchecked(pod: str, cause: str) -> str:
    """The running work of a launcher pod whose processes can't be listed."""
    return f"possibly mpirun in the launcher pod {pod}, whose processes can't be listed ({cause})"


def refusal(doing: str, job: str, namespace: str, work: List[str], running: List[str]) -> str:
    """The message that refuses what would end the running work of a job."""
    return (
        f"{doing} of the MPIJob {job} in the namespace {namespace} would end running work: {'; '.join(work)} (running pods: "
        f"{', '.join(running)}). Wait until it has ended or stop it, or set {VARIABLE}: true to end it"
    )


def require_idle(jobs: Jobs, options: JobOptions, doing: str) -> None:
    """Refuse to delete a job whose launcher runs work. In check mode warn."""
    if options.interrupt_running_work:
        return
    pods = jobs.pods()
    work = launcher_work(jobs, pods)
    if not work:
        return
    running = [name_of(pod) for pod in pods if (pod.get("status") or {}).get("phase") == "Running"]
    message = refusal(doing, jobs.name, jobs.namespace, work, running)
    if not options.check_mode:
        raise JobError(message)
    jobs.warn(message)
