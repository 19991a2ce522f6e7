#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Docker lab's nodes as those of a cluster, from what `make kubelab-up` wrote down."""

import sys
from pathlib import Path

INVENTORIES = Path(__file__).resolve().parents[1]
# Before this file's own folder, which holds a file of the same name.
sys.path.insert(0, str(INVENTORIES / "lab"))

from nodes import LAB, show

if __name__ == "__main__":
    if not (LAB / "kube" / "config").exists():
        raise SystemExit("the stand-in for a cluster is not up; run make kubelab-up")
    show(LAB, "make kubelab-up")
