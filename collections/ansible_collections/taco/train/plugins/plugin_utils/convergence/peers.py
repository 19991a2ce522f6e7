# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell by what was observed of a host which peers it trusts."""

from typing import Any, Mapping


def agreed_peers(
    options: Mapping[str, Any], trust: Mapping[str, Any] | None, name: str, hosts: int, limited: bool
) -> str | None:
    """The checksum of the peers that a host trusts, None where the role ssh_trust has something to do.

    options are those of the module ssh_trust, trust is what node_info returned under that name, name is the host's in the
    inventory. hosts is how many the play has; when it is limited to a part of them, others may be trusted, too.

    A host is one of its own peers. So when all hosts have the same peers, as many as there are hosts, and each is named there as
    it is reached, then every host knows every other.
    """
    if not trust or not trust.get("active_in") or trust["active_in"] != options.get("container"):
        return None
    reached = (name, options.get("address"), str(options.get("port")))
    if reached != (trust.get("name"), trust.get("address"), str(trust.get("port"))):
        return None
    count = trust.get("peers", 0)
    checksum: str | None = trust.get("peers_sha256")
    return checksum if count == hosts or (limited and count > hosts) else None
