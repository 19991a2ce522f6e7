# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events on objects."""

from kubelab.resources import EVENT
from kubelab.storage import suffix
from kubelab.times import now


def event(storage, thing, kind, reason, message, source):
    """Say something of an object; what was said before is counted."""
    metadata = thing["metadata"]
    namespace = metadata.get("namespace") or "default"
    about = {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "name": metadata["name"], "uid": metadata["uid"]}
    for old in storage.list(EVENT, namespace, fields=f"involvedObject.uid={metadata['uid']},reason={reason}"):
        if old["message"] == message:

            def again(found):
                found.update(count=found["count"] + 1, lastTimestamp=now())

            storage.update(EVENT, namespace, old["metadata"]["name"], again)
            return
    said = {
        "metadata": {"name": f"{metadata['name']}.{suffix(16)}"},
        "involvedObject": {**about, "namespace": metadata.get("namespace")},
        "type": kind,
        "reason": reason,
        "message": message,
        "source": {"component": source},
        "count": 1,
        "firstTimestamp": now(),
        "lastTimestamp": now(),
    }
    storage.create(EVENT, namespace, said)
