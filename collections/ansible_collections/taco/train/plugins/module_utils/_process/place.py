# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where commands of a module run: in a training container, or where the task itself runs (a host, a pod)."""

import json
from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.module_utils._process.timed import Output, run_timed

COMMAND_SECONDS = 60
IDENTITY = (
    '{"running":{{json .State.Running}},"id":{{json .Id}},"image":{{json .Config.Image}},"image_id":{{json .Image}}}'
)

CONTAINER_ID = ["inspect", "--type", "container", "--format", "{{.Id}}"]


class PlaceError(Exception):
    """A place can't run commands, or a command that must succeed there did not."""


class Place:
    """Where commands run: in a container, or without one on this host."""

    def __init__(self, container: str, engine_command: List[str]) -> None:
        self.container = container
        self.prefix = list(engine_command) + ["exec", container] if container else []
        self.engine_command = list(engine_command)

    def __str__(self) -> str:
        return f"the container {self.container}" if self.container else "this host"

    def attempt(self, *argv: str) -> Output:
        """Run a command and return what it left behind, whatever that is."""
        return run_timed(self.prefix + list(argv), COMMAND_SECONDS)

    def run(self, *argv: str) -> str:
        """Run a command that must succeed and return its output."""
        done = self.attempt(*argv)
        if done.status != 0:
            said = " ".join((done.stderr or done.stdout).split())
            raise PlaceError(f"{' '.join(argv[:4])} failed in {self} with status {done.status}: {said}")
        return done.stdout

    def program(self, python: str, text: str, seconds: float) -> Output:
        """Run a Python program, given as its text, and return what it left behind."""
        prefix = self.prefix[:-1] + ["-i", self.container] if self.container else []
        return run_timed(prefix + [python, "-"], seconds, text.encode("utf-8"))

    def inspect(self, kind: str, name: str, template: str) -> Output:
        """Ask the engine about a container or an image."""
        done = run_timed(self.engine_command + ["inspect", "--type", kind, "--format", template, name], COMMAND_SECONDS)
        if done.status is None:
            raise PlaceError(f"{done.stderr}: run the role taco.train.container_engine, or set engine_command")
        return done

    def require_running(self, done: Output, running: bool) -> None:
        """Raise, with what the engine said, unless the container runs."""
        if not running:
            said = " ".join(done.stderr.split()) or "it is stopped"
            raise PlaceError(
                f"the container {self.container} does not run ({said}): run the role taco.train.training_container"
            )

    def check(self) -> None:
        """Raise unless commands can run there."""
        if self.container:
            done = self.inspect("container", self.container, "{{.State.Running}}")
            self.require_running(done, done.stdout.strip() == "true")

    def container_id(self) -> str:
        """The id of the container, empty without a container or without an engine that knows it."""
        if not self.container:
            return ""
        done = run_timed(self.engine_command + CONTAINER_ID + [self.container], COMMAND_SECONDS)
        return done.stdout.strip() if done.status == 0 else ""

    def neighbours(self) -> List["Place"]:
        """The other running containers of the same engine, none where the place is this host."""
        if not self.container:
            return []
        done = run_timed(self.engine_command + ["ps", "--format", "{{.Names}}"], COMMAND_SECONDS)
        names = done.stdout.split() if done.status == 0 else []
        return [Place(name, self.engine_command) for name in names if name != self.container]

    def identify(self) -> Dict[str, Any]:
        """Return which container it is and of which image, all None and empty without one; raise unless it runs.

        An image that was built or loaded, and never pulled or pushed, has no digest of a registry.
        """
        if not self.container:
            return {"id": None, "image": None, "image_id": None, "repo_digests": []}
        done = self.inspect("container", self.container, IDENTITY)
        found = json.loads(done.stdout) if done.status == 0 else {}
        self.require_running(done, found.pop("running", False))
        image = self.inspect("image", found["image_id"], "{{json .RepoDigests}}")
        # An image may be removed by force while its container runs.
        found["repo_digests"] = (json.loads(image.stdout) or []) if image.status == 0 else []
        return found

    def sees(self, path: str) -> bool:
        """Return whether a file of this host is there too."""
        return self.attempt("test", "-r", path).status == 0

    def read(self, path: str) -> str:
        """Return the text of a file there, empty when there is none."""
        done = self.attempt("cat", path)
        return done.stdout if done.status == 0 else ""
