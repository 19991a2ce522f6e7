# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Call the modules of kubernetes.core so that trouble that passes is waited out, and other trouble says what helps."""

import math
import shlex
import uuid
from typing import Any, Callable, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.clock import Clock, wait_seconds
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import (
    CONFLICT,
    FORBIDDEN,
    INVALID,
    NOT_FOUND,
    OTHER,
    RETRY,
    UNREACHABLE,
    Trouble,
    trouble,
)
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.logs import is_waiting
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.messages import exec_forbidden, sentence
from ansible_collections.taco.train.plugins.plugin_utils.progress import duration

Thing = Mapping[str, Any]
# The module that waits for changes where it gets objects to watch.
WATCH = "kubernetes_info"
MODULES = {name: f"kubernetes.core.{name}" for name in ("k8s", "k8s_exec", "k8s_info", "k8s_log")}
MODULES[WATCH] = f"taco.train.{WATCH}"
POD_TRIES = 3
# Without a change one looks again after this, since some reasons are told by events alone.
MOST_WATCH_SECONDS = 20.0


class KubernetesError(Exception):
    """A call that can't be made, or not now."""

    def __init__(self, message: str, cause: Trouble | None = None) -> None:
        super().__init__(message)
        self.trouble = cause


def watched(kind: str, version: str, known: Sequence[Thing], **selection: str | None) -> dict[str, Any]:
    """Return what to wait for a change of; selection is name, namespace or label_selector, known the objects as they were read."""
    metadata = [thing["metadata"] for thing in known]
    versions = {one["uid"]: one["resourceVersion"] for one in metadata}
    return {"kind": kind, "api_version": version, "versions": versions, **selection}


