# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to look at for an exception of the user's script that no cause of the table knows, by its kind and its words."""

import re

ARGUMENTS = "benchmark_options.extra_args, the data, the number of ranks"
# The first that fits counts.
KINDS = [
    (
        re.compile(
            r"(?i)dataset\w*NotFound|\b(?:data ?set|builder|split)\b.{0,120}(?:not found|unknown|doesn't exist|should be one of)"
        ),
        "the name, the folder and the parts of the data set that benchmark_options.extra_args give",
    ),
    (
        re.compile(
            r"(?i)(?:does(?:n't| not) match|mismatch|must match|must be equal|incompatible|expected [^\n,]{1,60},? (?:but )?got|!=)"
        ),
        "both values that the message compares: make the configuration, the data and the model agree",
    ),
    (
        re.compile(r"(?i)\b(?:shape|size|dimension)s?\b"),
        "the sizes in the message: those of the model, the data and benchmark_options.batch_size must fit together",
    ),
    (
        re.compile(r"^(?:\w+\.)*PermissionError\b"),
        "the owner and the mode of what it opens, for the user of the container",
    ),
    (
        re.compile(r"^(?:\w+\.)*(?:FileNotFoundError|NotADirectoryError|IsADirectoryError)\b"),
        "the path that it opens, which starts at benchmark_options.chdir where it begins without /: every host needs it",
    ),
    (
        re.compile(r"^(?:\w+\.)*KeyError\b"),
        "the name in the message: the configuration, the checkpoint, the data or the environment (benchmark_env) lacks it",
    ),
    (
        re.compile(r"^(?:\w+\.)*(?:AttributeError|TypeError)\b"),
        "the versions of the libraries in taco_image, whose functions the script may know in another version, and at "
        "benchmark_options.extra_args",
    ),
]


def what_to_see(text: str) -> str:
    """What the fix names besides the line of the script."""
    return next((words for pattern, words in KINDS if pattern.search(text[:1000])), f"what it gets: {ARGUMENTS}")
