# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the units of systemd that a boot starts, and the commands that they run. Everything is read below a given root.

Sources: systemd.unit(5), systemd.service(5).
"""

import os
import re
from typing import Dict, List, Set, Tuple

UNITS = (
    *("etc/systemd/system.control", "run/systemd/system.control", "run/systemd/transient"),
    *("run/systemd/generator.early", "etc/systemd/system", "run/systemd/system", "run/systemd/generator"),
    *("usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system", "run/systemd/generator.late"),
)
# What they want is started when the system ends.
ENDS = tuple(f"{name}.target" for name in ("shutdown", "reboot", "poweroff", "halt", "kexec", "final", "umount"))
COMMANDS = ("ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost")
LARGEST = 1024**2  # bytes of a file that are read


def text_of(root: str, path: str) -> str:
    """Return the text of a file; empty for one that is missing, masked by a device, or a program."""
    full = os.path.join(root, path)
    try:
        if not os.path.isfile(full):
            return ""
        with open(full, "rb") as file:
            head = file.read(1024)
            return "" if b"\0" in head else (head + file.read(LARGEST)).decode("utf-8", "replace")
    except OSError:
        return ""


def names_in(root: str, folder: str) -> List[str]:
    """Return the names in a folder, none where it can't be read."""
    try:
        return sorted(os.listdir(os.path.join(root, folder)))
    except OSError:
        return []


class Units:
    """The units of systemd below a root."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.paths: Dict[str, str] = {}
        """Name -> the file in force."""
        self.drop_ins: Dict[str, Dict[str, str]] = {}
        """Name -> the file in force of each name."""
        self.started: Set[str] = set()
        """The units that a boot starts, or that the running system has started."""
        for folder in UNITS:
            for name in names_in(root, folder):
                self._add(name, f"{folder}/{name}")
        self.started.update(name.replace("invocation:", "") for name in names_in(root, "run/systemd/units"))
        self._follow()

    def _add(self, name: str, path: str) -> None:
        stem, _dot, kind = name.rpartition(".")
        if kind in ("wants", "requires"):
            self.started.update(names_in(self.root, path) if stem not in ENDS else ())
        elif kind == "d":
            files = [file for file in names_in(self.root, path) if file.endswith(".conf")]
            self.drop_ins[stem] = {**{file: f"{path}/{file}" for file in files}, **self.drop_ins.get(stem, {})}
        else:
            self.paths.setdefault(name, path)

    def texts(self, name: str) -> Dict[str, str]:
        """Return the texts of a unit, or of its template, and of its drop-ins by path; none of a unit that is masked."""
        template = re.sub("@.*[.]", "@.", name)
        path = self.paths.get(name, self.paths.get(template, ""))
        if not text_of(self.root, path):
            return {}
        drop_ins = {**self.drop_ins.get(template, {}), **self.drop_ins.get(name, {})}
        return {path: text_of(self.root, path) for path in [path, *(drop_ins[file] for file in sorted(drop_ins))]}

    def starts(self, name: str) -> bool:
        """Say whether a boot starts a unit."""
        return name in self.started and bool(self.texts(name))

    def _follow(self) -> None:
        """Add the units that started ones ask for."""
        waiting = sorted(self.started)
        while waiting:
            name = waiting.pop()
            stem, _dot, kind = name.rpartition(".")
            text = "\n".join(self.texts(name).values())
            wanted = " ".join(re.findall(r"^(?:Wants|Requires|BindsTo|Upholds|Unit)=(.*)$", text, re.MULTILINE)).split()
            wanted += [stem + ".service"] if kind in ("timer", "path", "socket") else []
            waiting += [unit for unit in dict.fromkeys(wanted) if unit not in self.started]
            self.started.update(wanted)

    def commands(self) -> List[Tuple[str, str, str]]:
        """Return name, path and text of the services that are started, where only the lines of the commands are not empty."""
        services = sorted(name for name in self.started if name.endswith(".service"))
        return [(name, *one) for name in services for one in _commands(self.texts(name)).items()]


def _commands(texts: Dict[str, str]) -> Dict[str, str]:
    """Blank all lines but the commands that run when a unit starts. An empty assignment resets those before it."""
    found = []  # type: List[Tuple[str, str, int, str]]
    for path, text in texts.items():
        key, continued = "", False
        for number, line in enumerate(text.splitlines()):
            pair = None if continued else re.match(r"\s*(\w+)\s*=\s*(.*)", line)
            if not continued:
                key = pair.group(1) if pair else ""
            if pair and not pair.group(2):
                found = [one for one in found if one[0] != key]
            continued = line.endswith("\\")
            found.append((key, path, number, line))
    lines = {path: [""] * len(text.splitlines()) for path, text in texts.items()}
    for key, path, number, line in found:
        lines[path][number] = line if key in COMMANDS else ""
    return {path: "\n".join(kept) for path, kept in lines.items()}