def _permission(module: str, options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what calls that need the same permission have in common."""
    given = options.get("resource_definition") or options
    things = given if isinstance(given, list) else [given]
    kinds = [(thing.get("kind"), (thing.get("metadata") or thing).get("namespace")) for thing in things]
    return (module, options.get("state"), bool(options.get("name")), *kinds)


class Cluster:
    """A cluster as it is seen from one host."""

    def __init__(
        self,
        execute: Callable[[str, dict[str, Any]], Mapping[str, Any]],
        host: str,
        access: Mapping[str, Any],
        say: Callable[[str], None],
        clock: Clock | None = None,
    ) -> None:
        """execute runs a module with its options and returns its result; access are the options that all modules get."""
        self.execute, self.host, self.access, self.say = execute, host, dict(access), say
        self.clock = clock or Clock()
        self.reached = False
        self.permitted: set[tuple[Any, ...]] = set()
        """The calls that have succeeded, by what permissions tell apart."""

    def error(self, doing: str, cause: Trouble) -> KubernetesError:
        return KubernetesError(sentence(self.host, doing, cause, self.access.get("kubeconfig")), cause)

    def pause(self, failures: int, doing: str, cause: Trouble) -> None:
        """Wait before another try, or raise when there should be none."""
        # What never answered is rather wrong than overloaded.
        hopeless = not cause.passes or (cause.kind == UNREACHABLE and not self.reached)
        seconds = None if hopeless else wait_seconds(failures, cause.retry_after, self.clock.chance())
        if seconds is None:
            raise self.error(doing, cause)
        self.say(f"{self.host}: {cause.said}; trying again in {duration(max(1.0, seconds))}")
        self.clock.sleep(seconds)

    def attempt(self, module: str, options: Mapping[str, Any]) -> tuple[Mapping[str, Any], Trouble | None]:
        """Call a module once."""
        access = {"access": self.access} if module == WATCH else self.access
        result = self.execute(MODULES[module], {**access, **options})
        cause = trouble(result)
        # Any answer of the server counts, also one that says no.
        self.reached = self.reached or cause is None or cause.code is not None
        permission = _permission(module, options)
        if cause is None:
            self.permitted.add(permission)
        return result, cause and cause._replace(worked=permission in self.permitted)

    def call(self, module: str, options: Mapping[str, Any], doing: str) -> Mapping[str, Any]:
        """Call a module that does no harm when it is called again, until it answers."""
        failures = 0
        while True:
            result, cause = self.attempt(module, options)
            if cause is None:
                return result
            failures += 1
            self.pause(failures, doing, cause)

    def wait_for_change(self, things: Sequence[Mapping[str, Any]], seconds: float, pause: float) -> bool:
        """Wait until one of the watched things isn't as it was read any more, or the time is over; return whether one isn't.

        It takes at least as long as the pause, since changes come in groups, and at most MOST_WATCH_SECONDS.
        """
        began = self.clock.now()
        kinds = dict.fromkeys(f"{thing['kind']}s" for thing in things)
        options = {"watched": list(things), "seconds": max(1, math.ceil(min(MOST_WATCH_SECONDS, seconds)))}
        result, cause = self.attempt(WATCH, options)
        if cause is not None and not cause.passes:
            raise self.error(f"watch {' and '.join(kinds)}", cause)
        # A proxy may refuse watches and nothing else. The caller reads the things again then.
        self.clock.sleep(max(0.0, pause - (self.clock.now() - began)))
        return cause is None and bool(result.get("differs"))

    def read(
        self,
        kind: str,
        version: str,
        name: str | None = None,
        namespace: str | None = None,
        labels: Sequence[str] = (),
        fields: Sequence[str] = (),
    ) -> list[Thing] | None:
        """Return the objects that there are, or None when the cluster doesn't know their kind."""
        options: dict[str, Any] = {"kind": kind, "api_version": version}
        given = {"name": name, "namespace": namespace, "label_selectors": list(labels), "field_selectors": list(fields)}
        options.update({key: value for key, value in given.items() if value})
        what = f"{kind} {name}" if name else f"{kind}s"
        where = f" in the namespace {namespace}" if namespace else ""
        result = self.call("k8s_info", options, f"read {what}{where}")
        return list(result.get("resources") or []) if result.get("api_found", True) else None

    def find(self, kind: str, version: str, name: str, namespace: str | None = None) -> Thing | None:
        """Return one object, or None when there is none."""
        found = self.read(kind, version, name, namespace)
        return found[0] if found else None

    def create(self, thing: Thing) -> Thing:
        """Create an object and return it as the cluster has it, which may be another's when that one was faster.

        Where an answer is lost, or is a conflict, which the module takes for success, nobody knows whether the object was made.
        So it is read, and made again only when it isn't there.
        """
        name, namespace = thing["metadata"]["name"], thing["metadata"].get("namespace")
        doing = f"create {thing['kind']} {name} in the namespace {namespace}"
        # The module would change an object that somebody else has created meanwhile. A uid can't be changed, and the server gives a
        # new object another one whatever is sent.
        definition = {**thing, "metadata": {**thing["metadata"], "uid": str(uuid.uuid4())}}
        failures = 0
        while True:
            _result, cause = self.attempt("k8s", {"state": "present", "resource_definition": definition})
            if cause is None or cause.passes or cause.kind in (CONFLICT, INVALID):
                found = self.find(thing["kind"], thing["apiVersion"], name, namespace)
                if found is not None:
                    return found
            failures += 1
            if cause is None or cause.kind == CONFLICT:
                cause = Trouble(RETRY, f"it says that {name} was created, and doesn't have it")
            self.pause(failures, doing, cause)

    def change(self, patch: Thing, doing: str | None = None) -> Thing:
        """Change an object that is there, and return it as it is then, empty where it is gone. What the patch doesn't name stays.

        A resourceVersion in the patch makes the change a conflict when the object isn't that version any more.
        """
        metadata = patch["metadata"]
        where = f" in the namespace {metadata['namespace']}" if metadata.get("namespace") else ""
        options = {"state": "patched", "merge_type": ["merge"], "resource_definition": dict(patch)}
        try:
            result = self.call("k8s", options, doing or f"change {patch['kind']} {metadata['name']}{where}")
        except KubernetesError as error:
            # The module reads the object before, and it may be deleted in between.
            if error.trouble is None or error.trouble.kind != NOT_FOUND:
                raise
            return {}
        return result.get("result") or {}

    def delete(self, thing: Thing) -> None:
        """Delete an object and its dependents, if it is still the one that was read. An object that is gone is deleted."""
        metadata = thing["metadata"]
        options = {
            "state": "absent",
            "kind": thing["kind"],
            "api_version": thing["apiVersion"],
            "name": metadata["name"],
            "namespace": metadata.get("namespace"),
            "delete_options": {"propagationPolicy": "Foreground"},
        }
        if metadata.get("uid"):
            options["delete_options"]["preconditions"] = {"uid": metadata["uid"]}
        doing = f"delete {thing['kind']} {metadata['name']} in the namespace {metadata.get('namespace')}"
        failures = 0
        while True:
            _result, cause = self.attempt("k8s", options)
            if cause is None or cause.kind == NOT_FOUND or (cause.kind == CONFLICT and not self._exists(thing)):
                return
            failures += 1
            self.pause(failures, doing, cause)

    def _exists(self, thing: Thing) -> bool:
        """Whether an object is still there, and not another one of its name."""
        metadata = thing["metadata"]
        current = self.find(thing["kind"], thing["apiVersion"], metadata["name"], metadata.get("namespace"))
        return current is not None and current["metadata"].get("uid") == metadata.get("uid")

    def log(self, pod: str, namespace: str, container: str) -> tuple[str | None, Trouble | None]:
        """Return what a container has printed, or why that can't be had."""
        result, cause = self._ask_kubelet("k8s_log", {"name": pod, "namespace": namespace, "container": container})
        return (None, cause) if cause else (str(result.get("log") or ""), None)

    def _ask_kubelet(self, module: str, options: Mapping[str, Any]) -> tuple[Mapping[str, Any], Trouble | None]:
        """Call a module that the kubelet of a pod answers, a few times."""
        for tries in range(1, POD_TRIES + 1):
            result, cause = self.attempt(module, options)
            # Of a kubelet that doesn't answer the module hands on the words only, in which nothing tells that they may pass.
            if cause is None or not (cause.passes or cause.kind == OTHER) or is_waiting(cause):
                break
            if tries < POD_TRIES:
                self.clock.sleep(wait_seconds(tries, cause.retry_after, self.clock.chance()) or 0)
        return result, cause

    def execute_in(self, pod: str, namespace: str, container: str, argv: Sequence[str]) -> tuple[str, str | None]:
        """The output of a command in a container, and why there is none."""
        options = {"pod": pod, "namespace": namespace, "container": container, "command": shlex.join(argv)}
        result, cause = self._ask_kubelet("k8s_exec", options)
        if cause is not None and cause.kind == FORBIDDEN:
            raise KubernetesError(exec_forbidden(self.host, pod, namespace, cause.said), cause)
        if cause is not None:
            return "", cause.said
        if result.get("rc"):
            return "", f"sh ended with status {result['rc']}: {' '.join(str(result.get('stderr')).split())}"
        return str(result.get("stdout") or ""), None
