# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happens to a pod, step by step.

A step is a name of STEPS, or a dictionary with it as "state" and any of reason, message, exit_code and seconds. The last
one stays. Without a script a pod is created, runs and is Ready.
"""

import re
import threading
import time

STEPS = (
    "Unschedulable",
    "ContainerCreating",
    "PodInitializing",
    "ErrImagePull",
    "ImagePullBackOff",
    "CreateContainerConfigError",
    "NotReady",
    "Running",
    "CrashLoopBackOff",
    "Succeeded",
    "Failed",
    "OOMKilled",
    "Evicted",
)
DEFAULT = ({"state": "ContainerCreating"}, {"state": "Running"})
UNSCHEDULABLE = "0/1 nodes are available: 1 Insufficient cpu."


def step_of(given):
    step = {"state": given} if isinstance(given, str) else dict(given)
    if step.get("state") not in STEPS:
        raise ValueError(f"{given!r} is no step of a pod: expected one of {', '.join(STEPS)}")
    return step


class Scripts:
    """Where each pod is in its script."""

    def __init__(self, seconds):
        self.seconds = seconds
        self._lock = threading.Lock()
        self._rules = []
        self._places = {}  # uid: (rule, index, since)

    def add(self, pattern, steps):
        with self._lock:
            self._rules.insert(0, (re.compile(pattern), [step_of(step) for step in steps]))

    def step(self, pod):
        """Return the step that a pod is in, and go on to the next where its time has come."""
        with self._lock:
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            steps = next((steps for pattern, steps in self._rules if pattern.search(name)), DEFAULT)
            script, index, since = self._places.get(uid, (None, 0, 0))
            if script is not steps:
                index, since = 0, time.monotonic()
            elif index + 1 < len(steps) and time.monotonic() - since >= steps[index].get("seconds", self.seconds):
                index, since = index + 1, time.monotonic()
            self._places[uid] = (steps, index, since)
            return steps[index]

    def scripted(self, pod):
        """Return the step that a pod is in where somebody has written a script for it, or None."""
        with self._lock:
            if not any(pattern.search(pod["metadata"]["name"]) for pattern, _steps in self._rules):
                return None
        return self.step(pod)

    def forget(self):
        """Let every pod do what it does by itself."""
        with self._lock:
            self._rules = []

    def held(self, pod):
        """The reason in a pod's script not to schedule it, or None."""
        with self._lock:
            name = pod["metadata"]["name"]
            steps = next((steps for pattern, steps in self._rules if pattern.search(name)), DEFAULT)
        if steps[0]["state"] != "Unschedulable":
            return None
        step = self.step(pod)
        return (step.get("message") or UNSCHEDULABLE) if step["state"] == "Unschedulable" else None
