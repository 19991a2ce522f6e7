# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make what apt or yum offers usable in a playbook."""

from typing import Any

from ansible_collections.taco.train.plugins.module_utils._node.packages import candidates


class FilterModule:
    """The filter about packages."""

    def filters(self) -> dict[str, Any]:
        return {"package_candidates": candidates}
