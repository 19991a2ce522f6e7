# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say from the log of a pod that ended why it did. Text in, text out."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.explain.symptoms import known_explanation
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import one_line

_KEYS = (
    "the MPI Operator mounts the keys from the Secret {job}-ssh: check that the user of the image may read them where "
    "sshAuthMountPath puts them, and that sshd of the image uses them"
)
# What helps in pods of the MPI Operator, by the name of the symptom.
FIXES = {
    "ssh_resolve": "check that the Service {job} of the workers exists (kubectl get service {job}) and that the DNS of the cluster answers "
    "(kubectl get pods --namespace kube-system --selector k8s-app=kube-dns)",
    "ssh_connect": "check that sshd runs in the workers (kubectl logs) and that no NetworkPolicy keeps the launcher from them",
    "ssh_closed": "check that sshd runs in the workers, and its messages there (kubectl logs)",
    "ssh_host_key": "set StrictHostKeyChecking no in the ssh_config of the image: the host keys of workers are new in each pod",
    "ssh_key": _KEYS,
    "ssh_password": _KEYS,
}


def has_ended(pod: Mapping[str, Any]) -> bool:
    """Return whether a container of a pod has ended by itself, and so may have printed why."""
    states = [
        (one.get(part) or {}).get("terminated") or {}
        for one in (pod.get("status") or {}).get("containerStatuses") or []
        for part in ("state", "lastState")
    ]
    # A container that could not be started has printed nothing.
    return any(state and state.get("reason") not in ("StartError", "ContainerCannotRun") for state in states)


def printed(job: str, pod: str, text: str) -> str:
    """Return what a log says of an end, with the fix where the cause is known; empty for an empty log."""
    known = known_explanation(text)
    if known is not None:
        # The advice of a cause is for containers that this collection runs on hosts.
        fix = FIXES.get(known.name, known.fix).replace("{job}", job).replace("taco_image", "mpijob_image")
        return f"the log of {pod} has the cause: {one_line(known.found)}; {one_line(fix)}"
    lines = [line for line in text.splitlines() if line.strip()]
    return f"the log of {pod} ends with: {one_line(lines[-1])}" if lines else ""
