# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""The options of the module eni_check, for the actions that judge ENIs on the controller."""

from typing import Any

ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "expected": {"type": "int", "required": True},
    "pattern": {"type": "str"},
    "subnet": {"type": "list", "elements": "str", "default": []},
    "nics": {"type": "list", "elements": "dict", "required": True},
    "sysroot": {"type": "path", "default": "/"},
}
