# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask the API server of a cluster, so that trouble that passes is waited out, and other trouble says what helps."""

import queue
import threading
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Clock, wait_seconds
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import (
    CONFLICT,
    ERRORS,
    FORBIDDEN,
    GONE,
    INVALID,
    LIBRARY,
    MISSING,
    NOT_FOUND,
    NOT_SERVED,
    OTHER,
    RETRY,
    UNREACHABLE,
    Trouble,
    object_of,
    trouble_of,
    unusable,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.logs import is_waiting
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import sentence

try:
    import kubernetes.client
    import kubernetes.dynamic
    import kubernetes.stream

    from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import (
        _create_auth_spec,
        _create_configuration,
        _create_headers,
        _set_header,
    )
except ImportError as error:
    # Client says so when something is asked for.
    MISSING = MISSING or str(error)

Resource = Mapping[str, Any]
POD_TRIES = 3
CONNECT_SECONDS = 10.0
# An answer of which nothing comes for so long is not waited for.
READ_SECONDS = 60.0
EXEC_SECONDS = 60.0
# Without a change one looks again after this, since some reasons are told by events alone.
MOST_WATCH_SECONDS = 20.0
# A connection that was lost without a word is not waited for any longer than this beyond the time of the watch.
WATCH_GRACE_SECONDS = 5.0
METHODS = {"create": "POST", "patch": "PATCH", "delete": "DELETE"}


class KubernetesError(Exception):
    """A request that can't be made, or not now."""

    def __init__(self, message: str, cause: Trouble) -> None:
        super().__init__(message)
        self.trouble = cause


class Request(NamedTuple):
    """What is asked of an API server, as permissions call it."""

    verb: str
    kind: str
    version: str = "v1"
    namespace: Optional[str] = None
    name: Optional[str] = None
    subresource: str = ""

    @property
    def resource(self) -> str:
        return self.kind.lower() + "s" + (f"/{self.subresource}" if self.subresource else "")

    @property
    def group(self) -> str:
        return self.version.rpartition("/")[0]

    @property
    def path(self) -> str:
        base = "/apis/" if "/" in self.version else "/api/"
        place = f"/namespaces/{self.namespace}" if self.namespace else ""
        parts = [base + self.version + place, self.kind.lower() + "s", self.name, self.subresource]
        return "/".join(filter(None, parts))


class Watched(NamedTuple):
    """Objects to wait for a change of, and the versions that are known, by uid."""

    request: Request
    versions: Dict[str, str]
    labels: str = ""


def watched(
    kind: str,
    version: str,
    known: Sequence[Resource],
    namespace: Optional[str] = None,
    name: str = "",
    labels: str = "",
) -> Watched:
    """Return what to wait for a change of; known are the objects as they were read."""
    return Watched(Request("list", kind, version, namespace, name), _versions(known), labels)


def _versions(objects: Sequence[Resource]) -> Dict[str, str]:
    return {one["metadata"]["uid"]: one["metadata"]["resourceVersion"] for one in objects}


def connect(access: Mapping[str, Any]) -> Any:
    """Return a client by the options of kubernetes.core. It asks nothing, since the paths of what we use are known."""
    try:
        configuration = _create_configuration(_create_auth_spec(**access))
    except (OSError, ValueError, TypeError, AttributeError, LookupError) as error:
        raise unusable(error) from error
    # A request that changes something is only made again by whoever has looked what became of the first.
    configuration.retries = False
    client = kubernetes.client.ApiClient(configuration)
    for name, value in _create_headers(**access).items():
        _set_header(client, name, value)
    return kubernetes.dynamic.DynamicClient(client, discoverer=lambda _client, _cache: None)


class Client:
    """A cluster as it is seen from this machine."""

    def __init__(self, access: Mapping[str, Any]) -> None:
        """access are the options of kubernetes.core by which the server is reached."""
        self.access = {name: value for name, value in access.items() if value not in (None, "")}
        self.clock = Clock()
        self.lines: List[str] = []
        """What was seen on the way, for people."""
        self.connection: Any = None
        self.reached = False
        self.permitted: Set[Request] = set()
        """The requests that have succeeded, by what permissions tell apart."""

    def say(self, line: str) -> None:
        self.lines.append(line)

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
        if MISSING:
            return None, Trouble(LIBRARY, MISSING)
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
        text = self._send(request, body, query).data.decode("utf-8", "replace")
        return text if request.subresource == "log" else object_of(text)

    def _send(
        self, request: Request, body: Any, query: Sequence[Tuple[str, str]], seconds: float = READ_SECONDS
    ) -> Any:
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
        threading.Thread(target=_execute, args=arguments, daemon=True).start()
        try:
            output, cause = ended.get(timeout=EXEC_SECONDS)
        except queue.Empty:
            output, cause = None, Trouble(RETRY, f"the command has not ended in {EXEC_SECONDS:.0f} s")
        return output, self._known(request, cause)

    # Changes.

    def wait_for_change(self, objects: Sequence[Watched], seconds: float, pause: float) -> bool:
        """Wait until one of the objects isn't as it was read any more, or the time is over; return whether one isn't.

        It takes at least as long as the pause, since changes come in groups, and at most MOST_WATCH_SECONDS.
        """
        began = self.clock.now()
        limit = max(1, int(min(MOST_WATCH_SECONDS, seconds) + 0.999))
        ended: queue.Queue[Any] = queue.Queue()
        for one in objects:
            query = _selection(one)
            listed, cause = self.attempt(one.request._replace(name=None), query=query)
            if cause is not None:
                ended.put((one.request, cause))
                break
            if _versions(listed.get("items") or []) != one.versions:
                ended.put(True)
                break
            query += [("watch", "true"), ("resourceVersion", listed["metadata"]["resourceVersion"])]
            query.append(("timeoutSeconds", str(limit)))
            arguments = (self, one.request._replace(verb="watch", name=None), query, limit, ended)
            # A daemon: the module doesn't wait for the watches that are still open when it ends.
            threading.Thread(target=_follow, args=arguments, daemon=True).start()
        try:
            found = ended.get(timeout=limit + WATCH_GRACE_SECONDS)
        except queue.Empty:
            found = False
        if isinstance(found, tuple) and not found[1].passes:
            request, cause = found
            raise self.error(f"watch {request.kind}s", cause, request)
        # A proxy may refuse watches and nothing else. The caller reads the objects again then.
        self.clock.sleep(max(0.0, pause - (self.clock.now() - began)))
        return found is True


def _where(namespace: Optional[str]) -> str:
    return f" in the namespace {namespace}" if namespace else ""


def _selection(one: Watched) -> List[Tuple[str, str]]:
    given = (("labelSelector", one.labels), ("fieldSelector", one.request.name and f"metadata.name={one.request.name}"))
    return [(key, value) for key, value in given if value]


def _follow(client: Client, request: Request, query: List[Tuple[str, str]], limit: float, ended: Any) -> None:
    """Put into a queue how a watch ended: True for a change, False when the time was over or the way was lost, or the trouble."""
    try:
        response = client._send(request, None, query, limit + WATCH_GRACE_SECONDS)
        ended.put(bool(next(response.stream(1 << 16), b"")))
    except ERRORS as error:
        cause = trouble_of(error)
        # What is watched from is no longer kept, so there were changes.
        ended.put(True if cause.kind == GONE else (request, cause) if cause.code else False)


def _execute(client: Any, request: Request, container: str, argv: List[str], ended: Any) -> None:
    """Put into a queue the output of a command and None, or None and the trouble."""
    api = kubernetes.client.CoreV1Api(client)
    try:
        process = kubernetes.stream.stream(
            api.connect_get_namespaced_pod_exec,
            request.name,
            request.namespace,
            container=container,
            command=argv,
            stdout=True,
            stderr=True,
            stdin=False,
            tty=False,
            _preload_content=False,
        )
        process.run_forever(timeout=EXEC_SECONDS)
        status = process.returncode
    except ERRORS as error:
        ended.put((None, trouble_of(error)))
        return
    except (KeyError, IndexError, TypeError):
        ended.put((None, Trouble(RETRY, "the connection was lost before the command had ended")))
        return
    if status:
        words = " ".join(process.read_stderr().split())
        ended.put((None, Trouble(OTHER, f"{argv[0]} ended with status {status}: {words}")))
    else:
        ended.put((process.read_stdout(), None))
