# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Keep in mind which configuration files of HARP came about here, and take them back."""

import contextlib
import difflib
import os
import shutil
from typing import Any, Callable, Dict, Iterator, List, Sequence

from ansible_collections.taco.train.plugins.module_utils._atomic_file import read_bytes, remove_file
from ansible_collections.taco.train.plugins.module_utils._file_history import History, HistoryError
from ansible_collections.taco.train.plugins.module_utils._harp_options import MANIFEST

NO_FILE = {"original": None}


def history(state_dir: str) -> History:
    return History(os.path.join(state_dir, "harp", "history"))


@contextlib.contextmanager
def kept_in_mind(past: History, paths: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Note what a script makes of the files that paths returns, also when it fails; what it leaves alone is not its own."""
    before = {path: (read_bytes(path), past.seen(path)) for path in paths()}
    try:
        yield
    finally:
        for path in sorted(set(before) | set(paths())):
            content, seen = before.get(path, (None, NO_FILE))
            left = read_bytes(path)
            if left != content:
                past.note(path, left, [], generated=True, before=seen)


def text_of(content: Any) -> str:
    return (content or b"").decode("utf-8", "replace")


def require_unedited(past: History, force: bool) -> None:
    """Refuse to undo what somebody did since."""
    edited = []  # type: List[str]
    for path in past.paths():
        if past.edited(path) and not force:
            before, now = (text_of(content).splitlines() for content in (past.original(path).content, read_bytes(path)))
            edited += difflib.unified_diff(before, now, path + " before the first change", path + " now", lineterm="")
            edited += [] if os.path.exists(path) else [f"{path} is gone"]
    if edited:
        raise HistoryError(
            "somebody edited what was written here, and taking it back would undo that too; look at the difference and set "
            "harp_force: true (force) to take it back all the same:\n" + "\n".join(edited)
        )


def take_back(state_dir: str, force: bool, check_mode: bool) -> List[Dict[str, str]]:
    """Put the configuration files back to what they were, remove what was written beside them, and return the differences."""
    past = history(state_dir)
    require_unedited(past, force)
    diff = []
    for path in past.paths():
        now, original = text_of(read_bytes(path)), past.original(path).content
        if read_bytes(path) == original:
            continue
        header = path if original is not None else path + " (absent)"
        diff.append(dict(before=now, after=text_of(original), before_header=path, after_header=header))
        if not check_mode:
            past.put_back(path)
    return diff + _removed(state_dir, check_mode)


def _removed(state_dir: str, check_mode: bool) -> List[Dict[str, str]]:
    """Remove the manifest and the folder of what is remembered; that last, since a run that is killed begins from it again."""
    manifest, folder = os.path.join(state_dir, MANIFEST), os.path.join(state_dir, "harp")
    diff = []
    for path in [path for path in (manifest, folder) if os.path.lexists(path)]:
        before = (
            text_of(read_bytes(path))
            if path == manifest
            else "the scripts that ran, what they said and what they left\n"
        )
        diff.append(dict(before=before, after="", before_header=path, after_header=path + " (absent)"))
    if not check_mode:
        remove_file(manifest)
        if os.path.isdir(folder):
            shutil.rmtree(folder)
    return diff
