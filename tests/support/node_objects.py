# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods and nodes for tests of what is done to nodes."""


def pod(name, node, owner="ReplicaSet", labels=None, volumes=(), phase="Running", **metadata):
    """Return a pod on a node that is Ready, of a controller unless owner is None."""
    metadata = {"name": name, "namespace": "default", "labels": labels or {"app": "web"}, **metadata}
    if owner:
        reference = {"apiVersion": "apps/v1", "kind": owner, "name": f"of-{name}", "uid": f"uid-{owner}"}
        metadata["ownerReferences"] = [dict(reference, controller=True)]
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "image:1"}], "volumes": list(volumes)}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"phase": phase, "conditions": conditions}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def daemon_pod(name, node, **more):
    return pod(name, node, "DaemonSet", {"pod-template-generation": "1"}, **more)


def budget(name, needed, app="web", **status):
    """Return a PodDisruptionBudget."""
    spec = {"minAvailable": needed, "selector": {"matchLabels": {"app": app}}}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": spec,
        "status": {"disruptionsAllowed": 0, **status},
    }


def put(cluster, *things):
    """Write pods and what owns them: a pod whose owner isn't there is garbage."""
    for thing in things:
        for reference in thing["metadata"].get("ownerReferences", []):
            metadata = {"name": reference["name"], "namespace": "default"}
            owner = {"apiVersion": reference["apiVersion"], "kind": reference["kind"], "metadata": metadata, "spec": {}}
            cluster.put(owner)
            reference["uid"] = cluster.get(reference["kind"], reference["name"])["metadata"]["uid"]
        cluster.put(thing)
        if thing.get("status", {}).get("phase") == "Running":
            name = thing["metadata"]["name"]
            # Its node's kubelet starts it anew, and no budget counts a pod that isn't Ready.
            assert cluster.wait(lambda name=name: runs(cluster.get("Pod", name)), 30), f"{name} doesn't run"


def runs(found):
    """Return whether a kubelet has started a pod."""
    status = found["status"]
    ready = {"type": "Ready", "status": "True"}
    return bool(status.get("podIP")) and any(
        ready.items() <= condition.items() for condition in status.get("conditions", [])
    )
