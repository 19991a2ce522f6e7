# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read which version of a package apt or yum would install, and from which repository. Text in, values out."""

import re
from typing import Any, Dict, List

# Places that are no repository: what is installed already.
INSTALLED = ("/var/lib/dpkg/status", "installed", "@System", "@commandline")

# The candidate where every version has a negative priority.
FORBIDDEN = "(none)"


def _sources(table: str, version: str) -> List[str]:
    """Return the repositories of one version in a version table of apt-cache policy."""
    found, current = [], ""
    for line in table.splitlines():
        if line.startswith(" " * 7):  # a priority of four digits begins there
            found += [line.split(None, 1)[1].strip()] if current == version else []
        else:
            current = line.replace("***", "").split()[0]
    return found


def _apt(text: str) -> Dict[str, List[str]]:
    """Return the candidate of each package, or where apt may install none, the first version that a repository has."""
    found = {}  # type: Dict[str, List[str]]
    for block in re.split(r"\n(?=\S+:$)", text, flags=re.MULTILINE):
        name, _colon, rest = block.partition(":\n")
        table = rest.partition("Version table:\n")[2]
        candidate = re.findall(r"^  Candidate: (\S+)$", rest, re.MULTILINE)
        versions = (
            candidate if candidate != [FORBIDDEN] else re.findall(r"^(?: \*\*\*| {4}) (\S+) ", table, re.MULTILINE)
        )
        for version in versions:
            sources = _sources(table, version)
            if set(sources) - set(INSTALLED):
                found.setdefault(name, [version, *sources])
    return found


def _yum(text: str) -> Dict[str, List[str]]:
    # yum breaks a line where a name or a version is long.
    found = re.findall(r"^(\S+)\.(?:noarch|x86_64|aarch64)\s+(\S+)\s+(\S+)", text, re.MULTILINE)
    return {name: [version, repository] for name, version, repository in found}


def candidates(text: str) -> Dict[str, Dict[str, Any]]:
    """Return the version and the repository of each package that a repository offers, from apt-cache policy or yum list.

    A package is forbidden where a negative priority keeps apt from installing any version of it.
    """
    found = _apt(text) if "  Candidate: " in text else _yum(text)
    forbidden = re.findall(r"^(\S+):\n(?:  .*\n)*?  Candidate: " + re.escape(FORBIDDEN), text, re.MULTILINE)
    offered = {
        name: [version, *(one for one in places if one not in INSTALLED)] for name, (version, *places) in found.items()
    }
    return {
        name: {"version": words[0].rpartition(":")[2], "repository": words[1], "forbidden": name in forbidden}
        for name, words in offered.items()
        if len(words) > 1
    }
