# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a check says, and how variables are read that may hold anything. Values in, values out."""

from typing import Any, Dict, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._process import words

gib = words.gib
STATUSES = ("fail", "warn", "pass", "skip")


class Check(NamedTuple):
    """The outcome of one check of one host. Expected, found and fix are for people to read."""

    id: str
    status: str
    expected: str = ""
    found: str = ""
    fix: str = ""


def skipped(identity: str, reason: str, waits_for: str = "") -> Check:
    """Return the outcome of a check that has nothing to look at, with the check whose failure is the reason."""
    return Check(identity, "skip", waits_for, reason)


class NotComputedError(Exception):
    """A check needs a variable that can't be computed."""


class Variables(Dict[str, Any]):
    """The variables of a host. To read one that can't be computed is an error, so that it isn't taken for one without a value."""

    def __init__(self, values: Mapping[str, Any], undefined: Mapping[str, str]):
        super().__init__(values)
        self.undefined = undefined

    def get(self, name: str, default: Any = None) -> Any:
        if name in self.undefined:
            raise NotComputedError(name)
        return super().get(name, default)


def is_set(value: Any) -> bool:
    """Return whether a variable has a value. Before ansible-core 2.19 a null in a template became an empty text."""
    return value is not None and value != ""


def whole(value: Any) -> Optional[int]:
    """Return a whole number, also one given as text, or None for everything else."""
    if isinstance(value, bool):
        return None
    try:
        number = int(str(value).strip())
    except ValueError:
        return None
    return number


def fraction(value: Any, default: float) -> float:
    """Return a number, also one given as text, or the default for everything else."""
    try:
        return float(str(value))
    except ValueError:
        return default


def truth(value: Any, default: bool = False) -> bool:
    """Return a boolean the way Ansible reads one."""
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in ("yes", "true", "on", "1", "y", "t"):
        return True
    return False if text in ("no", "false", "off", "0", "n", "f") else default
