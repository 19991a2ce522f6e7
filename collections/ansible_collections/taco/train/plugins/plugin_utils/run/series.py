# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The folder of a series of runs, a comparison or a search, on the controller: its lock, its file, and which one is continued."""

import fcntl
import hashlib
import json
import os
from datetime import datetime, timezone
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.run import record_file, store
from ansible_collections.taco.train.plugins.plugin_utils.run.owner import identity, is_of_another, parse, playbook
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError

LOCK_FILE = "series.lock"


class Kind(NamedTuple):
    """A kind of series, in the words of its errors."""

    noun: str
    file: str
    """The file that makes a folder one of this kind. It has the fingerprint of the series."""
    fresh: str
    """The variable that begins another series."""


COMPARISON = Kind("comparison", "comparison-plan.json", "compare_fresh")
SEARCH = Kind("search", "locate.json", "locate_fresh")


def fingerprint(value: Any) -> str:
    """A text that tells a series from others."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def load(path: str, what: str) -> Dict[str, Any]:
    """Return the mapping in a JSON file; what names in an error what it should have been."""
    try:
        with open(path, encoding="utf-8") as stream:
            value = json.load(stream)
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} can't be read as {what}: {error}.") from error
    if not isinstance(value, dict):
        raise RecordError(f"{path} is not {what}.")
    return value


def keep(path: str, value: Any, problems: Sequence[str]) -> str:
    """Write a JSON file and return its path; problems are those that its schema has with the value."""
    record_file.require_valid(problems, path)
    store.write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")
    return path


def new_folder(results_dir: str, name: str) -> str:
    """Return the name of a folder that sorts by time among those of single runs."""
    time = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
    return os.path.join(results_dir, f"{time}-{name}")


def newest(
    kind: Kind,
    results_dir: str,
    wanted: str,
    content: Callable[[str], Dict[str, Any]],
    warn: Callable[[str], None],
) -> Optional[Tuple[str, Dict[str, Any]]]:
    """The newest folder of the series with this fingerprint, and the content of its file.

    warn is called about each file that is skipped because it can't be read.
    """
    for name in sorted(os.listdir(results_dir), reverse=True) if os.path.isdir(results_dir) else []:
        folder = os.path.join(results_dir, name)
        if os.path.islink(folder) or not os.path.exists(os.path.join(folder, kind.file)):
            continue
        try:
            found = content(folder)
        except RecordError as error:
            warn(
                f"{error} It is skipped: if it is the {kind.noun} to continue, restore the file from a backup; to begin a new "
                f"{kind.noun} without reading earlier ones, set {kind.fresh}: true."
            )
            continue
        if found.get("fingerprint") == wanted:
            return folder, found
    return None


def enter(kind: Kind, run_dir: str, write: bool = True) -> None:
    """Take the folder of a series for this playbook, and make it the latest one. Without write only the lock is checked."""
    if write:
        store.make_directory(os.path.join(run_dir, "logs"))
    acquire(kind, run_dir, playbook(), write)
    if write:
        store.point_latest(run_dir)


def acquire(kind: Kind, run_dir: str, pid: int, write: bool = True) -> None:
    """Take the lock of a series for the process of a playbook, or raise who has it. Without write it is only checked.

    It is released when the process ends, however it ends. Whether one of another container, or of before a reboot of the controller,
    has ended can't be seen: then the file must be deleted.
    """
    path = os.path.join(run_dir, LOCK_FILE)
    own = identity(pid)
    if not write and not os.path.exists(path):
        return
    try:
        with open(path, "a+" if write else "r", encoding="utf-8", errors="replace") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
            stream.seek(0)
            holder = parse(stream.read())
            if is_of_another(holder, own):
                raise RecordError(
                    f"The process {holder['pid']} on {holder['controller']} has the lock of the {kind.noun} in {run_dir}. Wait until "
                    f"it has ended, or begin another {kind.noun} with {kind.fresh}: true. If it has ended and this message stays, as after "
                    f"a kill in another container, delete {path}."
                )
            if write:
                stream.truncate(0)
                stream.write(json.dumps(own))
    except OSError as error:
        raise RecordError(
            f"{path} can't be locked: {error.strerror}. Check the permissions of the folder, or set taco_results_dir."
        ) from error


def release(run_dir: str) -> None:
    """Release the lock of a series that has ended, unless another playbook has it. A later one, in another container too, can add runs."""
    path = os.path.join(run_dir, LOCK_FILE)
    if not os.path.exists(path):
        return
    with open(path, "r+", encoding="utf-8", errors="replace") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if not is_of_another(parse(stream.read()), identity(playbook())):
            stream.truncate(0)
