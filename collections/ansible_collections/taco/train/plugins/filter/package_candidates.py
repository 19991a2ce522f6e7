# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell playbooks which packages a host lacks, and what apt or yum offers."""

from typing import Any

from ansible_collections.taco.train.plugins.module_utils._node.packages import candidates
from ansible_collections.taco.train.plugins.plugin_utils.container.engine import engine_needs


class FilterModule:
    """The filters about packages."""

    def filters(self) -> dict[str, Any]:
        return {"engine_needs": engine_needs, "package_candidates": candidates}
