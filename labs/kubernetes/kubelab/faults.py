# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What goes wrong with requests: answers that say so, connections that are cut, and who may do what."""

import re
import threading
from dataclasses import dataclass
from typing import Any

from kubelab import status

DISCONNECT = "disconnect"
DISCONNECT_AFTER = "disconnect-after"  # the request has its effect, and its sender never hears of it


@dataclass
class Fault:
    method: str
    path: re.Pattern
    status: int
    times: int
    body: Any = None
    act: Any = None
    """What another client does right before the request, which goes on then."""

    def concerns(self, method, path):
        return self.times > 0 and self.method in ("*", method) and self.path.search(path)


class Faults:
    def __init__(self):
        self._lock = threading.Lock()
        self._faults = []
        self._forbidden = []

    def fail(self, method="*", path="", status=500, times=1, body=None):
        """Have the next requests of this kind fail: with a status, or with the connection cut in body="disconnect"."""
        with self._lock:
            self._faults.append(Fault(method.upper(), re.compile(path), status, times, body))

    def before(self, method, path, act):
        """Call a function right before the next request of this kind."""
        with self._lock:
            self._faults.append(Fault(method.upper(), re.compile(path), 0, 1, act=act))

    def forbid(self, verb, resource, namespace=None):
        """Refuse a verb on a resource, as pods or pods/log, that the account's rules would allow."""
        with self._lock:
            self._forbidden.append((verb, resource, namespace))

    def allow(self):
        """Take back what was forbidden and what would have failed."""
        with self._lock:
            self._faults, self._forbidden = [], []

    def next(self, method, path):
        """Return the fault that a request meets, or None; it is one less then."""
        with self._lock:
            for fault in self._faults:
                if fault.concerns(method, path):
                    fault.times -= 1
                    return fault
        return None

    def forbids(self, verb, resource, namespace):
        with self._lock:
            return any(
                wanted in (verb, "*") and named == resource and where in (None, namespace)
                for wanted, named, where in self._forbidden
            )


def refusal(fault):
    """Return the answer of a fault as a refusal; a body of one's own is sent as it is."""
    refused = status.plain(fault.status, fault.body if isinstance(fault.body, str) else None)
    if isinstance(fault.body, dict):
        refused.body = fault.body
    return refused
