# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the files below a root folder, and run commands where it is that of the running system."""

import hashlib
import json
import os
from typing import Any, Optional

from ansible_collections.taco.train.plugins.module_utils._process.timed import Output, run_timed

COMMAND_SECONDS = 10


class Root:
    """The root folder of all that is observed."""

    def __init__(self, path: str):
        self.path = path
        self.is_running_system = os.path.realpath(path) == "/"

    def join(self, path: str) -> str:
        return os.path.join(self.path, path.lstrip("/"))

    def text(self, *paths: str) -> str:
        """Return the text of the first readable file, or an empty text."""
        for path in paths:
            try:
                with open(self.join(path), encoding="utf-8", errors="replace") as file:
                    return file.read()
            except OSError:
                continue
        return ""

    def sha256(self, path: str) -> Optional[str]:
        """Return the checksum of a readable file of the running system, else None."""
        if not self.is_running_system:
            return None
        try:
            with open(self.join(path), "rb") as file:
                return hashlib.sha256(file.read()).hexdigest()
        except OSError:
            return None

    def json(self, path: str) -> Any:
        """Return the value in a JSON file, or None."""
        try:
            return json.loads(self.text(path))
        except ValueError:
            return None

    def output(self, *command: str, seconds: float = COMMAND_SECONDS) -> Output:
        """Run a command. Below another root no command is installed."""
        return run_timed(list(command), seconds) if self.is_running_system else Output(None, "", "")

    def free_bytes(self, path: str) -> Optional[int]:
        """Return the space that a user without privileges can use in the file system of a folder."""
        try:
            stat = os.statvfs(self.join(path))
        except OSError:
            return None
        return stat.f_bavail * stat.f_frsize
