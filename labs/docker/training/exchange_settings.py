# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the environment says about the exchange: LightCC's documented variables, Horovod's fusion, and the lab's own."""

import math
from typing import NamedTuple, Optional


class SettingsError(Exception):
    """A variable that no run can follow."""


class Settings(NamedTuple):
    """The variables of the same names. Thresholds are bytes of the real model's tensors, see exchange_plan."""

    # LightCC's defaults are those of its documentation.
    two_dimensional: bool = False  # LIGHT_2D_ALLREDUCE
    intra_size: int = 8  # LIGHT_INTRA_SIZE: ranks of one group, consecutive ones
    hierarchical_threshold: int = 1073741824  # LIGHT_HIERARCHICAL_THRESHOLD: up to here by 2D
    topk: bool = False  # LIGHT_TOPK_ALLREDUCE
    topk_ratio: float = 0.01  # LIGHT_TOPK_RATIO
    topk_threshold: int = 1048576  # LIGHT_TOPK_THRESHOLD: from here on by top-k
    topk_fp16: bool = False  # LIGHT_TOPK_FP16: values are sent in half precision
    # 64 MB by Horovod's documentation (docs/tensor-fusion.rst); 0 is no fusion.
    fusion_threshold: int = 67108864  # HOROVOD_FUSION_THRESHOLD
    slowdown: float = 1.0  # LAB_SLOWDOWN: how many times as long a batch is made to take
    rate_mbit: Optional[float] = None  # LAB_RATE_MBIT: what a node can send, to set the measured time against


def switch(text):
    """Return a switch as the documents write it, or as YAML turns it into text."""
    return {"0": False, "1": True, "false": False, "true": True}[text.lower()]


def whole(text):
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def positive(text):
    number = whole(text)
    if number < 1:
        raise ValueError(text)
    return number


def real(lowest, highest, open_below=False):
    """Return a reader of a number from lowest (or only above it) to highest; nan and inf are none."""

    def read(text):
        number = float(text)
        if not (math.isfinite(number) and lowest <= number <= highest) or (open_below and number == lowest):
            raise ValueError(text)
        return number

    return read


# Variable -> its field, what reads it, and what is expected of it.
VARIABLES = {
    "LIGHT_2D_ALLREDUCE": ("two_dimensional", switch, "0 or 1"),
    "LIGHT_INTRA_SIZE": ("intra_size", positive, "a whole number of ranks, 1 or more"),
    "LIGHT_HIERARCHICAL_THRESHOLD": ("hierarchical_threshold", whole, "a whole number of bytes"),
    "LIGHT_TOPK_ALLREDUCE": ("topk", switch, "0 or 1"),
    "LIGHT_TOPK_RATIO": ("topk_ratio", real(0, 1, open_below=True), "a number above 0 and up to 1"),
    "LIGHT_TOPK_THRESHOLD": ("topk_threshold", whole, "a whole number of bytes"),
    "LIGHT_TOPK_FP16": ("topk_fp16", switch, "0 or 1"),
    "HOROVOD_FUSION_THRESHOLD": ("fusion_threshold", whole, "a whole number of bytes, 0 for no fusion"),
    "LAB_SLOWDOWN": ("slowdown", real(1, 1000), "a number from 1 to 1000"),
    "LAB_RATE_MBIT": ("rate_mbit", real(0, 1e9, open_below=True), "a number of Mbit/s above 0"),
}


def read(environ, ranks):
    """Return the Settings of an environment for so many ranks, or raise SettingsError."""
    found = {}
    for variable, (field, reader, expected) in VARIABLES.items():
        if variable in environ:
            try:
                found[field] = reader(environ[variable].strip())
            except (KeyError, ValueError):
                raise SettingsError("%s is %r; it must be %s" % (variable, environ[variable], expected)) from None
    settings = Settings(**found)
    if settings.two_dimensional and ranks % settings.intra_size:
        raise SettingsError(
            "LIGHT_INTRA_SIZE is %d, which doesn't divide the %d ranks of this run into groups: set it to the ranks "
            "of one host, or LIGHT_2D_ALLREDUCE to 0" % (settings.intra_size, ranks)
        )
    return settings
