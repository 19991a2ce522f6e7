# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Show what a command writes to its log on the launcher, while the connection waits for the command to end."""

import copy
import os
import shlex
import threading
from typing import Any, Callable, List, Optional

from ansible_collections.taco.train.plugins.plugin_utils.progress import fitted

# A poll is a remote execution of some milliseconds; what is left over comes with the next one.
MOST_BYTES = 65536
# Brings the cursor to the line's beginning and clears what was there.
REWRITE = "\r\033[K"
# Of a terminal that doesn't say how wide it is.
COLUMNS = 80


class LogFollower(threading.Thread):
    """Reads a log piece by piece until it is stopped. What goes wrong here must not reach the run: progress is a courtesy."""

    def __init__(
        self,
        action: Any,
        path: str,
        seconds: float,
        lines_of: Callable[[str], List[str]],
        display: Any,
        terminal: Optional[str],
        last_only: bool = False,
    ) -> None:
        """Action is the plugin whose connection is used; lines_of returns what to show for a piece of the log.

        On a terminal each line takes the place of the one before it. Elsewhere, with last_only, the last line alone is shown.
        """
        super().__init__(daemon=True)
        # The plugin's own connection and its become plugin keep state about the command that they are running.
        self.action = copy.copy(action)
        self.action._connection = copy.copy(action._connection)
        self.action._connection.become = copy.copy(action._connection.become)
        self.path, self.seconds, self.lines_of = path, seconds, lines_of
        self.display, self.terminal = display, terminal
        self.read, self.shown = 0, 0  # lines
        self.last_only, self.last = last_only and not terminal, ""
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(self.seconds):
            try:
                self.poll()
            except Exception as error:
                # Whatever a connection may raise: the run itself meets it too, and says it.
                self.display.vvv(f"The log of the run can't be followed: {error}")
                return

    def poll(self) -> None:
        """Read once what is new."""
        # By lines and not by bytes: on its way through a terminal every line end becomes two characters.
        command = f"tail -n +{self.read + 1} {shlex.quote(self.path)} 2>/dev/null | head -c {MOST_BYTES}"
        done = self.action._low_level_execute_command(command, sudoable=True)
        # What comes after the last line end may be cut, so it is read again next time.
        *lines, _cut = done.get("stdout", "").replace("\r\n", "\n").split("\n")
        if done.get("rc") == 0 and lines:
            self.read += len(lines)
            self.show(self.lines_of("\n".join([*lines, ""])))

    def show(self, lines: List[str]) -> None:
        for line in lines:
            self.shown += 1
            if self.last_only:
                self.last = line
            elif self.terminal:
                # A line that goes on in the next one could not be rewritten. The last column is for the cursor.
                self.display.display(REWRITE + fitted(line, columns_of(self.terminal) - 1), newline=False)
            else:
                self.display.display(line)

    def stop(self) -> None:
        """Wait until nothing more is read."""
        self.ended.set()
        self.join(self.seconds + 5)

    def finish(self, text: str) -> None:
        """Show what the log held beyond what was read of it; text is all that the command printed."""
        self.show(self.lines_of("\n".join(text.replace("\r\n", "\n").split("\n")[self.read :])))
        if self.terminal and self.shown:
            self.display.display("")
        if self.last:
            self.display.display(self.last)


def terminal() -> Optional[str]:
    """Return the terminal that what is displayed goes to, None when it isn't one. A worker has none; its parent has."""
    try:
        target = os.readlink(f"/proc/{os.getppid()}/fd/1")
    except OSError:
        return None
    return target if target.startswith(("/dev/pts/", "/dev/tty", "/dev/console")) else None


def columns_of(path: str) -> int:
    """Return how wide a terminal is at this moment: people pull at their windows."""
    try:
        # Without O_NOCTTY it would become the terminal of this process.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            return os.get_terminal_size(descriptor).columns or COLUMNS
        finally:
            os.close(descriptor)
    except OSError:
        return COLUMNS
