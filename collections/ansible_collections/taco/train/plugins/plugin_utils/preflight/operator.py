# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs MPIJobs in a cluster: the CRD alone makes no pods. Values in, values out.

The manifests of mpi-operator from 0.1 to 0.6 and Arena's chart give the pods of the controller the label app=mpi-operator; the
Training Operator, which also runs MPIJobs of version v1, has control-plane=kubeflow-training-operator.
"""

from typing import Any, Dict, List, Mapping, Optional

from ansible_collections.taco.train.plugins.plugin_utils.check import Check, skipped
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.pods import is_ready, name_of, pod_state
from ansible_collections.taco.train.plugins.plugin_utils.text import some

IDENTITY = "kubernetes.operator"
LABELS = ("app=mpi-operator", "control-plane=kubeflow-training-operator")
EXPECTED = "a pod of the MPI Operator that is Ready"


def outline(pod: Mapping[str, Any]) -> Dict[str, Any]:
    """Return a controller's pod with why it isn't Ready."""
    namespace = (pod.get("metadata") or {}).get("namespace") or ""
    return {"name": f"{namespace}/{name_of(pod)}", "ready": is_ready(pod), "why": pod_state(pod, None, []).why}


def operator_check(pods: Optional[List[Mapping[str, Any]]]) -> Check:
    """Check that something runs MPIJobs. pods are outlines of the controllers' pods, None when pods may not be listed."""
    if pods is None:
        return skipped(IDENTITY, "the pods of the cluster may not be listed")
    ready = [pod["name"] for pod in pods if pod["ready"]]
    if ready:
        return Check(IDENTITY, "pass", found=", ".join(ready))
    if pods:
        found = some((f"{pod['name']} is not Ready ({pod['why']})" for pod in pods), separator="; ")
        return Check(IDENTITY, "fail", EXPECTED, found, "repair the MPI Operator: without it an MPIJob gets no pods")
    fix = "install the MPI Operator, or skip this check where another controller runs MPIJobs"
    return Check(IDENTITY, "warn", EXPECTED, f"no pod with the label {' or '.join(LABELS)}", fix)
