# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each request does to the storage."""

from typing import Any, NamedTuple

from kubelab import admission, evictions, patches, selectors, status
from kubelab.resources import MPIJOB_GROUP, POD, Resource, with_defaults


class Target(NamedTuple):
    """What a path names."""

    resource: Resource
    namespace: str | None
    name: str | None
    subresource: str | None


class Options(NamedTuple):
    params: dict
    body: Any
    media_type: str

    @property
    def dry_run(self):
        return bool(self.params.get("dryRun"))


def target(parts, resources):
    """Read a path such as api/v1/namespaces/default/pods/a/log."""
    head = {"api": 2, "apis": 3}.get(parts[0] if parts else "")
    if head is None or len(parts) <= head:
        raise status.no_such_path()
    api_version, rest = "/".join(parts[1:head]), parts[head:]
    namespace = None
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status",):
        namespace, rest = rest[1], rest[2:]
    found = next(
        (resource for resource in resources if resource.api_version == api_version and resource.plural == rest[0]), None
    )
    if found is None or len(rest) > 3 or (namespace and not found.namespaced):
        raise status.no_such_path()
    name, subresource = (rest + [None, None])[1:3]
    if subresource and subresource not in found.subresources:
        raise status.no_such_path()
    return Target(found, namespace, name, subresource)


def verb(method, where, options):
    """Return the verb that RBAC knows a request by."""
    if method == "GET":
        if options.params.get("watch") in ("true", "1", "True"):
            return "watch"
        return "get" if where.name else "list"
    found = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(method)
    on_another = found == "create" and where.name and where.subresource not in ("eviction", "exec")
    if on_another or (found == "delete" and not where.name) or found not in where.resource.verbs:
        raise status.plain(405, "the server does not allow this method on the requested resource")
    return found


def listed(storage, where, params):
    fields = params.get("fieldSelector")
    if where.name:
        fields = ",".join(filter(None, (fields, f"metadata.name={where.name}")))
    return storage.list(where.resource, where.namespace, params.get("labelSelector"), fields)


def changes(storage, where, params, since):
    """The changes of the objects of a list after a version, and the last version in them."""
    news = storage.changes(since)
    found = []
    for _version, kind, key, namespace, thing in news:
        if key != where.resource.key or (where.namespace and namespace != where.namespace):
            continue
        if where.name and thing["metadata"]["name"] != where.name:
            continue
        if not selectors.labels_match(params.get("labelSelector"), thing["metadata"].get("labels")):
            continue
        if selectors.fields_match(params.get("fieldSelector"), thing):
            found.append((kind, storage.shown(where.resource, thing)))
    return found, news[-1][0] if news else since


def log(cluster, where, options):
    pod = cluster.storage.get(where.resource, where.namespace, where.name)
    containers = [container["name"] for container in pod["spec"].get("containers") or []]
    name = options.params.get("container")
    if name is None and len(containers) > 1:
        choices = " ".join(containers)
        raise status.bad_request(f"a container name must be specified for pod {where.name}, choose one of: [{choices}]")
    if name is not None and name not in containers:
        raise status.bad_request(f"container {name} is not valid for pod {where.name}")
    name = name or containers[0]
    for found in (pod.get("status") or {}).get("containerStatuses") or [
        {"state": {"waiting": {"reason": "ContainerCreating"}}}
    ]:
        waiting = (found.get("state") or {}).get("waiting")
        if found.get("name", name) == name and waiting and not found.get("lastState"):
            message = f'container "{name}" in pod "{where.name}" is waiting to start: {waiting.get("reason")}'
            raise status.bad_request(message)
    text = cluster.log_of(pod, name)
    tail = options.params.get("tailLines")
    if tail is not None:
        lines = text.splitlines(keepends=True)
        text = "".join(lines[len(lines) - min(int(tail), len(lines)) :])
    return text


def _evict(cluster, where, options):
    pod = cluster.storage.get(POD, where.namespace, where.name)
    evictions.check(cluster.storage, pod)
    wanted = (options.body or {}).get("deleteOptions") or {}
    cluster.storage.delete(POD, where.namespace, where.name, wanted)
    return 201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _exec(cluster, where, options):
    """The location of a container for a command: kubectl's double connects to it directly, not through the API."""
    pod = cluster.storage.get(POD, where.namespace, where.name)
    names = [container["name"] for container in pod["spec"]["containers"]]
    name = options.params.get("container") or names[0]
    if name not in names:
        raise status.bad_request(f"container {name} is not valid for pod {where.name}")
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise status.plain(500, f"cannot exec into a container in a completed pod; current phase is {phase}")
    if not pod["spec"].get("nodeName"):
        raise status.bad_request(f"pod {where.name} does not have a host assigned")
    if phase != "Running":
        raise status.bad_request(f'container "{name}" not found in pod {where.name}')
    return 200, {"argv": cluster.runtime.exec_argv(pod, name)}


