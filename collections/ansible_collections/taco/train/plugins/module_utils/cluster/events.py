# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The warnings that a cluster records as events. Values in, values out."""

import re
from typing import Any, FrozenSet, Iterable, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster.failures import one_line

# FailedScheduling: the pod's own condition says it, as long as it holds. The restart policy of the template: the operator
# replaces it by the one of the job, and nothing follows from it.
_LEFT_OUT = ("FailedScheduling", "SetPodTemplateRestartPolicy", "SettedPodTemplateRestartPolicy")
_COMBINED = re.compile(r"^\(combined from similar events\): ")
# The kubelet records these besides the event that has the cause.
_WITHOUT_CAUSE = re.compile(
    r"^Error: (ErrImagePull|ImagePullBackOff|ErrImageNeverPull)$|^Back-off |^Error: context deadline"
)


def _time(event: Mapping[str, Any]) -> str:
    series = (event.get("series") or {}).get("lastObservedTime")
    return str(series or event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp") or "")


def _is_about(event: Mapping[str, Any], kind: str, name: str, uid: Optional[str]) -> bool:
    about = event.get("involvedObject") or {}
    # An earlier object may have had the name.
    return about.get("kind") == kind and about.get("name") == name and (not uid or about.get("uid") in (None, uid))


def keys(events: Iterable[Mapping[str, Any]]) -> FrozenSet[Tuple[Any, ...]]:
    """Return what identifies each occurrence of events: one that occurs again is counted in the same object."""
    return frozenset(_key(event) for event in events)


def _key(event: Mapping[str, Any]) -> Tuple[Any, ...]:
    metadata, series = event.get("metadata") or {}, event.get("series") or {}
    return (metadata.get("uid") or event.get("message"), _time(event), series.get("count") or event.get("count"))


def without(events: Iterable[Mapping[str, Any]], known: FrozenSet[Tuple[Any, ...]]) -> List[Mapping[str, Any]]:
    """Return the events that have occurred since others were read."""
    return [event for event in events if _key(event) not in known]


def last_time(kind: str, name: str, uid: Optional[str], events: Iterable[Mapping[str, Any]]) -> str:
    """Return when the last warning about an object was recorded; empty where there is none."""
    return max((when for when, _text in _found(kind, name, uid, events, None)), default="")


def warnings(
    kind: str, name: str, uid: Optional[str], events: Iterable[Mapping[str, Any]], since: Optional[str] = None
) -> List[str]:
    """Return the warnings about an object, the newest first, each as one line; since leaves out those before a time."""
    return [text for _when, text in _found(kind, name, uid, events, since)]


def _found(
    kind: str, name: str, uid: Optional[str], events: Iterable[Mapping[str, Any]], since: Optional[str]
) -> List[Tuple[str, str]]:
    found = [
        (
            _time(event),
            f"{event.get('reason') or 'warning'}: {one_line(_COMBINED.sub('', str(event.get('message') or '')))}",
        )
        for event in events
        if event.get("type") == "Warning"
        and event.get("reason") not in _LEFT_OUT
        and _is_about(event, kind, name, uid)
        and (since is None or not _time(event) or _time(event)[:19] >= since[:19])
    ]
    return sorted(found, reverse=True)


def newest(found: List[str]) -> str:
    """Return the newest warning that has a cause, else the newest, else nothing."""
    with_cause = (text for text in found if not _WITHOUT_CAUSE.search(text.partition(": ")[2]))
    return next(with_cause, found[0] if found else "")
