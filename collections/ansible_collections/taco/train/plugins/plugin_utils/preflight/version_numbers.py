# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare versions of programs, which are not Python's. Values in, values out."""

import re
from typing import Tuple


def parts(version: str) -> Tuple[int, ...]:
    """A version as numbers, without what follows them, such as -ce or ~ubuntu."""
    start = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in start.group().split(".")) if start else ()


def is_older(version: str, least: str) -> bool:
    return parts(version) < parts(least)
