# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say what kind of trouble a failed module of kubernetes.core met. Values in, values out.

The modules put the API server's answer, a Status object, into their message in several ways: as text, as the text of bytes,
and inside a traceback when they crash on it, as they do on everything that goes wrong while they look at what the server
serves (kubernetes.core 6.2).
"""

import ast
import json
import re
from typing import Any, Iterable, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes import certificate

# The kinds of trouble. RETRY and UNREACHABLE may pass by themselves, the others want a person.
RETRY, UNREACHABLE = "retry", "unreachable"
FORBIDDEN, UNAUTHORIZED, QUOTA = "forbidden", "unauthorized", "quota"
CONFLICT, NOT_FOUND, INVALID, NOT_SERVED = "conflict", "not found", "invalid", "not served"
CONFIG, LIBRARY, CERTIFICATE, OTHER = "config", "library", "certificate", "other"

_STATUS_KINDS = {
    400: INVALID,
    401: UNAUTHORIZED,
    404: NOT_FOUND,
    408: RETRY,
    409: CONFLICT,
    422: INVALID,
    429: RETRY,
    500: RETRY,
    502: RETRY,
    503: RETRY,
    504: RETRY,
}
# Where an API server's words are not to be found, by what the client says. The first that fits counts.
_WORDS = (
    (
        LIBRARY,
        r"Failed to import the required Python library|No module named '?kubernetes|module kubernetes\.core\.\S+ was not found",
    ),
    (
        CONFIG,
        r"Invalid kube-config|Could not create API client|No configuration found|Service host/port is not set"
        r"|Expected object with name .* in .*(contexts|clusters|users) list|error reading kubeconfig",
    ),
    (CERTIFICATE, certificate.WORDS),
    (
        UNREACHABLE,
        r"Failed to establish a new connection|Connection refused|No route to host|Name or service not known"
        r"|Temporary failure in name resolution|getaddrinfo|ConnectTimeout|LocationParseError|Network is unreachable",
    ),
    (
        RETRY,
        r"Connection aborted|RemoteDisconnected|Connection reset|Connection broken|Broken pipe|IncompleteRead|ProtocolError"
        r"|Read timed out|ReadTimeoutError|EOF occurred|SSLError"
        # What the client makes of a connection that was cut while it asked what the server serves, if that isn't over TLS.
        r"|should start with https:// when talking to HTTPS endpoint",
    ),
    (NOT_SERVED, r"Failed to find (exact match|API) for"),
)
_BYTES = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")
_CODE = re.compile(r"(?<![0-9])([45][0-9]{2})\)?\s+Reason:")
_RETRY_AFTER = re.compile(r"[Rr]etry-[Aa]fter['\"]?:\s*['\"]?([0-9]+)")
_FORBIDDEN = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]*)"| at the cluster scope)?'
)
_QUOTA = re.compile(r"exceeded quota: (?P<quota>[^,]+), (?P<amounts>.*)", re.DOTALL)
_ADDRESS = re.compile(r"host='(?P<host>[^']+)', port=(?P<port>[0-9]+)")
# What an exception has as its second argument: the exception that it comes from.
_INNER = re.compile(r"""['"], \w+\((?:\d+, )?(?P<quote>['"])(?P<said>.*?)(?P=quote)\)""")
_PREFIX = re.compile(r"^(Task failed: )?(Module failed: )?")
# As many as the message of an event may have, so that none is cut.
MOST_LETTERS = 1024


class Trouble(NamedTuple):
    """What kept a module from doing its work."""

    kind: str
    said: str
    """What the server, or the client where no server answered, said; one line."""
    code: int | None = None
    """Of HTTP."""
    retry_after: float | None = None
    """Seconds that the server asked to wait for."""
    details: Mapping[str, str] = {}
    """Of a refusal user, verb, resource, group and namespace; of a quota quota and amounts; of a lost way address."""

    worked: bool = False
    """Whether the same was permitted before: a server that has just started refuses what it permits a moment later."""

    @property
    def passes(self) -> bool:
        """Whether it may be gone when the call is made again."""
        return self.kind in (RETRY, UNREACHABLE) or (self.kind == FORBIDDEN and self.worked)


def one_line(text: Any) -> str:
    """Return a text as one line. Of a long one the middle is left out: an error ends with its first cause."""
    line = " ".join(str(text or "").split()).rstrip(".")
    half = (MOST_LETTERS - 5) // 2
    return line if len(line) <= MOST_LETTERS else f"{line[:half]} ... {line[-half:]}"


def _text(value: Any) -> str:
    """Return a part of a result as text. Of an exception ansible-core 2.19 and newer hands on an object with its events."""
    event, parts = getattr(value, "event", None), []
    while event is not None:
        parts += [event.msg, event.formatted_traceback]
        event = event.chain.event if event.chain else None
    return "\n".join(filter(None, parts)) or str(value)


