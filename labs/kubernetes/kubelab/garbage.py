# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is deleted because of what was deleted before it."""

from kubelab.resources import NAMESPACE, by_kind
from kubelab.storage import FOREGROUND


def collect(storage, resources):
    """Delete what has lost its owners, and let go what waited for its dependents."""
    things = [thing for _key, thing in storage.all()]
    owners = {thing["metadata"]["uid"]: thing for thing in things}
    waiting = {uid for uid, thing in owners.items() if FOREGROUND in (thing["metadata"].get("finalizers") or [])}
    held = set()
    for thing in things:
        uids = [owner["uid"] for owner in thing["metadata"].get("ownerReferences") or []]
        if not uids:
            continue
        held.update(uid for uid in uids if uid in waiting)
        if any(uid in owners and uid not in waiting for uid in uids):
            continue
        foreground = any(uid in waiting for uid in uids)
        _delete(storage, resources, thing, {"propagationPolicy": "Foreground"} if foreground else {})
    for uid in waiting - held:
        _let_go(storage, resources, owners[uid])
    _namespaces(storage, resources, things)


def _resource(resources, thing):
    return by_kind(thing["kind"], resources)


def _delete(storage, resources, thing, options):
    metadata = thing["metadata"]
    resource = _resource(resources, thing)
    if not metadata.get("deletionTimestamp") and storage.find(resource, metadata.get("namespace"), metadata["name"]):
        storage.delete(resource, metadata.get("namespace"), metadata["name"], options)


def _let_go(storage, resources, thing):
    """Take away the finalizer of a deletion in the foreground, and the object where it was the last one."""
    resource, metadata = _resource(resources, thing), thing["metadata"]
    others = [name for name in metadata["finalizers"] if name != FOREGROUND]
    bound = resource.kind == "Pod" and (thing.get("spec") or {}).get("nodeName")
    with storage.lock:
        if storage.find(resource, metadata.get("namespace"), metadata["name"]) is None:
            return

        def change(found):
            found["metadata"]["finalizers"] = others
            if not others:
                del found["metadata"]["finalizers"]

        storage.update(resource, metadata.get("namespace"), metadata["name"], change)
        if not others and not bound:
            storage.remove(resource, metadata.get("namespace"), metadata["name"])


def _namespaces(storage, resources, things):
    for namespace in things:
        if namespace["kind"] != "Namespace" or not namespace["metadata"].get("deletionTimestamp"):
            continue
        name = namespace["metadata"]["name"]
        inside = [thing for thing in things if thing["metadata"].get("namespace") == name]
        for thing in inside:
            _delete(storage, resources, thing, {})
        if not inside and storage.find(NAMESPACE, None, name):
            storage.remove(NAMESPACE, None, name)
