# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""LightCC's environment variables: what each means, what it may be, and which of them change the gradients.

The seven variables, their defaults and units are those of the vendor's document on TACO-Training, section LightCC
(https://intl.cloud.tencent.com/document/product/560/50235).
"""

import difflib
import re
from decimal import Decimal
from typing import Any, Iterable, Mapping, NamedTuple, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import as_text, whole_number
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

TOPK_NOTE = "LightCC's top-k is on: it compresses gradients with loss, so the arms don't run the same algorithm."


class Setting(NamedTuple):
    """One variable of LightCC."""

    option: str
    """Its name in benchmark_lightcc."""
    kind: str
    """"switch" (0 or 1), "count" (1 or more), "bytes" (0 or more) or "ratio" (above 0, at most 1)."""
    default: Any
    unit: str
    description: str


SETTINGS = {
    "LIGHT_2D_ALLREDUCE": Setting("two_d_allreduce", "switch", False, "", "Whether to use the 2D all-reduce."),
    "LIGHT_INTRA_SIZE": Setting("intra_size", "count", 8, "GPUs", "GPUs of one group of the 2D all-reduce."),
    "LIGHT_HIERARCHICAL_THRESHOLD": Setting(
        "hierarchical_threshold", "bytes", 1073741824, "bytes", "Data up to this size use the 2D all-reduce."
    ),
    "LIGHT_TOPK_ALLREDUCE": Setting(
        "topk_allreduce", "switch", False, "", "Whether to send only the largest gradients, which loses the others."
    ),
    "LIGHT_TOPK_RATIO": Setting("topk_ratio", "ratio", 0.01, "", "The part of the gradients that top-k sends."),
    "LIGHT_TOPK_THRESHOLD": Setting(
        "topk_threshold", "bytes", 1048576, "bytes", "Data of this size or more use top-k compression."
    ),
    "LIGHT_TOPK_FP16": Setting(
        "topk_fp16", "switch", False, "", "Whether top-k sends its values as 16-bit floating point numbers."
    ),
}
OPTIONS = {setting.option: name for name, setting in SETTINGS.items()}

EXPECTED = {
    "switch": "0 or 1",
    "count": "a whole number of GPUs, 1 or more",
    "bytes": "a whole number of bytes, 0 or more",
    "ratio": "a number above 0 and at most 1",
}
SIZE_WITH_SUFFIX = re.compile(r"([0-9.]+) *([KMGT])i?B?", re.IGNORECASE)
SUFFIXES = {"K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ", the closest is NAME", or nothing when no name is close."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; the closest is {close[0]}" if close else ""


def is_on(value: Any) -> bool:
    """Whether a switch's value is on. YAML's true and false arrive as they are, text as text.

    A null counts as on: it exports the launcher's value, which nobody here knows, and a run that may be lossy is not called lossless.
    """
    return value is None or as_text(value).strip() not in ("0", "")


def fits(kind: str, value: Any) -> bool:
    """Return whether the value is one that a variable of this kind takes."""
    if kind == "switch":
        return as_text(value).strip() in ("0", "1")
    if isinstance(value, bool):
        return False
    if kind == "ratio":
        # float() also reads "nan", which no comparison holds for, and "1_0", which no C library would.
        try:
            return "_" not in str(value) and 0 < float(value) <= 1
        except (TypeError, ValueError):
            return False
    number = whole_number(value)
    return number is not None and number >= (1 if kind == "count" else 0)


def problem_of(name: str, value: Any) -> str | None:
    """The problem of one variable, or None."""
    if name not in SETTINGS:
        return f"LightCC has no variable {name}{nearest(name, SETTINGS)}. It has {', '.join(SETTINGS)}."
    setting = SETTINGS[name]
    # A null exports what the launcher has, which nobody here can see.
    if value is None or fits(setting.kind, value):
        return None
    said = f"{name} is {value!r}; it must be {EXPECTED[setting.kind]}"
    size = SIZE_WITH_SUFFIX.fullmatch(str(value).strip()) if setting.kind == "bytes" else None
    if size and size.group(1).count(".") <= 1 and size.group(1) != ".":
        count = int(Decimal(size.group(1)) * SUFFIXES[size.group(2).upper()])
        said += f" ({str(value).strip()} is {count})"
    return f"{said}. Set it in benchmark_env, or {setting.option} in benchmark_lightcc."


def validate(env: Mapping[str, Any], slots: Sequence[int] | None = None) -> list[str]:
    """Return a sentence for each thing wrong with the LIGHT_* variables of an environment.

    slots is the number of ranks of each host; without it, only the values themselves are looked at.
    """
    names = [name for name in env if str(name).startswith("LIGHT_")]
    said = [problem for problem in (problem_of(name, env[name]) for name in names) if problem]
    if said or not slots or not uses_groups(env):
        return said
    if "LIGHT_INTRA_SIZE" not in env:
        if len(set(slots)) > 1:
            return [
                f"The 2D all-reduce groups the same number of GPUs on each host and the hosts have {list(slots)} slots: "
                "set benchmark_hosts to equal slots, or LIGHT_INTRA_SIZE in benchmark_env."
            ]
        return []
    size = whole_number(env["LIGHT_INTRA_SIZE"])
    if size and sum(slots) % size:
        return [
            f"LIGHT_INTRA_SIZE is {size} and there are {sum(slots)} ranks, which don't make whole groups of {size}: "
            "set LIGHT_INTRA_SIZE in benchmark_env (intra_size in benchmark_lightcc) to a divisor of the ranks."
        ]
    return []


def uses_groups(env: Mapping[str, Any]) -> bool:
    return is_on(env.get("LIGHT_2D_ALLREDUCE", 0))


def group_size(env: Mapping[str, Any], slots: Sequence[int]) -> dict[str, str]:
    """Return the variable that makes a group of the 2D all-reduce one host, where LightCC's default would not."""
    if not uses_groups(env) or "LIGHT_INTRA_SIZE" in env or slots[0] == SETTINGS["LIGHT_INTRA_SIZE"].default:
        return {}
    return {"LIGHT_INTRA_SIZE": str(slots[0])}


def options_to_env(options: Any) -> dict[str, str]:
    """Return the variables of the role's option benchmark_lightcc. What is null is left to LightCC's default."""
    if not isinstance(options or {}, dict):
        raise InvalidValueError(f"benchmark_lightcc is a mapping of LightCC's options, and this is not: {options!r}.")
    env = {}
    for option, value in (options or {}).items():
        if option not in OPTIONS:
            known = ", ".join(OPTIONS)
            raise InvalidValueError(
                f"benchmark_lightcc has no {option}{nearest(str(option), OPTIONS)}. It has {known}."
            )
        if value is None:
            continue
        problem = problem_of(OPTIONS[option], value)
        if problem:
            raise InvalidValueError(f"benchmark_lightcc: {problem}")
        # 1e-05 is how Python writes a small ratio; a plain decimal is read by everything.
        text = format(Decimal(str(value)), "f") if isinstance(value, float) else as_text(value).strip()
        env[OPTIONS[option]] = text
    return env


def is_lossy(env: Mapping[str, Any]) -> bool:
    """Return whether top-k is on, which compresses gradients with loss."""
    return is_on(env.get("LIGHT_TOPK_ALLREDUCE", 0))
