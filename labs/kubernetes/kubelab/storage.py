# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of the cluster. Every change has a new resourceVersion and is kept for who watches.

Requests, controllers and tests use it from threads of their own; nothing that it returns is shared with it.
"""

import copy
import random
import threading
import uuid

from kubelab import selectors, status
from kubelab.resources import NAMESPACE, POD, QUOTA
from kubelab.times import now

FOREGROUND = "foregroundDeletion"
GRACE_SECONDS = 30
KEPT_CHANGES = 20000
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # as Kubernetes has them: no vowels, so no words


def suffix(letters=5):
    return "".join(random.choice(_LETTERS) for _ in range(letters))


def owned_by(owner, controller=True):
    """Return the reference to an owner."""
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
    reference.update(name=owner["metadata"]["name"], uid=owner["metadata"]["uid"], controller=controller)
    return {**reference, "blockOwnerDeletion": True}


class Storage:
    def __init__(self):
        self.lock = threading.RLock()
        self._changes = []  # (resourceVersion, ADDED|MODIFIED|DELETED, resource key, namespace, object)
        self._forgotten = 0
        self._objects = {}
        self._version = 100

    def _write(self, resource, thing, kind):
        self._version += 1
        metadata = thing["metadata"]
        metadata["resourceVersion"] = str(self._version)
        where = (metadata.get("namespace") or "", metadata["name"])
        if kind == "DELETED":
            del self._objects[resource.key][where]
        else:
            self._objects.setdefault(resource.key, {})[where] = thing
        self._changes.append((self._version, kind, resource.key, where[0], copy.deepcopy(thing)))
        self.compact(KEPT_CHANGES)

    def compact(self, kept=0):
        """Forget all changes but the last ones, so that nobody can watch from before them."""
        with self.lock:
            past = self._changes[: len(self._changes) - kept]
            if past:
                self._forgotten = past[-1][0]
                del self._changes[: len(past)]

    def changes(self, since):
        """The changes after a version."""
        with self.lock:
            if since < self._forgotten:
                raise status.Refused(410, f"too old resource version: {since} ({self._forgotten})")
            return [change for change in self._changes if change[0] > since]

    def _found(self, resource, namespace, name):
        thing = self._objects.get(resource.key, {}).get((namespace or "" if resource.namespaced else "", name))
        if thing is None:
            raise status.not_found(resource, name)
        return thing

    @staticmethod
    def shown(resource, thing):
        """Return an object in the version in which it was asked for."""
        return {**copy.deepcopy(thing), "apiVersion": resource.api_version, "kind": resource.kind}

    def version(self):
        with self.lock:
            return str(self._version)

    def get(self, resource, namespace, name):
        with self.lock:
            return self.shown(resource, self._found(resource, namespace, name))

    def find(self, resource, namespace, name):
        """Return an object, or None."""
        try:
            return self.get(resource, namespace, name)
        except status.Refused:
            return None

    def stored_version(self, resource, namespace, name):
        """Return the apiVersion in which an object was created, or None."""
        with self.lock:
            thing = self._objects.get(resource.key, {}).get((namespace or "", name))
            return thing and thing["apiVersion"]

    def list(self, resource, namespace=None, labels=None, fields=None):
        with self.lock:
            return [
                self.shown(resource, thing)
                for (place, _name), thing in sorted(self._objects.get(resource.key, {}).items())
                if (not namespace or place == namespace)
                and selectors.labels_match(labels, thing["metadata"].get("labels"))
                and selectors.fields_match(fields, thing)
            ]

    def all(self):
        """Return the objects of every resource, by its key, as they are stored."""
        with self.lock:
            return [(key, copy.deepcopy(thing)) for key, things in self._objects.items() for thing in things.values()]

    def _named(self, resource, namespace, thing):
        metadata = thing.setdefault("metadata", {})
        if resource.namespaced:
            if metadata.setdefault("namespace", namespace) != namespace:
                raise status.bad_request(
                    f"the namespace of the provided object does not match the namespace sent on the request: "
                    f"{metadata['namespace']}, {namespace}"
                )
            self._found(NAMESPACE, None, namespace)
        if not metadata.get("name"):
            if not metadata.get("generateName"):
                why = [("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")]
                raise status.invalid(resource, "", why)
            metadata["name"] = metadata["generateName"] + suffix()
        return metadata

    def create(self, resource, namespace, thing, dry_run=False):
        with self.lock:
            thing = copy.deepcopy(thing)
            metadata = self._named(resource, namespace, thing)
            where = (metadata.get("namespace") or "", metadata["name"])
            if where in self._objects.get(resource.key, {}):
                raise status.already_exists(resource, metadata["name"])
            if resource.namespaced and self._found(NAMESPACE, None, where[0])["metadata"].get("deletionTimestamp"):
                raise status.terminating(resource, metadata["name"], where[0])
            metadata.update(uid=str(uuid.uuid4()), creationTimestamp=now(), generation=1)
            thing["apiVersion"], thing["kind"] = resource.api_version, resource.kind
            if not dry_run:
                self._write(resource, thing, "ADDED")
            return self.shown(resource, thing)

    def replace(self, resource, namespace, name, thing, subresource=None, dry_run=False):
        """Change an object as a request does: its status only by itself, and only from the version that was read."""
        with self.lock:
            old = self._found(resource, namespace, name)
            thing = copy.deepcopy(thing)
            metadata = thing.setdefault("metadata", {})
            wanted = metadata.get("resourceVersion")
            if wanted and wanted != old["metadata"]["resourceVersion"]:
                raise status.conflict(resource, name)
            if metadata.get("uid") and metadata["uid"] != old["metadata"]["uid"]:
                raise status.uid_conflict(resource, name, metadata["uid"], old["metadata"]["uid"])
            new = self._changed(resource, old, thing, subresource)
            if not dry_run and new != old:
                done = new["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers")
                self._write(resource, new, "DELETED" if done and resource.key != POD.key else "MODIFIED")
            return self.shown(resource, new)

    @staticmethod
    def _changed(resource, old, thing, subresource):
        if subresource == "status":
            return {**copy.deepcopy(old), "status": thing.get("status") or {}}
        new = {**thing, "apiVersion": old["apiVersion"], "kind": resource.kind}
        kept = ("name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp", "resourceVersion")
        for key in (*kept, "deletionGracePeriodSeconds"):
            new["metadata"].pop(key, None)
            if key in old["metadata"]:
                new["metadata"][key] = old["metadata"][key]
        if "status" in resource.subresources:
            new.pop("status", None)
            if "status" in old:
                new["status"] = copy.deepcopy(old["status"])
        if new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 1) + 1
        return new

    def update(self, resource, namespace, name, change):
        """Change an object as a controller does that needs no version; change gets it and returns nothing."""
        with self.lock:
            try:
                new = copy.deepcopy(self._found(resource, namespace, name))
            except status.Refused:
                return None
            change(new)
            if new != self._found(resource, namespace, name):
                self._write(resource, new, "MODIFIED")
            return self.shown(resource, new)

    def put(self, resource, thing):
        """Write an object with its status as it is, whether there is one of its name or not."""
        with self.lock:
            namespace = thing["metadata"].get("namespace") or "default" if resource.namespaced else None
            if self.find(resource, namespace, thing["metadata"]["name"]) is None:
                return self.create(resource, namespace, thing)
            metadata = ("uid", "creationTimestamp", "resourceVersion", "generation")

            def change(old):
                kept = {key: old["metadata"][key] for key in metadata if key in old["metadata"]}
                stored = old["apiVersion"]
                old.clear()
                old.update(copy.deepcopy(thing), apiVersion=stored, kind=resource.kind)
                old["metadata"].update(kept, **({"namespace": namespace} if namespace else {}))

            return self.update(resource, namespace, thing["metadata"]["name"], change)

    def remove(self, resource, namespace, name):
        """Take an object away at once."""
        with self.lock:
            self._write(resource, copy.deepcopy(self._found(resource, namespace, name)), "DELETED")

    def delete(self, resource, namespace, name, options=None):
        """Delete as a request does. Returns the object where it is still there, or None."""
        options = options or {}
        with self.lock:
            old = self._found(resource, namespace, name)
            metadata = old["metadata"]
            wanted = (options.get("preconditions") or {}).get("uid")
            if wanted and wanted != metadata["uid"]:
                raise status.uid_conflict(resource, name, wanted, metadata["uid"])
            if options.get("dryRun"):
                return self.shown(resource, old)
            finalizers = list(metadata.get("finalizers") or [])
            if options.get("propagationPolicy") == "Foreground" and FOREGROUND not in finalizers:
                finalizers.append(FOREGROUND)
            grace = options.get("gracePeriodSeconds")
            grace = (
                (old.get("spec") or {}).get("terminationGracePeriodSeconds", GRACE_SECONDS) if grace is None else grace
            )
            bound = resource.key == POD.key and (old.get("spec") or {}).get("nodeName") and grace > 0
            if not (finalizers or bound or resource.key == NAMESPACE.key):
                self.remove(resource, namespace, name)
                return None
            return self.update(resource, namespace, name, lambda thing: self._mark(resource, thing, finalizers, grace))

    @staticmethod
    def _mark(resource, thing, finalizers, grace):
        thing["metadata"].setdefault("deletionTimestamp", now())
        if finalizers:
            thing["metadata"]["finalizers"] = finalizers
        if resource.key == POD.key:
            thing["metadata"]["deletionGracePeriodSeconds"] = grace
        if resource.key == NAMESPACE.key:
            thing["status"] = {"phase": "Terminating"}

    def quotas(self, namespace):
        return self.list(QUOTA, namespace)
