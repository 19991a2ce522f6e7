# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wait for changes of objects by watches, from the versions on that the caller has read."""

import queue
import threading
from typing import Any, List, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import ERRORS, GONE, trouble_of
from ansible_collections.taco.train.plugins.module_utils.cluster.transport import Request, Watched, versions_of

# Without a change one looks again after this, since some reasons are told by events alone.
MOST_WATCH_SECONDS = 20.0
# A connection that was lost without a word is not waited for any longer than this beyond the time of the watch.
WATCH_GRACE_SECONDS = 5.0


def wait_for_change(client: Client, objects: Sequence[Watched], seconds: float, pause: float) -> bool:
    """Wait until one of the objects isn't as it was read any more, or the time is over; return whether one isn't.

    It takes at least as long as the pause, since changes come in groups, and at most MOST_WATCH_SECONDS.
    """
    began = client.clock.now()
    limit = max(1, int(min(MOST_WATCH_SECONDS, seconds) + 0.999))
    ended: queue.Queue[Any] = queue.Queue()
    for one in objects:
        query = _selection(one)
        listed, cause = client.attempt(one.request._replace(name=None), query=query)
        if cause is not None:
            ended.put((one.request, cause))
            break
        if versions_of(listed.get("items") or []) != one.versions:
            ended.put(True)
            break
        query += [("watch", "true"), ("resourceVersion", listed["metadata"]["resourceVersion"])]
        query.append(("timeoutSeconds", str(limit)))
        arguments = (client, one.request._replace(verb="watch", name=None), query, limit, ended)
        # A daemon: the module doesn't wait for the watches that are still open when it ends.
        threading.Thread(target=_follow, args=arguments, daemon=True).start()
    try:
        found = ended.get(timeout=limit + WATCH_GRACE_SECONDS)
    except queue.Empty:
        found = False
    if isinstance(found, tuple) and not found[1].passes:
        request, cause = found
        raise client.error(f"watch {request.kind}s", cause, request)
    # A proxy may refuse watches and nothing else. The caller reads the objects again then.
    client.clock.sleep(max(0.0, pause - (client.clock.now() - began)))
    return found is True


def _selection(one: Watched) -> List[Tuple[str, str]]:
    given = (("labelSelector", one.labels), ("fieldSelector", one.request.name and f"metadata.name={one.request.name}"))
    return [(key, value) for key, value in given if value]


def _follow(client: Client, request: Request, query: List[Tuple[str, str]], limit: float, ended: Any) -> None:
    """Put into a queue how a watch ended: True for a change, False when the time was over or the way was lost, or the trouble."""
    try:
        response = client.send(request, None, query, limit + WATCH_GRACE_SECONDS)
        ended.put(bool(next(response.stream(1 << 16), b"")))
    except ERRORS as error:
        cause = trouble_of(error)
        # What is watched from is no longer kept, so there were changes.
        ended.put(True if cause.kind == GONE else (request, cause) if cause.code else False)
