# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask the API server of a cluster, so that trouble that passes is waited out, and other trouble says what helps."""

import queue
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Clock, ProgressLines, wait_seconds
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import (
    CONFLICT,
    ERRORS,
    FORBIDDEN,
    INVALID,
    LIBRARY,
    NOT_FOUND,
    NOT_SERVED,
    OTHER,
    RETRY,
    UNREACHABLE,
    Trouble,
    object_of,
    trouble_of,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.logs import is_waiting
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import sentence
from ansible_collections.taco.train.plugins.module_utils.cluster.transport import (
    EXEC_SECONDS,
    LIBRARY_MISSING,
    METHODS,
    Request,
    Resource,
    connect,
    execute,
)

__all__ = ["Client", "KubernetesError", "Request", "Resource"]
POD_TRIES = 3
CONNECT_SECONDS = 10.0
# An answer of which nothing comes for so long is not waited for.
READ_SECONDS = 60.0


class KubernetesError(Exception):
    """A request that can't be made, or not now."""

    def __init__(self, message: str, cause: Trouble) -> None:
        super().__init__(message)
        self.trouble = cause


class Client:
    """A cluster as it is seen from this machine."""

    def __init__(self, access: Mapping[str, Any], progress_file: Optional[str] = None) -> None:
        """access are the options of kubernetes.core by which the server is reached."""
        self.access = {name: value for name, value in access.items() if value not in (None, "")}
        self.clock = Clock()
        self.progress = ProgressLines(progress_file)
        self.lines = self.progress.lines
        """What was seen on the way, for people."""
        self.connection: Any = None
        self.reached = False
        self.permitted: Set[Request] = set()
        """The requests that have succeeded, by what permissions tell apart."""

    def say(self, line: str) -> None:
        self.progress.say(line)

    def error(self, doing: str, cause: Trouble, request: Request) -> KubernetesError:
        server = self.connection.configuration.host if self.connection else ""
        return KubernetesError(sentence(doing, cause, request, self.access.get("kubeconfig"), server), cause)

    def pause(self, failures: int, doing: str, cause: Trouble, request: Request) -> None:
        """Wait before another try, or raise when there should be none."""
        # What never answered is rather wrong than overloaded.
        hopeless = not cause.passes or (cause.kind == UNREACHABLE and not self.reached)
        seconds = None if hopeless else wait_seconds(failures, cause.retry_after, self.clock.chance())
        if seconds is None:
            raise self.error(doing, cause, request)
        self.say(f"{cause.said}; trying again in {max(1.0, seconds):.0f} s")
        self.clock.sleep(seconds)

    def attempt(
        self, request: Request, body: Any = None, query: Sequence[Tuple[str, str]] = ()
    ) -> Tuple[Any, Optional[Trouble]]:
        """Make a request once and return its answer, or why there is none."""
        if LIBRARY_MISSING:
            return None, Trouble(LIBRARY, LIBRARY_MISSING)
        try:
            answer, cause = self._answer(request, body, query), None
        except ERRORS as error:
            answer, cause = None, trouble_of(error)
        return answer, self._known(request, cause)

    def _known(self, request: Request, cause: Optional[Trouble]) -> Optional[Trouble]:
        """Remember what worked, and return a failure with whether it did before."""
        # Any answer of the server counts, also one that says no.
        self.reached = self.reached or cause is None or cause.code is not None
        permission = request._replace(name=None)
        if cause is None:
            self.permitted.add(permission)
        return cause and cause._replace(worked=permission in self.permitted)

    def _answer(self, request: Request, body: Any, query: Sequence[Tuple[str, str]]) -> Any:
        text = self.send(request, body, query).data.decode("utf-8", "replace")
        return text if request.subresource == "log" else object_of(text)

    def send(self, request: Request, body: Any, query: Sequence[Tuple[str, str]], seconds: float = READ_SECONDS) -> Any:
        self.connection = self.connection or connect(self.access)
        kind = "application/merge-patch+json" if request.verb == "patch" else "application/json"
        return self.connection.request(
            METHODS.get(request.verb, "GET"),
            request.path,
            body=body,
            query_params=list(query),
            content_type=kind,
            serialize=False,
            _request_timeout=(CONNECT_SECONDS, seconds),
        )

    def call(self, request: Request, doing: str, body: Any = None, query: Sequence[Tuple[str, str]] = ()) -> Any:
        """Make a request that does no harm when it is made again, until it is answered."""
        failures = 0
        while True:
            answer, cause = self.attempt(request, body, query)
            if cause is None:
                return answer
            failures += 1
            self.pause(failures, doing, cause, request)

    def read(
        self,
        kind: str,
        version: str,
        name: Optional[str] = None,
        namespace: Optional[str] = None,
        labels: str = "",
        fields: str = "",
    ) -> Optional[List[Resource]]:
        """Return the objects that there are, or None when the cluster doesn't serve their kind."""
        request = Request("get" if name else "list", kind, version, namespace, name)
        query = [(key, value) for key, value in (("labelSelector", labels), ("fieldSelector", fields)) if value]
        what = f"{kind} {name}" if name else f"{kind}s"
        try:
            answer = self.call(request, f"read {what}{_where(namespace)}", query=query)
        except KubernetesError as error:
            if error.trouble.kind == NOT_SERVED:
                return None
            if error.trouble.kind == NOT_FOUND and name:
                return []
            raise
        found = [answer] if name else answer.get("items") or []
        # Of the objects of a list the server says this once for all.
        return [{**one, "kind": kind, "apiVersion": version} for one in found]

    def find(self, kind: str, version: str, name: str, namespace: Optional[str] = None) -> Optional[Resource]:
        """Return one object, or None when there is none."""
        found = self.read(kind, version, name, namespace)
        return found[0] if found else None

    def create(self, resource: Resource) -> Resource:
        """Create an object and return it as the cluster has it, which may be another's when that one was faster.

        Where an answer is lost nobody knows whether the object was made. So it is read, and made again only when it isn't there.
        """
        name, namespace = resource["metadata"]["name"], resource["metadata"].get("namespace")
        request = Request("create", resource["kind"], resource["apiVersion"], namespace)
        doing = f"create {resource['kind']} {name}{_where(namespace)}"
        failures = 0
        while True:
            made, cause = self.attempt(request, dict(resource))
            if cause is None:
                return dict(made)
            if cause.passes or cause.kind == CONFLICT:
                found = self.find(resource["kind"], resource["apiVersion"], name, namespace)
                if found is not None:
                    return found
            if cause.kind == CONFLICT:
                cause = Trouble(RETRY, f"it says that there is a {name}, and doesn't have it")
            failures += 1
            self.pause(failures, doing, cause, request)

    def change(self, patch: Resource, doing: Optional[str] = None) -> Resource:
        """Change an object that is there, and return it as it is then, empty where it is gone. What the patch doesn't name stays.

        A resourceVersion in the patch makes the change a conflict when the object isn't that version any more.
        """
        metadata = patch["metadata"]
        request = Request("patch", patch["kind"], patch["apiVersion"], metadata.get("namespace"), metadata["name"])
        doing = doing or f"change {patch['kind']} {metadata['name']}{_where(metadata.get('namespace'))}"
        try:
            return dict(self.call(request, doing, dict(patch)))
        except KubernetesError as error:
            if error.trouble.kind != NOT_FOUND:
                raise
            return {}

    def delete(self, resource: Resource) -> None:
        """Delete an object and its dependents, if it is still the one that was read. An object that is gone is deleted."""
        metadata = resource["metadata"]
        namespace = metadata.get("namespace")
        request = Request("delete", resource["kind"], resource["apiVersion"], namespace, metadata["name"])
        options = {"propagationPolicy": "Foreground", "preconditions": {"uid": metadata["uid"]}}
        failures = 0
        while True:
            _answer, cause = self.attempt(request, options)
            if cause is None or cause.kind == NOT_FOUND or (cause.kind == CONFLICT and not self._exists(resource)):
                return
            failures += 1
            self.pause(failures, f"delete {resource['kind']} {metadata['name']}{_where(namespace)}", cause, request)

    def evict(self, pod: Resource, grace: Optional[int]) -> Optional[Trouble]:
        """Have a pod deleted if its budgets allow that, and return why it was not; raise what does not pass."""
        metadata = pod["metadata"]
        request = Request("create", "Pod", "v1", metadata["namespace"], metadata["name"], "eviction")
        options: Dict[str, Any] = {"preconditions": {"uid": metadata["uid"]}}
        options.update({} if grace is None else {"gracePeriodSeconds": grace})
        names = {"name": metadata["name"], "namespace": metadata["namespace"]}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": names, "deleteOptions": options}
        _answer, cause = self.attempt(request, body)
        if cause is None or cause.kind in (NOT_FOUND, CONFLICT):
            return None
        if not cause.passes and cause.kind != INVALID:
            raise self.error(f"evict the pod {metadata['name']}{_where(metadata['namespace'])}", cause, request)
        return cause

    def _exists(self, resource: Resource) -> bool:
        """Whether an object is still there, and not another one of its name."""
        metadata = resource["metadata"]
        current = self.find(resource["kind"], resource["apiVersion"], metadata["name"], metadata.get("namespace"))
        return current is not None and current["metadata"].get("uid") == metadata.get("uid")

    # What the kubelet of a pod answers.

    def log(self, pod: str, namespace: str, container: str) -> Tuple[Optional[str], Optional[Trouble]]:
        """Return what a container has printed, or why that can't be had."""
        request = Request("get", "Pod", "v1", namespace, pod, "log")
        return self._ask_kubelet(lambda: self.attempt(request, query=[("container", container)]))

    def _ask_kubelet(self, ask: Callable[[], Tuple[Any, Optional[Trouble]]]) -> Tuple[Any, Optional[Trouble]]:
        """Ask a few times."""
        for tries in range(1, POD_TRIES + 1):
            answer, cause = ask()
            # What the server says of a kubelet that doesn't answer has no status by which one would know that it may pass.
            if cause is None or not (cause.passes or cause.kind == OTHER) or is_waiting(cause):
                break
            if tries < POD_TRIES:
                self.clock.sleep(wait_seconds(tries, cause.retry_after, self.clock.chance()) or 0)
        return answer, cause

    def execute_in(self, pod: str, namespace: str, container: str, argv: Sequence[str]) -> Tuple[str, Optional[str]]:
        """The output of a command in a container, and why there is none."""
        request = Request("create", "Pod", "v1", namespace, pod, "exec")
        output, cause = self._ask_kubelet(lambda: self._execute(request, container, argv))
        if cause is not None and cause.kind == FORBIDDEN:
            raise self.error(
                f"run a command in the pod {pod} of the namespace {namespace} to see whether work runs in it",
                cause,
                request,
            )
        return (output or "", None) if cause is None else ("", cause.said)

    def _execute(
        self, request: Request, container: str, argv: Sequence[str]
    ) -> Tuple[Optional[str], Optional[Trouble]]:
        """Run a command once. The client sets no limit to the time that a handshake takes."""
        ended: queue.Queue[Any] = queue.Queue()
        self.connection = self.connection or connect(self.access)
        arguments = (self.connection.client, request, container, list(argv), ended)
        threading.Thread(target=execute, args=arguments, daemon=True).start()
        try:
            output, cause = ended.get(timeout=EXEC_SECONDS)
        except queue.Empty:
            output, cause = None, Trouble(RETRY, f"the command has not ended in {EXEC_SECONDS:.0f} s")
        return output, self._known(request, cause)


def _where(namespace: Optional[str]) -> str:
    return f" in the namespace {namespace}" if namespace else ""
