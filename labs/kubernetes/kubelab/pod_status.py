# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a pod that is in a step, as its kubelet writes it."""

from kubelab.conditions import set_condition
from kubelab.times import now

WAITING = {
    "ContainerCreating": None,
    "PodInitializing": None,
    "ErrImagePull": 'rpc error: code = NotFound desc = failed to pull and unpack image "{image}": not found',
    "ImagePullBackOff": 'Back-off pulling image "{image}"',
    "CreateContainerConfigError": 'secret "missing" not found',
    "CrashLoopBackOff": "back-off 10s restarting failed container={container} pod={pod}_{namespace}({uid})",
}
EVICTED = "The node was low on resource: memory."
ENDED = {
    "Succeeded": (0, "Completed"),
    "Failed": (1, "Error"),
    "OOMKilled": (137, "OOMKilled"),
    "Evicted": (137, "Error"),
}


def _ended(step, state):
    code, reason = ENDED.get(state, (1, "Error"))
    code = step.get("exit_code", code)
    ended = {"exitCode": code, "reason": reason, "startedAt": now(), "finishedAt": now()}
    return {
        "terminated": {**ended, **({"message": step["message"]} if "message" in step and state != "Evicted" else {})}
    }


def _container(pod, container, step):
    state, metadata = step["state"], pod["metadata"]
    status = {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "ready": state == "Running",
    }
    status.update(restartCount=0, started=state in ("Running", "NotReady"), lastState={})
    if state in WAITING:
        words = {"image": container.get("image", ""), "container": container["name"], "pod": metadata["name"]}
        text = step.get("message") or WAITING[state] or ""
        text = (
            text.format(**words, namespace=metadata["namespace"], uid=metadata["uid"])
            if not step.get("message")
            else text
        )
        status["state"] = {"waiting": {"reason": step.get("reason") or state, **({"message": text} if text else {})}}
        if state == "CrashLoopBackOff":
            status.update(restartCount=3, lastState=_ended(step, "Failed"))
    elif state in ENDED:
        status["state"] = _ended(step, state)
    else:
        status["state"] = {"running": {"startedAt": now()}}
    return status


def _phase(state):
    if state in ("Running", "NotReady", "CrashLoopBackOff"):
        return "Running"
    if state in ("Failed", "OOMKilled", "Evicted"):
        return "Failed"
    return "Succeeded" if state == "Succeeded" else "Pending"


def write(pod, step, ip, host_ip):
    """Write the status of a step into a pod; what is the same keeps its times."""
    state = step["state"]
    status = pod.setdefault("status", {})
    containers = (pod.get("spec") or {}).get("containers") or []
    status.update(phase=_phase(state), hostIP=host_ip, qosClass="Burstable")
    status.setdefault("startTime", now())
    status["containerStatuses"] = [_container(pod, container, step) for container in containers]
    status.pop("reason", None)
    status.pop("message", None)
    if state == "Evicted":
        status.update(reason="Evicted", message=step.get("message") or EVICTED)
        status["containerStatuses"] = []
    elif step.get("reason") and state == "Failed":
        status.update(reason=step["reason"], message=step.get("message", ""))
    if _phase(state) == "Running" and ip:
        status.update(podIP=ip, podIPs=[{"ip": ip}])
    ready = "True" if state == "Running" else "False"
    names = [container["name"] for container in containers]
    why = ("", "")
    if ready == "False":
        why = (
            ("PodCompleted", "")
            if state == "Succeeded"
            else ("ContainersNotReady", f"containers with unready status: {names}")
        )
    initialized = "False" if state == "PodInitializing" else "True"
    set_condition(pod, "Initialized", initialized)
    set_condition(pod, "Ready", ready, *why)
    set_condition(pod, "ContainersReady", ready, *why)
