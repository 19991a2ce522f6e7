# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job of another manager stays as it is, and an object that another client deletes first is deleted."""

import copy
import threading

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client

LABEL = "app.kubernetes.io/managed-by"
JOB = ("MPIJob", "taco-bench")
ABSENT = {"kind": "Status", "status": "Failure", "code": 404, "message": "not found", "details": {"name": "taco-bench"}}


def owned_by(actor, manager):
    """Give the job of the cluster another manager, or none."""
    job = copy.deepcopy(actor.cluster.get(*JOB))
    job["metadata"].pop("labels", None)
    if manager:
        job["metadata"]["labels"] = {LABEL: manager}
    actor.cluster.put(job)
    return job["metadata"]["uid"]


def uid(actor):
    return actor.cluster.get(*JOB)["metadata"]["uid"]


def recreate(actor, manager="argo"):
    """Delete the job as another client would, and create it again at once."""
    job = copy.deepcopy(actor.cluster.get(*JOB))
    resource = next(one for one in actor.cluster.resources if one.kind == "MPIJob")
    actor.cluster.storage.remove(resource, "default", "taco-bench")
    for key in ("uid", "resourceVersion", "deletionTimestamp", "finalizers"):
        job["metadata"].pop(key, None)
    job["metadata"]["labels"] = {LABEL: manager}
    actor.cluster.put(job)


@pytest.mark.parametrize(
    ("manager", "words"),
    [
        (None, "it has no label app.kubernetes.io/managed-by"),
        ("argo", "its label app.kubernetes.io/managed-by is argo"),
    ],
)
def test_a_job_of_another_manager_is_refused_unless_its_replacement_is_permitted(on, manager, words):
    actor = on()
    actor.run()
    before = owned_by(actor, manager)
    written = len(actor.written())
    refusal = (
        "the MPIJob taco-bench in the namespace default is not managed by taco.train",
        words,
        "mpijob_any_manager: true",
    )
    # The first is the same job but for its label.
    for options in ({}, {"clean_pod_policy": "None"}, {"gpus_per_worker": 4}, {"check": True}, {"replace": True}):
        actor.refused(*refusal, "it is not used or replaced", **options)
    for options in ({}, {"check": True}, {"replace": True}):
        actor.refused(*refusal, "it is not deleted", state="absent", **options)
    assert uid(actor) == before and len(actor.written()) == written
    replaced = actor.run(any_manager=True)
    assert f"since it is not managed by taco.train ({words})" in replaced["msg"] and uid(actor) != before
    assert not actor.run(any_manager=True)["changed"]
    # The permission is none to replace a job of this collection.
    actor.refused("mpijob_replace: true", gpus_per_worker=4, any_manager=True)
    owned_by(actor, manager)
    assert actor.run(state="absent", any_manager=True)["changed"] and actor.jobs() == []


def test_an_identical_job_that_another_client_creates_first_is_not_used(on, monkeypatch):
    actor = on()
    create = Client.create

    def late(cluster, job):
        other = copy.deepcopy(job)
        other["metadata"]["labels"] = {LABEL: "argo"}
        actor.cluster.put(other)
        return create(cluster, job)

    monkeypatch.setattr(Client, "create", late)
    actor.refused("is not managed by taco.train", "is argo", "Another client has created it meanwhile")
    assert actor.cluster.get(*JOB)["metadata"]["labels"] == {LABEL: "argo"}


@pytest.mark.parametrize("options", [{"state": "absent"}, {"gpus_per_worker": 4, "replace": True}], ids=str)
def test_a_job_that_is_recreated_during_its_deletion_is_named_at_once(on, options):
    actor = on()
    actor.run()
    job = copy.deepcopy(actor.cluster.get(*JOB))
    job["metadata"]["finalizers"] = ["example.com/slow"]
    actor.cluster.put(job)
    actor.on_line["taco-bench: going, "] = lambda: recreate(actor)
    actor.slept.clear()
    actor.refused(
        "another client created the MPIJob taco-bench in the namespace default again at 20",
        "its label app.kubernetes.io/managed-by is argo",
        "Stop that client",
        wait_timeout=600,
        **options,
    )
    assert sum(actor.slept) < 10 and actor.jobs() == ["taco-bench"]


def on_delete(monkeypatch, change):
    """Call a function just before the first deletion is requested."""
    attempt, changes = Client.attempt, [change]

    def late(cluster, request, *more, **options):
        if request.verb == "delete" and changes:
            changes.pop()()
        return attempt(cluster, request, *more, **options)

    monkeypatch.setattr(Client, "attempt", late)


def test_a_job_that_is_recreated_just_before_its_deletion_stays(on, monkeypatch):
    actor = on()
    actor.run()
    on_delete(monkeypatch, lambda: recreate(actor))
    actor.refused("another client created the MPIJob taco-bench", "is argo", state="absent", wait_timeout=600)
    assert actor.jobs() == ["taco-bench"]


def remove(actor):
    actor.cluster.delete(*JOB)


def test_a_deletion_that_is_not_found_is_done(on, monkeypatch):
    """Another client may be faster."""
    actor = on()
    actor.run()
    deletion = {"method": "DELETE", "path": "/mpijobs/taco-bench", "status": 404, "times": 1, "body": ABSENT}
    on_delete(monkeypatch, lambda: (actor.cluster.fail(**deletion), threading.Timer(0.1, remove, [actor]).start()))
    assert actor.run(state="absent")["changed"]
    assert actor.jobs() == [] and actor.cluster.objects("Pod", "default") == []
    assert ("DELETE", "/apis/kubeflow.org/v1/namespaces/default/mpijobs/taco-bench", 404) in actor.cluster.requests


def test_a_change_of_a_job_that_is_not_found_says_that_it_is_gone(on):
    actor = on()
    actor.run()
    attempt = {"method": "PATCH", "path": "/mpijobs/taco-bench", "status": 404, "times": 1, "body": ABSENT}
    actor.cluster.fail(**attempt)
    assert actor.run(clean_pod_policy="None")["changed"]
    actor.cluster.fail(**attempt)
    remove_job = threading.Timer(0.0, remove, [actor])
    attempted = Client.change

    def change(cluster, patch, doing=None):
        result = attempted(cluster, patch, doing)
        remove_job.run()
        return result

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Client, "change", change)
        actor.refused("it was deleted while its pods were waited for", clean_pod_policy="All")


def test_a_launcher_that_is_gone_runs_no_work(on):
    """Another client deletes the job between the list of its pods and the command in its launcher."""
    actor = on()
    actor.run()
    execute = Client.execute_in

    def late(cluster, *arguments):
        remove(actor)
        assert actor.cluster.wait(lambda: not actor.cluster.objects("Pod", "default"))
        return execute(cluster, *arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Client, "execute_in", late)
        assert actor.run(state="absent")["changed"]
    assert actor.jobs() == []
