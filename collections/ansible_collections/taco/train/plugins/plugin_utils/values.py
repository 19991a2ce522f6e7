# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The error of a value that is refused, and what makes a value a checksum or the name of an image."""

import hashlib
import re

from ansible_collections.taco.train.plugins.module_utils._process import words

InvalidValueError = words.InvalidValueError
SHA256 = re.compile(r"^[0-9a-fA-F]{64}$")
# Of 64 random digits as few different ones don't occur.
FEWEST_DIGITS = 8
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
# A registry with an optional port, a path in lower case, a tag and a digest.
IMAGE = re.compile(
    r"^(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$"
)


def is_placeholder(checksum: str) -> bool:
    """Whether a checksum was typed and not computed: few different digits, a repeated part, or that of an empty file."""
    repeated = (checksum + checksum).find(checksum, 1) < len(checksum)
    return repeated or len(set(checksum)) < FEWEST_DIGITS or checksum == EMPTY_SHA256


def is_checksum(text: str) -> bool:
    """Whether a text is a SHA-256 that somebody computed."""
    return SHA256.match(text) is not None and not is_placeholder(text.lower())
