# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What keeps a request to an API server from its answer, by the status and the body of the answer, or by the exception."""

import binascii
import json
import re
import ssl
from typing import Any, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster import certificate

# Without the library there are no requests, and so none of its exceptions.
CONFIG_ERRORS: Tuple[Any, ...] = ()
ERRORS: Tuple[Any, ...] = ()
MISSING = ""
try:
    import urllib3
    import yaml
    from kubernetes.client import ApiException
    from kubernetes.config import ConfigException

    from ansible_collections.kubernetes.core.plugins.module_utils.k8s.exceptions import CoreException

    CONFIG_ERRORS = (ConfigException, CoreException, yaml.YAMLError)
    # OSError: connections, and files that the kubeconfig names. ValueError: addresses, and answers that are no JSON.
    ERRORS = (ApiException, urllib3.exceptions.HTTPError, OSError, ValueError, *CONFIG_ERRORS)
except ImportError as error:
    MISSING = str(error)

# RETRY and UNREACHABLE may pass by themselves, the others want a person.
RETRY, UNREACHABLE = "retry", "unreachable"
FORBIDDEN, UNAUTHORIZED, QUOTA = "forbidden", "unauthorized", "quota"
CONFLICT, NOT_FOUND, INVALID, NOT_SERVED = "conflict", "not found", "invalid", "not served"
CONFIG, LIBRARY, CERTIFICATE, GONE, OTHER = "config", "library", "certificate", "gone", "other"

_KINDS = {
    400: INVALID,
    401: UNAUTHORIZED,
    404: NOT_FOUND,
    408: RETRY,
    409: CONFLICT,
    410: GONE,
    422: INVALID,
    429: RETRY,
    500: RETRY,
    502: RETRY,
    503: RETRY,
    504: RETRY,
}
# What an API server answers where nothing is served below a path.
_NOT_SERVED = "404 page not found"
_USER = re.compile(r'User "(?P<user>[^"]*)" cannot ')
_QUOTA = re.compile(r"exceeded quota: (?P<quota>[^,]+), (?P<amounts>.*)", re.DOTALL)
# The object that an exception of urllib3 is about, before its words.
_OBJECT = re.compile(r"^(?:<[^>]*>|\w+\([^()]*\)): ")
_ERRNO = re.compile(r"\[Errno -?[0-9]+\] ")
_NO_SERVER = (
    "check that the server in taco_kubeconfig is an API server, and that no proxy and no login page answers for it"
)
_SHOWN_LETTERS = 80
# As many as the message of an event may have, so that none is cut.
MOST_LETTERS = 1024


class Trouble(NamedTuple):
    """What kept a request from its answer."""

    kind: str
    said: str
    """The message of the server, or of the client where no server answered; one line."""
    code: Optional[int] = None
    """Of HTTP."""
    retry_after: Optional[float] = None
    """Seconds that the server asked to wait for."""
    details: Mapping[str, str] = {}
    """Of a missing permission the user; of a quota its name and the amounts."""
    worked: bool = False
    """Whether the same was permitted before: a server that has just started refuses what it permits a moment later."""

    @property
    def passes(self) -> bool:
        """Whether it may be gone when the request is made again."""
        return self.kind in (RETRY, UNREACHABLE) or (self.kind == FORBIDDEN and self.worked)


def one_line(text: Any) -> str:
    """Return a text as one line. Of a long one the middle is left out: an error ends with its first cause."""
    plain = "".join(letter if letter.isprintable() else " " for letter in str(text or ""))
    line = _ERRNO.sub("", " ".join(plain.split()).rstrip("."))
    half = (MOST_LETTERS - 5) // 2
    return line if len(line) <= MOST_LETTERS else f"{line[:half]} ... {line[-half:]}"


