# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod in which the MPI Operator runs, as its manifest deploys it. Values in, values out."""

from kubelab import pod_status

NAMESPACE = "mpi-operator"
NAME = "mpi-operator-6f8d7c9b5-k4x2v"
# No node of the lab: a node that is drained or stopped doesn't take the operator with it.
NODE = "kubelab-control-plane"
IMAGE = "mpioperator/mpi-operator:0.6.0"


def pod(alive):
    """The pod, Ready while the operator runs."""
    thing = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "uid": "", "labels": {"app": "mpi-operator"}},
        "spec": {"nodeName": NODE, "containers": [{"name": "mpi-operator", "image": IMAGE}]},
        "status": {"phase": "Pending"},
    }
    pod_status.write(thing, {"state": "Running" if alive else "CrashLoopBackOff"}, "", "")
    return thing
