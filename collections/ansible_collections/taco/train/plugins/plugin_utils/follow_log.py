# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Show what a command writes to its log on the launcher, while the connection waits for the command to end."""

import copy
import os
import shlex
import threading
from typing import Any, Callable

# A poll is a remote execution of some milliseconds; a slow reader is better than one that a benchmark can feel.
MOST_BYTES = 65536


class LogFollower(threading.Thread):
    """Reads a log piece by piece until it is stopped. What goes wrong here must not reach the run: progress is a courtesy."""

    def __init__(self, action: Any, path: str, seconds: float, show: Callable[[str], None]) -> None:
        """Action is the plugin whose connection is used; show gets the text of each piece."""
        super().__init__(daemon=True)
        # The plugin's own connection and its become plugin keep state about the command that they are running.
        self.action = copy.copy(action)
        self.action._connection = copy.copy(action._connection)
        self.action._connection.become = copy.copy(action._connection.become)
        self.path, self.seconds, self.show = path, seconds, show
        self.offset = 0
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(self.seconds):
            try:
                self.poll()
            except Exception:
                # Whatever the connection may raise: the run itself will meet it too, and say it.
                return

    def poll(self) -> None:
        """Read once what is new."""
        command = f"tail -c +{self.offset + 1} {shlex.quote(self.path)} 2>/dev/null | head -c {MOST_BYTES}"
        done = self.action._low_level_execute_command(command, sudoable=True)
        piece = done.get("stdout", "")
        if done.get("rc") == 0 and piece:
            # A reply's last line end is lost on the way, so what comes after the last one is read again next time.
            whole = piece[: piece.rfind("\n") + 1]
            self.offset += len(whole.encode("utf-8", "surrogateescape"))
            if whole:
                self.show(whole)

    def stop(self) -> None:
        self.ended.set()
        self.join(self.seconds + 5)


def on_terminal() -> bool:
    """Return whether what is displayed goes to a terminal. A worker has no standard output; its parent has."""
    try:
        target = os.readlink(f"/proc/{os.getppid()}/fd/1")
    except OSError:
        return False
    return target.startswith(("/dev/pts/", "/dev/tty", "/dev/console"))