def _create(cluster, where, options):
    storage, thing = cluster.storage, dict(options.body or {})
    resource = where.resource
    if thing.get("kind") not in (None, resource.kind) or thing.get("apiVersion") not in (None, resource.api_version):
        raise status.bad_request(
            f'{thing.get("kind")} in version "{thing.get("apiVersion")}" cannot be handled as a {resource.kind}: no kind '
            f'"{thing.get("kind")}" is registered for version "{resource.api_version}"'
        )
    if "status" in resource.subresources and resource.kind not in (
        "Node",
        "PodDisruptionBudget",
        "DaemonSet",
        "Deployment",
    ):
        thing.pop("status", None)
    thing = with_defaults(resource, thing)
    with storage.lock:
        # Who is named as another is told that, whatever there is left to have.
        name = (thing.get("metadata") or {}).get("name")
        if name and storage.find(resource, where.namespace, name):
            raise status.already_exists(resource, name)
        admission.admit(storage, resource, where.namespace, thing, cluster.pod_refusal)
        if resource.key == POD.key:
            thing["status"] = {"phase": "Pending"}
        return 201, storage.create(resource, where.namespace, thing, options.dry_run)


def _write(storage, where, thing, options):
    resource = where.resource
    if where.subresource is None:
        thing = with_defaults(resource, thing)
        old = storage.get(resource, where.namespace, where.name)
        if resource.key == POD.key and _without_image(old) != _without_image(thing):
            message = (
                "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.tolerations` (only "
                "additions to existing tolerations)"
            )
            raise status.invalid(resource, where.name, [("FieldValueForbidden", "spec", message)])
    return 200, storage.replace(resource, where.namespace, where.name, thing, where.subresource, options.dry_run)


def _without_image(pod):
    spec = pod.get("spec") or {}
    containers = [{**container, "image": None} for container in spec.get("containers") or []]
    return {**spec, "containers": containers, "tolerations": None, "nodeName": None}


def _patch(storage, where, options):
    with storage.lock:
        custom = where.resource.group == MPIJOB_GROUP
        old = storage.get(where.resource, where.namespace, where.name)
        return _write(storage, where, patches.patched(old, options.body, options.media_type, custom), options)


def _deleted(resource, name, uid):
    details = {
        "name": name,
        "kind": resource.plural,
        "uid": uid,
        **({"group": resource.group} if resource.group else {}),
    }
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def _delete_options(options):
    wanted = dict(options.body or {})
    for key in ("propagationPolicy", "gracePeriodSeconds", "dryRun"):
        if key in options.params:
            wanted[key] = int(options.params[key]) if key == "gracePeriodSeconds" else options.params[key]
    return wanted


def _delete(storage, where, options):
    uid = storage.get(where.resource, where.namespace, where.name)["metadata"]["uid"]
    left = storage.delete(where.resource, where.namespace, where.name, _delete_options(options))
    return 200, left or _deleted(where.resource, where.name, uid)


def _list(storage, where, things):
    kind = where.resource.kind
    metadata = {"resourceVersion": storage.version()}
    return {"kind": f"{kind}List", "apiVersion": where.resource.api_version, "metadata": metadata, "items": things}


def perform(cluster, what, where, options):
    """Do what a request asks for. Returns the status and the body of the answer."""
    storage = cluster.storage
    if where.subresource == "exec":
        return _exec(cluster, where, options)
    if where.subresource == "eviction":
        return _evict(cluster, where, options)
    if what == "get":
        return 200, storage.get(where.resource, where.namespace, where.name)
    if what == "list":
        return 200, _list(storage, where, listed(storage, where, options.params))
    if what == "create":
        return _create(cluster, where, options)
    if what == "update":
        return _write(storage, where, dict(options.body or {}), options)
    if what == "patch":
        return _patch(storage, where, options)
    return _delete(storage, where, options)
