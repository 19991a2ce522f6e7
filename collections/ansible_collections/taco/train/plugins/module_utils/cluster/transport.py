# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests as an API server takes them, and the client of kubernetes.core that sends them."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils.cluster.failures import (
    ERRORS,
    MISSING,
    OTHER,
    RETRY,
    Trouble,
    trouble_of,
    unusable,
)

LIBRARY_MISSING = MISSING
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
    LIBRARY_MISSING = MISSING or str(error)

Resource = Mapping[str, Any]
METHODS = {"create": "POST", "patch": "PATCH", "delete": "DELETE"}
EXEC_SECONDS = 60.0


class Request(NamedTuple):
    """A request to the API server, with the verb and the resource of its RBAC rule."""

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
    return Watched(Request("list", kind, version, namespace, name), versions_of(known), labels)


def versions_of(objects: Sequence[Resource]) -> Dict[str, str]:
    return {one["metadata"]["uid"]: one["metadata"]["resourceVersion"] for one in objects}


def connect(access: Mapping[str, Any]) -> Any:
    """Return a client by the options of kubernetes.core. It asks nothing, since the paths of what we use are known."""
    try:
        configuration = _create_configuration(_create_auth_spec(**access))
    except (OSError, ValueError, TypeError, AttributeError, LookupError) as error:
        raise unusable(error) from error
    # urllib3 must not retry a write: callers read the object before they repeat the request.
    configuration.retries = False
    client = kubernetes.client.ApiClient(configuration)
    for name, value in _create_headers(**access).items():
        _set_header(client, name, value)
    dynamic: Any = kubernetes.dynamic.DynamicClient
    return dynamic(client, discoverer=lambda _client, _cache: None)


def execute(client: Any, request: Request, container: str, argv: List[str], ended: Any) -> None:
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
