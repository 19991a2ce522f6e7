# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Remove an MPIJob with its pods after their logs were kept, and wait until they are gone."""

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.client import KubernetesError, Thing
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.pods import name_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob import owner
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.client import JobError, Jobs, Wish
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.wait import Vanish


def remove(jobs: Jobs, job: Thing, wish: Wish) -> dict[str, str]:
    """Delete a job, wait until nothing of it is left, and return the files with the logs of its pods."""
    kept = jobs.keep_logs(jobs.pods(), wish.logs_dir, wish.allow_lost_logs)
    jobs.cluster.delete(job)
    vanish(jobs, wish, owner.uid_of(job))
    return kept


def vanish(jobs: Jobs, wish: Wish, uid: str | None) -> None:
    """Wait until a job that is being deleted and its pods are gone, or raise what is still there.

    uid is that of the job, None where only pods are left. A job with another uid is not waited for.
    """
    clock = jobs.cluster.clock
    waiting = Vanish(jobs.name, wish.timeout, clock.now())
    looked = None
    while True:
        try:
            if looked is not None:
                jobs.wait_for_change(looked, waiting.due(clock.now()), wish.poll)
            looked = jobs.look()
        except KubernetesError as error:
            raise JobError(f"{error}. {jobs.left([])}") from error
        if looked.job is not None and owner.uid_of(looked.job) != uid:
            raise JobError(owner.recreated(looked.job, jobs.name, jobs.namespace, jobs.cluster.host))
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
            raise JobError(f"{jobs.cluster.host}: the MPIJob {jobs.name} can't be removed: {failure}{force}")