def object_of(text: str) -> Any:
    """Return the object in an answer; raise ValueError where there is none, such as in a page."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"the answer is no object, it begins with {one_line(text[:_SHOWN_LETTERS])!r}: {_NO_SERVER}")
    return found


def trouble_of(error: BaseException) -> Trouble:
    """Return what an exception of a request means."""
    if isinstance(error, CONFIG_ERRORS):
        return Trouble(CONFIG, _config(error))
    # The client hides what happened to a connection behind a status 0, once or twice.
    while isinstance(error, ApiException) and not error.status and error.__context__ is not None:
        error = error.__context__
    if isinstance(error, ApiException) and error.status:
        return answered(error.status, error.body, error.headers)
    code = getattr(error, "status_code", None)
    if code:
        return answered(code, getattr(error, "resp_body", None), getattr(error, "resp_headers", None))
    return _lost(error)


def _config(error: BaseException) -> str:
    """Return what is wrong with a kubeconfig, without a line of its content."""
    mark = getattr(error, "problem_mark", None)
    if isinstance(error, yaml.YAMLError):
        return "it is no YAML" + (f": see line {mark.line + 1}" if mark else "")
    return one_line(error)


def unusable(error: Exception) -> Any:
    """Return the exception of the client for a kubeconfig on which it fails otherwise, without a line of its content."""
    if isinstance(error, OSError):
        return ConfigException(f"{error.filename or 'a file that it names'}: {error.strerror or type(error).__name__}")
    if isinstance(error, UnicodeError):
        return ConfigException("it is no text in UTF-8")
    if isinstance(error, binascii.Error):
        return ConfigException("a certificate or key in it is no base64")
    return ConfigException("its content is no kubeconfig, or an address there or in the access options is wrong")


def _status(body: Any) -> Mapping[str, Any]:
    """Return the Status object of an answer, empty when it has none."""
    try:
        found = json.loads(body)
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("kind") == "Status" else {}


def _text(body: Any) -> str:
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body or "")


def _seconds(status: Mapping[str, Any], headers: Any) -> Optional[float]:
    asked = (status.get("details") or {}).get("retryAfterSeconds") or (headers or {}).get("Retry-After")
    return float(str(asked)) if str(asked).isdecimal() else None


def _causes(status: Mapping[str, Any]) -> str:
    """Return what the server found wrong with an object, field by field, when its message doesn't say it."""
    causes = (status.get("details") or {}).get("causes") or []
    message = str(status.get("message") or "")
    missing = [
        f"{cause.get('field')}: {cause['message']}"
        for cause in causes
        if cause.get("message") and cause["message"] not in message
    ]
    return f" ({'; '.join(missing)})" if missing else ""


def answered(code: int, body: Any, headers: Any) -> Trouble:
    """Return what an answer of the server means that is no success."""
    status = _status(body)
    said = one_line((status.get("message") or _text(body) or f"HTTP status {code}") + _causes(status))
    retry_after = _seconds(status, headers)
    if code == 403:
        quota, user = _QUOTA.search(said), _USER.search(said)
        details = quota.groupdict() if quota else user.groupdict() if user else {}
        return Trouble(QUOTA if quota else FORBIDDEN, said, code, retry_after, details)
    # Of an object that isn't there the server says which. A proxy has other words.
    if code == 404 and not (status.get("details") or {}).get("name"):
        return Trouble(NOT_SERVED if status or said == _NOT_SERVED else OTHER, said, code)
    if 300 <= code < 400:
        return Trouble(OTHER, f"it answers with HTTP status {code}: {_NO_SERVER}", code)
    if code == 400 and not status and "HTTPS server" in said:
        return Trouble(CERTIFICATE, said, code)
    return Trouble(_KINDS.get(code, OTHER), said, code, retry_after)


def _lost(error: BaseException) -> Trouble:
    """Return what happened to a connection on which nothing was answered."""
    # The second argument of a connection that was aborted is what happened to it.
    words = error.args[-1] if isinstance(error, urllib3.exceptions.ProtocolError) and error.args else error
    said = one_line(_OBJECT.sub("", str(words)))
    if isinstance(error, urllib3.exceptions.SSLError) and error.args and isinstance(error.args[0], BaseException):
        error = error.args[0]
    # A certificate or a key that isn't there is found when the connection is prepared.
    no_file = isinstance(error, FileNotFoundError) or "TLS CA certificate bundle" in said
    if no_file or (isinstance(error, (ssl.SSLError, ssl.CertificateError)) and not isinstance(error, ssl.SSLEOFError)):
        return Trouble(CERTIFICATE, one_line(certificate.openssl(str(error)) or error))
    never = (
        urllib3.exceptions.NewConnectionError,
        urllib3.exceptions.ConnectTimeoutError,
        urllib3.exceptions.LocationParseError,
        urllib3.exceptions.ProxyError,
        ConnectionRefusedError,
    )
    if isinstance(error, never):
        return Trouble(UNREACHABLE, said)
    if isinstance(error, (urllib3.exceptions.HTTPError, OSError)) or "WebSocket" in type(error).__name__:
        return Trouble(RETRY, said or type(error).__name__)
    return Trouble(OTHER, said or type(error).__name__)
