#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The VM lab's machines as an inventory, from what `make vm-up` wrote down."""

import json
import sys
from pathlib import Path

INVENTORIES = Path(__file__).resolve().parents[1]
# Before this file's own folder, which holds a file of the same name.
sys.path.insert(0, str(INVENTORIES / "lab"))

from nodes import inventory

LAB = INVENTORIES.parent / ".lab/vm"


def main():
    try:
        state = json.loads((LAB / "state.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        raise SystemExit("the VM lab is not up; run make vm-up") from None
    found = inventory(state, LAB / "ssh")
    if "--host" in sys.argv[1:]:
        found = found["_meta"]["hostvars"].get(sys.argv[-1], {})
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