def _texts(result: Mapping[str, Any]) -> list[str]:
    """Return everything in which a module, or what ran it, may have put the error."""
    found = [
        _text(result[key]) for key in ("msg", "module_stderr", "module_stdout", "exception", "error") if result.get(key)
    ]
    decoded = []
    for text in found:
        for literal in _BYTES.findall(text):
            try:
                decoded.append(ast.literal_eval(literal).decode("utf-8", "replace"))
            except (ValueError, SyntaxError):
                continue
    return [*decoded, *found]


def _objects(text: str) -> Iterable[Any]:
    reader = json.JSONDecoder()
    for start in (match.start() for match in re.finditer(r'\{\s*"', text)):
        try:
            yield reader.raw_decode(text, start)[0]
        except ValueError:
            continue


def _status(texts: list[str]) -> Mapping[str, Any] | None:
    """Return the API server's answer, or None when there is none."""
    for text in texts:
        for found in _objects(text):
            if isinstance(found, dict) and found.get("kind") == "Status" and found.get("status") != "Success":
                return found
    return None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(status: Mapping[str, Any], texts: list[str]) -> float | None:
    asked = _number((status.get("details") or {}).get("retryAfterSeconds"))
    if asked:
        return float(asked)
    header = next((match for match in map(_RETRY_AFTER.search, texts) if match), None)
    return float(header.group(1)) if header else None


def _refused(said: str, code: int | None, retry_after: float | None) -> Trouble:
    """Return what a 403 means: a permission, a quota, or something that only the server knows."""
    quota = _QUOTA.search(said)
    if quota:
        return Trouble(QUOTA, said, code, retry_after, quota.groupdict())
    known = _FORBIDDEN.search(said)
    details = {key: value for key, value in known.groupdict().items() if value is not None} if known else {}
    return Trouble(FORBIDDEN, said, code, retry_after, details)


def _causes(status: Mapping[str, Any]) -> str:
    """Return what the server found wrong with an object, field by field, when its message doesn't say it."""
    causes = (status.get("details") or {}).get("causes") or []
    said = [f"{cause.get('field')}: {cause.get('message')}" for cause in causes if cause.get("message")]
    message = str(status.get("message") or "")
    missing = [cause for cause in said if cause.partition(": ")[2] not in message]
    return f" ({'; '.join(missing)})" if missing else ""


def trouble(result: Mapping[str, Any]) -> Trouble | None:
    """Return what a module's result says went wrong, or None when nothing did."""
    if not result.get("failed"):
        return None
    texts = _texts(result)
    whole = "\n".join(texts)
    status = _status(texts) or {}
    written = _CODE.search(whole)
    code = _number(status.get("code")) or (int(written.group(1)) if written else None)
    retry_after = _seconds(status, texts)
    said = one_line(str(status.get("message") or result.get("msg") or whole) + (_causes(status) if status else ""))
    # Of the log of a pod the module hands on the server's words alone.
    if code == 403 or (code is None and (_FORBIDDEN.search(said) or _QUOTA.search(said))):
        return _refused(said, code, retry_after)
    if code in _STATUS_KINDS:
        return Trouble(_STATUS_KINDS[code], said, code, retry_after)
    for kind, words in _WORDS:
        match = re.search(words, whole)
        if match:
            address = _ADDRESS.search(whole)
            return Trouble(kind, _around(whole, match, kind), code, retry_after, address.groupdict() if address else {})
    return Trouble(OTHER, said, code, retry_after)


def _around(text: str, match: "re.Match[str]", kind: str) -> str:
    """Return the words around a match: of a connection those up to the end of the exception that has them, else their line."""
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    line = text[start : end if end >= 0 else None]
    if kind == CERTIFICATE:
        return one_line(certificate.openssl(line) or _PREFIX.sub("", line))
    if kind in (RETRY, UNREACHABLE):
        return one_line(_exception(line, match.start() - start))
    return one_line(_PREFIX.sub("", line))


def _enclosing(line: str, at: int) -> str:
    """Return the quote that encloses a place of a line, empty where none does. An apostrophe is none."""
    quote = ""
    for index, letter in enumerate(line[:at]):
        before = line[index - 1] if index else "("
        if letter == quote and before != "\\":
            quote = ""
        elif not quote and letter in "'\"" and before in "([{,= ":
            quote = letter
    return quote


def _exception(line: str, at: int) -> str:
    """Return what an exception says from a place on. It may be quoted, as in tuples, and be followed by its own cause."""
    quote, depth = _enclosing(line, at), 0
    for index in range(at, len(line)):
        letter = line[index]
        depth += (letter == "(") - (letter == ")")
        if (quote and letter == quote and line[index - 1] != "\\") or depth < 0:
            inner = _INNER.match(line, index)
            return f"{line[at:index].rstrip('.')}: {inner['said']}" if inner else line[at:index]
    return line[at:]
