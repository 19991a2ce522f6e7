# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each refusal, wait and failure of a cluster reaches the user with the object, the reason in the cluster's words, and the fix.

A case of tests/fixtures/kubernetes/cases has worker and launcher (a pod in short: null is none, ready by default), events of the
worker, job (its condition), refused (a warning about the job that has no pods), or answer (a refusal of the job itself);
tells and lacks are words of the message, and early is true where it comes before the timeout.
"""

import json
import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Request
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import answered
from ansible_collections.taco.train.plugins.module_utils.cluster.holders import holders
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import sentence
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import unscheduled
from ansible_collections.taco.train.plugins.module_utils.cluster.scheduling import UNNAMED_TAINTS, taints
from ansible_collections.taco.train.plugins.module_utils.cluster.wait import ENDED_SECONDS, OPERATOR_SECONDS, Wait

FOLDER = Path(__file__).parents[2] / "fixtures/kubernetes/cases"
CASES = [
    pytest.param(case, id=case["name"])
    for path in sorted(FOLDER.glob("*.yml"))
    for case in yaml.safe_load(path.read_text())
]
JOB, NAMESPACE, NODE, IMAGE = "bench", "train", "gpu-7", "registry.example.com/train:2"
PAGES = "hugepages-1Gi"
TIMEOUT = 600
READY = {"ready": True}


def container(role, short):
    state = {}
    if "waiting" in short:
        state = {"waiting": {"reason": short["waiting"], "message": short.get("message", "")}}
    elif "terminated" in short:
        detail = {key: short[key] for key in ("reason", "message") if key in short}
        state = {"terminated": {"exitCode": short["terminated"], **detail}}
    if not state:
        return []
    last = {"lastState": {"terminated": short["last"]}} if "last" in short else {}
    return [{"name": f"mpi-{role}", "image": IMAGE, "state": state, **last}]


def conditions(short):
    found = []
    if "ready" in short:
        found.append({"type": "Ready", "status": str(short["ready"]), "message": short.get("unready", "")})
    if "unscheduled" in short:
        reason = short.get("reason", "Unschedulable")
        found.append({"type": "PodScheduled", "status": "False", "reason": reason, "message": short["unscheduled"]})
    if "disruption" in short:
        found.append({"type": "DisruptionTarget", "status": "True", **short["disruption"]})
    return found


def pod(role, short):
    name = f"{JOB}-worker-0" if role == "worker" else f"{JOB}-launcher"
    status = {"phase": short.get("phase", "Running" if short.get("ready") else "Pending")}
    status.update(conditions=conditions(short), containerStatuses=container(role, short))
    if short.get("phase") == "Failed":
        status.update(reason=short["reason"], message=short["message"])
    requests = {"limits": {PAGES: "50Gi"}} if role == "worker" else {}
    spec = {"containers": [{"name": f"mpi-{role}", "image": IMAGE, "resources": requests}]}
    if "unscheduled" not in short:
        spec["nodeName"] = NODE
    if "gates" in short:
        spec["schedulingGates"] = [{"name": gate} for gate in short["gates"]]
    labels = {"training.kubeflow.org/job-name": JOB, "training.kubeflow.org/job-role": role}
    metadata = {"name": name, "namespace": NAMESPACE, "uid": name, "labels": labels}
    if short.get("deleted"):
        metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    return {"metadata": metadata, "spec": spec, "status": status}


def event(reason, message, kind="Pod", name=f"{JOB}-worker-0", second=0):
    return {
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": {"kind": kind, "name": name},
        "lastTimestamp": f"2026-01-01T00:02:{second:02}Z",
    }


def job(short):
    metadata = {"name": JOB, "namespace": NAMESPACE, "creationTimestamp": "2026-01-01T00:00:00Z"}
    metadata["labels"] = short.get("labels", {})
    found = {key: short[key] for key in ("type", "reason", "message") if key in short}
    spec = {"runPolicy": {"managedBy": short["managed_by"]}} if "managed_by" in short else {}
    return {
        "metadata": metadata,
        "spec": spec,
        "status": {"conditions": [{"status": "True", **found}] if found else []},
    }


def held(case, worker):
    """What the pods on the nodes hold of what the scheduler misses."""
    nodes = [
        {"metadata": {"name": name}, "status": {"allocatable": {PAGES: pages}}}
        for name, pages in case.get("nodes", {}).items()
    ]
    pods = [
        {
            "metadata": {"namespace": name.partition("/")[0], "name": name.partition("/")[2]},
            "spec": {"nodeName": one["node"], "containers": [{"resources": {"limits": {PAGES: one["pages"]}}}]},
            "status": {"phase": "Running"},
        }
        for name, one in case.get("holding", {}).items()
    ]
    found = unscheduled(worker) if worker and nodes else None
    if "taints" in case:
        return {UNNAMED_TAINTS: taints([{"metadata": {"name": NODE}, "spec": {"taints": case["taints"]}}])}
    return {resource: holders(resource, worker, nodes, pods) for resource in (found.resources if found else [])}


def message_of_wait(case):
    refused = case.get("refused")
    default = None if refused else READY
    worker = case.get("worker", default)
    launcher = case.get("launcher", default)
    pods = [pod(role, short) for role, short in (("worker", worker), ("launcher", launcher)) if short is not None]
    events = [event(one["reason"], one["message"], second=second) for second, one in enumerate(case.get("events", []))]
    if refused:
        about = case.get("about", {"kind": "MPIJob", "name": JOB})
        events.append(event(case.get("reason", "MPIJobFailed"), refused, **about))
    found = job(case.get("job", {} if refused else {"type": "Created", "reason": "MPIJobCreated"}))
    waiting = Wait(JOB, 1, TIMEOUT, 0)
    more = held(case, next((one for one in pods if one["metadata"]["name"].endswith("worker-0")), None))
    at_once = waiting.look(OPERATOR_SECONDS, found, pods, events, more)
    late = waiting.look(TIMEOUT, found, pods, events, more)
    ended = any(one["status"]["phase"] == "Failed" for one in pods) and ENDED_SECONDS
    assert bool(at_once.failure) == bool(case.get("early")), at_once.failure
    assert late.failure or ended
    return f"the MPIJob {JOB} is not usable: {late.failure}"


def message_of_answer(text):
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": text,
        "reason": "Forbidden",
        "code": 403,
    }
    request = Request("create", "MPIJob", "kubeflow.org/v1", NAMESPACE)
    seen = answered(403, json.dumps(status), {})
    return sentence(f"create MPIJob {JOB} in the namespace {NAMESPACE}", seen, request)


def message(case):
    if "answer" in case:
        return message_of_answer(case["answer"])
    return message_of_wait(case)


@pytest.mark.parametrize("case", CASES)
def test_the_message_has_the_object_the_reason_and_the_fix(case):
    said = message(case)
    assert JOB in said and "\n" not in said
    for words in case["tells"]:
        assert words in said, said
    for words in case.get("lacks", []):
        assert words not in said, said
    # Nothing is cut, and no placeholder of a fix is left.
    assert " ... " not in said and not re.search(r"\{(pod|node|image|path|other|job|name)\}", said), said


def test_the_table_is_large_enough_and_its_names_are_unique():
    names = [case.values[0]["name"] for case in CASES]
    assert len(names) >= 100 and len(set(names)) == len(names)
