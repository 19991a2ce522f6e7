# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make what the modules know about ENIs usable in a playbook."""

from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.module_utils._node import enis


def find_enis(nics: list[dict[str, Any]], pattern: str | None = None) -> list[dict[str, Any]]:
    """Return the ENIs among the interfaces. A templated null pattern can arrive as an empty string."""
    try:
        return enis.find_enis(nics, pattern or None)
    except (enis.EniError, KeyError, TypeError) as error:
        raise AnsibleFilterError(
            f"taco.train.find_enis: {error!r}; it takes interfaces as taco.train.node_info returns them, and a regular expression"
        ) from error


class FilterModule:
    """The filter about ENIs."""

    def filters(self) -> dict[str, Any]:
        return {"find_enis": find_enis}
