# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the server refuses of a new object for its namespace, whoever creates it, in the order in which Kubernetes checks."""

from kubelab import pod_security, quotas, status
from kubelab.resources import NAMESPACE, POD, SERVICE_ACCOUNT

DEFAULT_ACCOUNT = "default"


def _namespace_labels(storage, resource, namespace, name):
    """Return the labels of a namespace that is there and stays, or raise."""
    metadata = storage.get(NAMESPACE, None, namespace)["metadata"]
    if metadata.get("deletionTimestamp"):
        raise status.terminating(resource, name, namespace)
    return metadata.get("labels")


def _service_account(storage, namespace, pod):
    spec = pod["spec"]
    account = spec.setdefault("serviceAccountName", DEFAULT_ACCOUNT)
    spec.setdefault("serviceAccount", account)
    if storage.find(SERVICE_ACCOUNT, namespace, account) is None:
        why = f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found'
        raise status.forbidden(POD, pod["metadata"].get("name", ""), why)


def admit(storage, resource, namespace, thing):
    """Refuse an object that its namespace doesn't take; a pod without a service account gets the default one."""
    if not resource.namespaced:
        return
    name = (thing.get("metadata") or {}).get("name", "")
    labels = _namespace_labels(storage, resource, namespace, name)
    if resource.key == POD.key:
        _service_account(storage, namespace, thing)
        why = pod_security.violation(labels, thing["spec"])
        if why:
            raise status.forbidden(POD, name, why)
    quotas.check(storage, resource, namespace, thing)


class ServiceAccounts:
    """The controller that gives each new namespace its default service account."""

    def __init__(self, storage):
        self.storage = storage
        self._seen = set()

    def tick(self):
        for namespace in self.storage.list(NAMESPACE):
            metadata = namespace["metadata"]
            if metadata["uid"] in self._seen or metadata.get("deletionTimestamp"):
                continue
            self._seen.add(metadata["uid"])
            if self.storage.find(SERVICE_ACCOUNT, metadata["name"], DEFAULT_ACCOUNT) is None:
                self.storage.create(SERVICE_ACCOUNT, metadata["name"], {"metadata": {"name": DEFAULT_ACCOUNT}})
