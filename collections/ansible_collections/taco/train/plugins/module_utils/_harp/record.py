# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the ENIs and settings of HARP's last setup with those of now. Values in, values out.

A program in user space that takes an interface over, as HARP may be, takes its name, MAC address and addresses away. What
can't be observed, then or now, doesn't count as changed.
"""

import hashlib
import hmac
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence

Identity = Dict[str, Any]
HASH_ROUNDS = 10000


def _addresses(nic: Mapping[str, Any]) -> List[str]:
    """Return the IPv4 addresses, those of the guest or of the instance metadata. IPv6 addresses can change by themselves."""
    found = nic.get("addresses") or nic.get("vpc_addresses") or []
    return sorted(str(address).split("/", maxsplit=1)[0] for address in found if ":" not in str(address))


def identity(nic: Mapping[str, Any]) -> Identity:
    """The identity of an interface: its PCI address where it has one, else its name; and its name, MAC and addresses now."""
    pci = nic.get("pci")
    named = nic["name"] != pci
    return {
        "key": pci or nic["name"],
        "name": nic["name"] if named else None,
        "mac": nic.get("mac") or None,
        "addresses": _addresses(nic),
    }


def _keys(interfaces: Sequence[Identity]) -> str:
    return ", ".join(one["key"] for one in interfaces) or "none"


def _differences(before: Identity, now: Identity) -> List[str]:
    named = before["name"] if before["name"] in (None, before["key"]) else f"{before['name']} ({before['key']})"
    found = []
    for field, what in (("name", "name"), ("mac", "MAC address"), ("addresses", "addresses")):
        old, new = before[field], now[field]
        if old and new and old != new:
            words = [", ".join(one) if isinstance(one, list) else one for one in (old, new)]
            found.append(f"the {what} of ENI {named or before['key']} changed from {words[0]} to {words[1]}")
    return found


def changed_interfaces(before: Sequence[Identity], now: Sequence[Identity]) -> Optional[str]:
    """Return how the ENIs differ from those of the last setup, None when they are the same as far as can be observed."""
    old, new = ({one["key"]: one for one in interfaces} for interfaces in (before, now))
    if set(old) != set(new):
        return f"the ENIs changed from {_keys(before)} to {_keys(now)}"
    differences = [text for key in sorted(old) for text in _differences(old[key], new[key])]
    return "; ".join(differences) or None


def _digest(settings: Mapping[str, Any], salt: bytes) -> str:
    text = json.dumps(settings, sort_keys=True).encode("utf-8")
    return hashlib.pbkdf2_hmac("sha256", text, salt, HASH_ROUNDS).hex()


def settings_digest(settings: Mapping[str, Any]) -> Dict[str, str]:
    """Return a salted hash of the settings, which can hold secrets and are never stored."""
    salt = os.urandom(16)
    return {"salt": salt.hex(), "pbkdf2_sha256": _digest(settings, salt)}


def same_settings(known: Mapping[str, str], settings: Mapping[str, Any]) -> bool:
    return hmac.compare_digest(known["pbkdf2_sha256"], _digest(settings, bytes.fromhex(known["salt"])))
