# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the settings that give the running kernel hugepages after boot, and decide whether they contradict the kernel line.

vm.nr_hugepages counts pages of the default size. When that becomes 1G, a leftover 2048 claims all memory, and 0 frees the pages that the
kernel line reserved. Sources: sysctl.d(5), sysctl.conf(5), tuned.conf(5). Everything is read below a given root.
"""

import glob
import os
import re
from typing import Any, Dict, List

NAMES = ("vm.nr_hugepages", "vm.nr_hugepages_mempolicy")
# The first of them that holds a file of some name hides the others of that name.
FOLDERS = ("etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d", "lib/sysctl.d")
PROFILES = ("etc/tuned", "etc/tuned/profiles", "usr/lib/tuned", "usr/lib/tuned/profiles")
SETTING = re.compile(r"^\s*-?\s*([\w./]+?)\s*=\s*(.*?)\s*$")


def settings(text: str, path: str) -> List[Dict[str, Any]]:
    """Return the settings of hugepages in a text of sysctl.conf's form."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = SETTING.match(line)
        if match and match.group(1).replace("/", ".") in NAMES:
            found.append(
                {"name": match.group(1).replace("/", "."), "value": match.group(2), "file": path, "line": number}
            )
    return found


def profile_settings(text: str, path: str) -> List[Dict[str, Any]]:
    """Return the settings of hugepages in the section sysctl of a profile of tuned."""
    section = ""
    lines = []
    for line in text.splitlines():
        head = re.match(r"^\s*\[([^\]]+)\]", line)
        section = head.group(1) if head else section
        lines.append(line if section == "sysctl" else "")
    return settings("\n".join(lines), path)


def _text(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _of_tuned(root: str) -> List[Dict[str, Any]]:
    """Return the settings of the active profiles, each after those that it includes."""
    found = []  # type: List[Dict[str, Any]]
    seen = set()

    def read(name: str) -> None:
        for folder in PROFILES:
            path = os.path.join(folder, name, "tuned.conf")
            if os.path.isfile(os.path.join(root, path)) and name not in seen:
                seen.add(name)
                text = _text(root, path)
                for included in re.findall(r"^\s*include\s*=\s*(.+)$", text, re.MULTILINE):
                    for one in re.split(r"[\s,]+", included.strip()):
                        read(one)
                found.extend(profile_settings(text, "/" + path))

    for name in _text(root, "etc/tuned/active_profile").split():
        read(name)
    return found


def observe_sysctl(root: str) -> List[Dict[str, Any]]:
    """Return the settings that apply after a boot, one of each name from sysctl's files and one from tuned's profiles."""
    paths = {}  # type: Dict[str, str]
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(glob.escape(os.path.join(root, folder)), "*.conf"))):
            paths.setdefault(os.path.basename(path), os.path.join(folder, os.path.basename(path)))
    files = [paths[name] for name in sorted(paths)] + ["etc/sysctl.conf"]
    by_file = [one for path in files for one in settings(_text(root, path), "/" + path)]
    found = []
    for group in (by_file, _of_tuned(root)):
        last = {one["name"]: one for one in group}
        found += [last[name] for name in NAMES if name in last]
    return found


def contradicting(found: List[Dict[str, Any]], count: int) -> List[Dict[str, Any]]:
    """Return the settings that change how many pages there are: all that don't ask for as many of them."""
    return [one for one in found if not (one["value"].isdecimal() and int(one["value"]) == count)]


def in_words(found: List[Dict[str, Any]]) -> str:
    return ", ".join(f"{one['file']}:{one['line']} sets {one['name']}={one['value']}" for one in found)
