# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the server refuses of a new object for its namespace, whoever creates it, in the order in which Kubernetes checks."""

from kubelab import quotas, status
from kubelab.resources import NAMESPACE, POD, SERVICE_ACCOUNT

DEFAULT_ACCOUNT = "default"


def _require_namespace(storage, resource, namespace, name):
    """Raise unless a namespace is there and stays."""
    if storage.get(NAMESPACE, None, namespace)["metadata"].get("deletionTimestamp"):
        raise status.terminating(resource, name, namespace)


def _service_account(storage, namespace, pod):
    spec = pod["spec"]
    account = spec.setdefault("serviceAccountName", DEFAULT_ACCOUNT)
    spec.setdefault("serviceAccount", account)
    if storage.find(SERVICE_ACCOUNT, namespace, account) is None:
        why = f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found'
        raise status.forbidden(POD, pod["metadata"].get("name", ""), why)


def admit(storage, resource, namespace, thing, pod_refusal):
    """Refuse an object that its namespace doesn't take; a pod without a service account gets the default one.

    pod_refusal is why no pod is taken, as a test has it, or None.
    """
    if not resource.namespaced:
        return
    name = (thing.get("metadata") or {}).get("name", "")
    _require_namespace(storage, resource, namespace, name)
    if resource.key == POD.key:
        _service_account(storage, namespace, thing)
        if pod_refusal:
            raise status.forbidden(POD, name, pod_refusal)
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
