# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell playbooks what the profile of the training container needs."""

from typing import Any

from ansible_collections.taco.train.plugins.plugin_utils.container.profile import needs_of


def profile_needs(profile: Any, platform: Any = None, hosts: Any = 1) -> dict[str, Any]:
    """Return the needs of each of the hosts of a play. A templated null can arrive as an empty string."""
    needs = needs_of(profile, platform, int(hosts))
    return dict(needs._asdict(), arms=list(needs.arms))


class FilterModule:
    """The filter about profiles."""

    def filters(self) -> dict[str, Any]:
        return {"profile_needs": profile_needs}
