# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Record which configuration files of HARP were created or changed, show the differences, and revert them."""

import base64
import contextlib
import glob
import hashlib
import json
import os
import re
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    FileError,
    read_bytes,
    remove_file,
    replace_file,
    sweep,
)
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, held
from ansible_collections.taco.train.plugins.module_utils._files.history import History, HistoryError
from ansible_collections.taco.train.plugins.module_utils._harp.options import MANIFEST
from ansible_collections.taco.train.plugins.module_utils._harp.script import wait_for_script


def text_of(content: Optional[bytes]) -> str:
    return (content or b"").decode("utf-8", "replace")


class Change(NamedTuple):
    """The content of a file before and after a change."""

    path: str
    before: Optional[bytes]
    after: bytes


def difference(path: str, before: Optional[bytes], after: Optional[bytes]) -> Dict[str, str]:
    """Return the difference of a file as modules return it. A content is None where there is no file."""
    header = path if after is not None else path + " (absent)"
    return dict(before=text_of(before), after=text_of(after), before_header=path, after_header=header)


def changes(contents: Mapping[str, str]) -> List[Change]:
    """Return the changes of the files that don't have these contents, by path."""
    files = [Change(path, read_bytes(path), contents[path].encode("utf-8")) for path in sorted(contents)]
    return [file for file in files if file.before != file.after]


NO_FILE = {"original": None}
UNFINISHED = re.compile(r"\..+\.[0-9]+\.tmp")
# What was there before the script that runs, or that was killed; it goes when that is in the history.
BEFORE = "before-script.json"
# The script that runs, by its process.
RUNNING = "running"
LOCK_SECONDS = 60
# The names of what the module keeps in its folder, in the order of its removal: a log is known by the scripts beside it.
HISTORY, LOG, SCRIPT = "history", "setup.log", re.compile(r"setup-([0-9a-f]{12})")
OWN_NAME = re.compile(
    rf"{HISTORY}|{re.escape(LOG)}|state\.json|{re.escape(BEFORE)}|{RUNNING}|\..+\.[0-9]+\.tmp|setup-[0-9a-f]{{12}}"
)
JSON_KEYS = {
    "state.json": {"source", "version"},
    BEFORE: {"files", "folder"},
    HISTORY: {"arguments", "files", "version"},
}


def history(state_dir: str) -> History:
    return History(os.path.join(state_dir, "harp", "history"))


@contextlib.contextmanager
def alone(state_dir: str, create: bool) -> Iterator[None]:
    """Let no other run change HARP's configuration. A script outlives the controller that started it."""
    folder = os.path.join(state_dir, "harp")
    if create:
        CreatedFolders(state_dir).make_state_dir()
        os.makedirs(folder, 0o700, exist_ok=True)
    if not os.path.isdir(folder):
        yield
        return
    with held(folder, LOCK_SECONDS, "changing HARP's configuration"):
        wait_for_script(os.path.join(folder, RUNNING), LOCK_SECONDS)
        yield


def config_paths(folder: str, pattern: str) -> List[str]:
    """List the configuration files in a folder."""
    return [path for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))) if os.path.isfile(path)]


def checksums(folder: str, pattern: str) -> Dict[str, str]:
    """Return {path: checksum} of the configuration files that aren't empty."""
    contents = {path: read_bytes(path) for path in config_paths(folder, pattern)}
    return {path: hashlib.sha256(content).hexdigest() for path, content in contents.items() if content}


@contextlib.contextmanager
def recorded(state_dir: str, folder: str, pattern: str) -> Iterator[None]:
    """Record the files of a folder before a script runs, and then what it made of them, also when it fails or is killed."""
    settle(state_dir)
    CreatedFolders(state_dir).record([folder])
    past = history(state_dir)
    files = {path: past.seen(path) for path in config_paths(folder, pattern)}
    data = json.dumps({"folder": folder, "pattern": pattern, "files": files}, indent=1, sort_keys=True).encode("utf-8")
    replace_file(os.path.join(state_dir, "harp", BEFORE), data + b"\n", mode=0o600)
    try:
        yield
    finally:
        settle(state_dir)


def unsettled(state_dir: str) -> Dict[str, Any]:
    """Return {path: what it was before the script} of the files that the last script changed and the history lacks."""
    name = os.path.join(state_dir, "harp", BEFORE)
    data = read_bytes(name)
    if data is None:
        return {}
    try:
        before = json.loads(data.decode("utf-8"))
        files, paths = before["files"], config_paths(before["folder"], before["pattern"])
    except (ValueError, KeyError, TypeError) as error:
        raise HistoryError(
            f"{name} can't be read, so what was there before is unknown; move it away to start anew"
        ) from error
    past = history(state_dir)
    return {
        path: files.get(path, NO_FILE)
        for path in set(files) | set(paths)
        if differs(past, path, files.get(path, NO_FILE))
    }


def differs(past: History, path: str, before: Dict[str, Any]) -> bool:
    """Tell whether the content, the mode or the owner of a file is another one than it was."""
    now = past.seen(path)
    return any(now.get(key) != before.get(key) for key in ("original", "mode", "uid", "gid"))


def settle(state_dir: str) -> None:
    """Add to the history what the last script changed; what it left alone is not its own."""
    past = history(state_dir)
    for path, before in sorted(unsettled(state_dir).items()):
        past.note(path, read_bytes(path), [], generated=True, before=before)
    remove_file(os.path.join(state_dir, "harp", BEFORE))


