# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read /etc/os-release. Text in, values out."""

import shlex
from typing import Any, Dict


def parse_os_release(text: str) -> Dict[str, str]:
    """Return the assignments of an os-release file; lines that aren't one are passed over, as the format demands."""
    values = {}
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if not separator or key.startswith("#"):
            continue
        try:
            values[key] = "".join(shlex.split(value))
        except ValueError:
            values[key] = value.strip("\"'")
    return values


def os_identity(text: str) -> Dict[str, Any]:
    """Return id, id_like, version_id and name. What the file leaves out has the default of its specification."""
    values = parse_os_release(text)
    return {
        "id": values.get("ID", "linux").lower(),
        "id_like": values.get("ID_LIKE", "").lower().split(),
        "version_id": values.get("VERSION_ID", ""),
        "name": values.get("PRETTY_NAME") or values.get("NAME", "Linux"),
    }
