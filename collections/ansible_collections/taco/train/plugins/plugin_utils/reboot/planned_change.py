# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describe the reboot of a host in a plan: whether it is needed, why, and what it interrupts."""

import hashlib
import json
from typing import Any, Dict, Mapping, Sequence


def planned_change(boot: Mapping[str, Any], allowed: bool, platform: str, around: Sequence[Any] = ()) -> Dict[str, Any]:
    """Describe the reboot of a host as a module's result does. A reboot that is required and not allowed is no change.

    boot is the fact taco_boot, around are the commands and files of tasks that run before and after the reboot.
    """
    required = bool(boot.get("reboot_required"))
    pages = f"{boot.get('count')} pages of {boot.get('page_size')}"
    drained = ["pods of the node, which is drained"] if platform in ("tke", "ack") else []
    texts = {"pages of the running kernel": pages}
    if any(around):
        text = json.dumps(list(around), default=str)
        # A command can contain a password.
        texts["commands and tasks around the reboot"] = f"SHA-256 {hashlib.sha256(text.encode('utf-8')).hexdigest()}"
    return {
        "changed": required and allowed,
        "required": required,
        "reason": f"the boot configuration has {pages}; the running kernel differs from it",
        "interrupts": ["reboot of the host", *drained],
        "diff": [dict(before_header=name, before="", after=text + "\n") for name, text in texts.items()],
    }