def require_unedited(past: History, force: bool) -> None:
    """Refuse to revert files that were edited since."""
    # Imported only here, since it takes longer than the other imports of this file.
    import difflib

    edited = []  # type: List[str]
    for path in past.paths():
        if past.edited(path) and not force:
            before, now = (text_of(content).splitlines() for content in (past.original(path).content, read_bytes(path)))
            edited += difflib.unified_diff(before, now, path + " before the first change", path + " now", lineterm="")
            edited += [] if os.path.exists(path) else [f"{path} is gone"]
    if edited:
        raise HistoryError(
            "somebody edited what was written here, and taking it back would undo that too; look at the difference and set "
            "force: true (harp_force) to take it back all the same:\n" + "\n".join(edited)
        )


def revert(state_dir: str, force: bool, check_mode: bool, permit: Callable[[], None]) -> List[Dict[str, str]]:
    """Restore the configuration files, remove what was written beside them, and return the differences.

    permit is called before the first configuration file changes, and raises where none may.
    """
    with alone(state_dir, create=False):
        past, pending = history(state_dir), unsettled(state_dir)
        if not check_mode:
            settle(state_dir)
            pending = {}
        require_unedited(past, force)
        before = dict(pending, **{path: past.entry(path) for path in past.paths()})
        changed = [path for path in sorted(before) if differs(past, path, before[path])]
        if changed:
            permit()
        diff = [difference(path, read_bytes(path), _original(before[path])) for path in changed]
        if not check_mode:
            _restore(past, sorted(before), changed)
        return diff + _removed(state_dir, check_mode)


def _original(entry: Dict[str, Any]) -> Optional[bytes]:
    return None if entry["original"] is None else base64.b64decode(entry["original"])


def _restore(past: History, paths: List[str], changed: List[str]) -> None:
    """Restore every file that can be restored, and name the others. The history keeps their originals for the next run."""
    problems = []
    for path in paths:
        try:
            if path in changed:
                past.put_back(path)
            else:
                sweep(path)
        except (FileError, OSError) as error:
            problems.append(f"{path} ({getattr(error, 'strerror', None) or error})")
    if problems:
        raise HistoryError(
            f"{len(problems)} of {len(paths)} configuration files could not be restored: {'; '.join(problems)}. Their originals "
            f"are kept in {past.manifest_path()}, in base64. Correct that and run this again: it restores them"
        )


def is_own_manifest(path: str) -> bool:
    """Whether the host manifest was written by this module, or is not there."""
    content = b"" if os.path.isdir(path) else read_bytes(path)
    return content is None or b'"written_by": "taco.train"' in content


def _is_own(folder: str, name: str) -> bool:
    """Tell whether a file carries a mark of this module, not only a name of it."""
    path = os.path.join(folder, name)
    if os.path.islink(path) or os.path.isdir(path) != (name == HISTORY):
        return False
    content = read_bytes(os.path.join(path, "manifest.json") if name == HISTORY else path)
    script = SCRIPT.fullmatch(name)
    if script:
        return hashlib.sha256(content or b"").hexdigest().startswith(script.group(1))
    if name == LOG:
        return any(SCRIPT.fullmatch(other) and _is_own(folder, other) for other in os.listdir(folder))
    if name == RUNNING:
        return re.fullmatch(rb"([0-9]+ [0-9]*\n)?", content or b"") is not None
    if name not in JSON_KEYS:
        return True
    if content is None:
        return not set(os.listdir(path)) - set(filter(UNFINISHED.fullmatch, os.listdir(path)))
    try:
        return JSON_KEYS[name] <= set(json.loads(content.decode("utf-8")))
    except (ValueError, TypeError):
        return False


def _named(folder: str) -> List[str]:
    """List the files in the folder that have a name of this module."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(filter(OWN_NAME.fullmatch, names), key=lambda name: (bool(SCRIPT.fullmatch(name)), name))


def foreign_files(state_dir: str) -> List[str]:
    """List what has a name of this module and no mark of it: somebody else's, which stays."""
    folder = os.path.join(state_dir, "harp")
    manifest = os.path.join(state_dir, MANIFEST)
    foreign = [os.path.join(folder, name) for name in _named(folder) if not _is_own(folder, name)]
    return foreign + ([] if is_own_manifest(manifest) else [manifest])


def _removed(state_dir: str, check_mode: bool) -> List[Dict[str, str]]:
    """Remove the manifest and what is remembered; that last, since a run that is killed begins from it again."""
    manifest, folder = os.path.join(state_dir, MANIFEST), os.path.join(state_dir, "harp")
    own = [os.path.join(folder, name) for name in _named(folder) if _is_own(folder, name)]
    removed = [(manifest, read_bytes(manifest))] if os.path.lexists(manifest) and is_own_manifest(manifest) else []
    if own or (os.path.isdir(folder) and not os.listdir(folder)):
        removed.append((folder, b"the setup scripts, their output and the history of the files\n"))
    if not check_mode:
        if is_own_manifest(manifest):
            remove_file(manifest)
        for path in own:
            if os.path.isdir(path):
                history(state_dir).forget()
            else:
                remove_file(path)
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
    return [difference(path, content, None) for path, content in removed]
