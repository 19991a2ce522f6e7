# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find a repository of packages among those that a host has configured. Text in, values out."""

import configparser
import re
from typing import Dict, List, NamedTuple, Optional

DISABLED = ("no", "false", "without", "off", "disable", "0")


class Source(NamedTuple):
    """A repository in the configuration of apt, one suite of it."""

    url: str
    suite: str
    components: List[str]
    signed_by: Optional[str]


def normal_url(url: str) -> str:
    """The URL as it is compared: apt takes one with and one without a slash at its end for the same."""
    return re.sub(r"^https?://", "//", url.strip().rstrip("/"), flags=re.IGNORECASE)


def one_line_sources(text: str) -> List[Source]:
    """The repositories of packages in a file named C(*.list), without those that are commented out."""
    found = []
    for line in text.splitlines():
        match = re.match(r"^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)([^#]*)", line)
        if match:
            options = dict(re.findall(r"([\w-]+)=(\S+)", match.group(1) or ""))
            found.append(Source(match.group(2), match.group(3), match.group(4).split(), options.get("signed-by")))
    return found


def _stanzas(text: str) -> List[Dict[str, str]]:
    stanzas, fields, name = [], {}, ""  # type: List[Dict[str, str]], Dict[str, str], str
    for line in text.splitlines() + [""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            stanzas.append(fields)
            fields, name = {}, ""
        elif line[0] in " \t":
            fields[name] = fields.get(name, "") + "\n" + line.strip()
        else:
            name, _colon, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return [one for one in stanzas if one]


def deb822_sources(text: str) -> List[Source]:
    """The repositories of packages in a file named C(*.sources), without those that are disabled."""
    found = []
    for fields in _stanzas(text):
        if fields.get("enabled", "yes").lower() in DISABLED or "deb" not in fields.get("types", "").split():
            continue
        signed_by = fields.get("signed-by")
        for url in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                found.append(Source(url, suite, fields.get("components", "").split(), signed_by))
    return found


def find_apt(files: Dict[str, str], url: str, suite: str, components: List[str]) -> Optional[str]:
    """The file that lists a repository with all of the components, None when no file does. files are {path: text}."""
    for path, text in sorted(files.items()):
        sources = deb822_sources(text) if path.endswith(".sources") else one_line_sources(text)
        for one in sources:
            same = normal_url(one.url) == normal_url(url) and one.suite.rstrip("/") == suite.rstrip("/")
            if same and set(components) <= set(one.components):
                return path
    return None


def find_yum(files: Dict[str, str], url: str, release: str) -> Optional[str]:
    """The file that lists an enabled repository with this URL, None when no file does. files are {path: text}."""
    for path, text in sorted(files.items()):
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            continue
        for section in parser.sections():
            values = dict(parser.items(section))
            enabled = values.get("enabled", "1").strip().lower() not in DISABLED
            urls = values.get("baseurl", "").replace("$releasever", release).split()
            if enabled and normal_url(url) in [normal_url(one) for one in urls]:
                return path
    return None


def complaints(output: str) -> str:
    """The errors in the output of a package manager, or its end without any."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "W:", "Error", "error:"))]
    return " ".join((errors or lines[-3:])[:6])


def failed_for(output: str, url: str) -> bool:
    """Whether a package manager that ended with status 0 has nevertheless no index of a repository."""
    host = normal_url(url)
    return any(line.startswith(("E:", "W: Failed", "Err:")) and host in line for line in output.splitlines())
