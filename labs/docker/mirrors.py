# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Translate this machine's apt sources, trust and network settings into arguments of mmdebstrap.

The images come from wherever the machine's own packages come from; no mirror is known here.
"""

import re
from pathlib import Path
from typing import Dict, List, NamedTuple

from shell import LabError, run
from state import LAB, write

POCKETS = ("", "-updates", "-security", "/updates")
# Settings that decide whether a mirror can be reached and is believed; everything else is of no use in an image.
SETTINGS = re.compile(r"Acquire::(https?|ftp|Retries|Check-Valid-Until|Check-Date|ForceIPv\w+|Allow\w+)(::|$)")
OPTIONS = ("signed-by", "trusted", "arch", "check-valid-until", "check-date", "allow-insecure", "allow-weak")


class Source(NamedTuple):
    """One suite of one mirror."""

    uri: str
    suite: str
    components: List[str]
    options: Dict[str, str]


def one_line_sources(text):
    """Return the sources of a file in the format of sources.list."""
    found = []
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<rest>[^#\s][^#]*)", line)
        if not match:
            continue
        options = dict(item.split("=", 1) for item in (match.group("options") or "").split() if "=" in item)
        words = match.group("rest").split()
        if len(words) >= 2:
            found.append(Source(words[0], words[1], words[2:], {key.lower(): value for key, value in options.items()}))
    return found


def deb822_sources(text):
    """Return the sources of a file in the format of *.sources."""
    found = []
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n[ \t]*\n", "\n".join(lines)):
        fields, name = {}, None
        for line in stanza.splitlines():
            if line[:1] in (" ", "\t") and name:
                fields[name] += "\n" + line.strip()
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.strip().lower()
                fields[name] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        options = {key: fields[key] for key in OPTIONS if key in fields}
        if "architectures" in fields:
            options["arch"] = ",".join(fields["architectures"].split())
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                found.append(Source(uri, suite, fields.get("components", "").split(), options))
    return found


def of_release(sources, codename):
    """Return the sources of a distribution's release itself: other vendors' suites and backports are left out."""
    suites = {codename + pocket for pocket in POCKETS}
    return [source for source in sources if source.suite in suites and "main" in source.components]


def line(source, key_file):
    """Return a source in the format of sources.list; key_file(text) gives the path of a file with an embedded key."""
    options = []
    for name in OPTIONS:
        value = source.options.get(name)
        if value is None:
            continue
        if name == "signed-by" and "BEGIN PGP" in value:
            value = key_file(re.sub(r"(?m)^\.$", "", value).strip() + "\n")
        options.append(f"{name}={value}")
    brackets = f"[{' '.join(options)}] " if options else ""
    return f"deb {brackets}{source.uri} {source.suite} {' '.join(source.components)}"


def apt_options(dump):
    """Return the settings for mmdebstrap's --aptopt in the output of `apt-config dump`."""
    found = []
    for text in dump.splitlines():
        match = re.match(r'(\S+) "(.*)";$', text)
        if match and match.group(2) and SETTINGS.match(match.group(1)):
            found.append(f'{match.group(1)} "{match.group(2)}"')
    return found


def codename(os_release):
    """Return the code name of the release in the text of /etc/os-release."""
    match = re.search(r'(?m)^VERSION_CODENAME="?([a-z]+)"?$', os_release)
    if not match:
        raise LabError(
            "/etc/os-release names no VERSION_CODENAME; images are built on a released Debian or Ubuntu only"
        )
    return match.group(1)


def read_sources(folder=Path("/etc/apt")):
    """Return all sources of the machine."""
    found = []
    for path in [folder / "sources.list"] + sorted((folder / "sources.list.d").glob("*")):
        if path.is_file() and path.suffix == ".list":
            found += one_line_sources(path.read_text(encoding="utf-8"))
        elif path.is_file() and path.suffix == ".sources":
            found += deb822_sources(path.read_text(encoding="utf-8"))
    return found


def write_key(text):
    """Write an embedded key where mmdebstrap's apt can read it."""
    path = LAB / "build/signed-by.asc"
    write(path, text)
    return str(path)


def arguments():
    """Return (suite, options and mirrors for mmdebstrap) of this machine."""
    suite = codename(Path("/etc/os-release").read_text(encoding="utf-8"))
    sources = of_release(read_sources(), suite)
    if not any(source.suite == suite for source in sources):
        raise LabError(f"/etc/apt holds no source of suite {suite} with component main; add one, then run it again")
    options = [f"--aptopt={setting}" for setting in apt_options(run(["apt-config", "dump"]))]
    for name, path in (("netrc", "/etc/apt/auth.conf"), ("netrcparts", "/etc/apt/auth.conf.d")):
        if Path(path).exists():
            options.append(f'--aptopt=Dir::Etc::{name} "{path}"')
    return suite, options, [line(source, write_key) for source in sources]
