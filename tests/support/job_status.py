# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job and its pods as a cluster shows them."""

LABELS = {"training.kubeflow.org/job-name": "taco-bench"}
READY = {"type": "Ready", "status": "True"}


def condition(kind, status="True", reason=None, message=None):
    return {"type": kind, "status": status, "reason": reason or f"MPIJob{kind}", "message": message or f"it is {kind}"}


def job(*conditions):
    return {"metadata": {"name": "taco-bench", "uid": "j"}, "status": {"conditions": list(conditions)}}


def pod(role="worker", number=0, phase="Pending", conditions=(), metadata=None, **status):
    name = "taco-bench-launcher" if role == "launcher" else f"taco-bench-worker-{number}"
    labels = {**LABELS, "training.kubeflow.org/job-role": role}
    return {
        "metadata": {"name": name, "uid": name, "labels": labels, **(metadata or {})},
        "spec": {"nodeName": "gpu-1"},
        "status": {"phase": phase, "conditions": list(conditions), **status},
    }


def running(role="worker", number=0, **metadata):
    return pod(role, number, "Running", [READY], metadata)


def waiting(reason, message=None, name="mpi-worker", **more):
    return {"name": name, "image": "i:1", "state": {"waiting": {"reason": reason, "message": message}}, **more}


def ended(code, name="mpi-worker", **more):
    return {"name": name, "image": "i:1", "state": {"terminated": {"exitCode": code, **more}}}


def event(reason, message, name="taco-bench-worker-0", kind="Pod", when="2026-01-01T00:00:00Z", **more):
    about = {"kind": kind, "name": name, **more}
    return {"type": "Warning", "reason": reason, "message": message, "involvedObject": about, "lastTimestamp": when}
