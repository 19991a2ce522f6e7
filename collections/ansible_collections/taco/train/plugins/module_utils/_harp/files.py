# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change configuration files of HARP by the journal, show the differences, and revert them."""

import contextlib
import glob
import hashlib
import os
import re
from typing import Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    FileError,
    read_bytes,
    remove_file,
    sweep,
)
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.module_utils._files.journal import Change as FileChange
from ansible_collections.taco.train.plugins.module_utils._files.journal import Journal, JournalError
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


# The script that runs, by its process.
RUNNING = "running"
LOCK_SECONDS = 60
# The names of what the module keeps in its folder, in the order of its removal: a log is known by the scripts beside it.
LOG, SCRIPT = "setup.log", re.compile(r"setup-([0-9a-f]{12})")
OWN_NAME = re.compile(rf"{re.escape(LOG)}|state\.json|{RUNNING}|\..+\.[0-9]+\.tmp|{SCRIPT.pattern}")


def journal_of(state_dir: str) -> Journal:
    return Journal("harp", CreatedFolders(state_dir))


@contextlib.contextmanager
def alone(journal: Journal, create: bool) -> Iterator[None]:
    """Let no other run change HARP's configuration. A script outlives the controller that started it."""
    if not create and not os.path.isdir(journal.folder):
        yield
        return
    with journal.folders.locked(LOCK_SECONDS):
        wait_for_script(os.path.join(journal.folder, "harp", RUNNING), LOCK_SECONDS)
        yield


def config_paths(folder: str, pattern: str) -> List[str]:
    """List the configuration files in a folder."""
    return [path for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))) if os.path.isfile(path)]


def checksums(folder: str, pattern: str) -> Dict[str, str]:
    """Return {path: checksum} of the configuration files that aren't empty."""
    contents = {path: read_bytes(path) for path in config_paths(folder, pattern)}
    return {path: hashlib.sha256(content).hexdigest() for path, content in contents.items() if content}


@contextlib.contextmanager
def recorded(journal: Journal, folder: str, pattern: str) -> Iterator[None]:
    """Record the files of a folder before a script runs, and then what it made of them, also when it fails or is killed."""
    journal.commit()
    journal.folders.record([folder])
    journal.begin(FileChange({}, watched=(folder, pattern)))
    try:
        yield
    finally:
        journal.commit()


def require_unedited(journal: Journal, force: bool) -> None:
    """Refuse to revert files that were edited since."""
    # Imported only here, since it takes longer than the other imports of this file.
    import difflib

    edited = []  # type: List[str]
    for path in journal.paths():
        if journal.edited(path) and not force:
            before, now = (text_of(content).splitlines() for content in (journal.original(path), read_bytes(path)))
            edited += difflib.unified_diff(before, now, path + " before the first change", path + " now", lineterm="")
            edited += [] if os.path.exists(path) else [f"{path} is gone"]
    if edited:
        raise JournalError(
            "somebody edited what was written here, and taking it back would undo that too; look at the difference and set "
            "force: true (harp_force) to take it back all the same:\n" + "\n".join(edited)
        )


def revert(state_dir: str, force: bool, check_mode: bool, permit: Callable[[], None]) -> List[Dict[str, str]]:
    """Restore the configuration files, remove what was written beside them, and return the differences.

    permit is called before the first configuration file changes, and raises where none may.
    """
    journal = journal_of(state_dir)
    with alone(journal, create=False):
        pending = journal.pending()
        if not check_mode:
            journal.commit()
            pending = {}
        require_unedited(journal, force)
        before = dict(pending, **{path: journal.entry(path) for path in journal.paths()})
        changed = [path for path in sorted(before) if journal.differs(path, before[path])]
        if changed:
            permit()
        diff = [difference(path, read_bytes(path), journal.content(before[path])) for path in changed]
        if not check_mode:
            _restore(journal, sorted(before), changed)
        return diff + _removed(journal, check_mode)


def _restore(journal: Journal, paths: List[str], changed: List[str]) -> None:
    """Restore every file that can be restored, and name the others. The journal keeps their originals for the next run."""
    problems = []
    for path in paths:
        try:
            if path in changed:
                journal.put_back(path)
            else:
                sweep(path)
        except (FileError, OSError) as error:
            name = journal.entry(path)["original"]
            kept = f"; its original is kept in {journal.copy_of(name)}" if name else ""
            problems.append(f"{path} ({getattr(error, 'strerror', None) or error}{kept})")
    if problems:
        raise JournalError(
            f"{len(problems)} of {len(paths)} configuration files could not be restored: {'; '.join(problems)}. Correct that and "
            "run this again: it restores them"
        )


def is_own_manifest(path: str) -> bool:
    """Whether the host manifest was written by this module, or is not there."""
    content = b"" if os.path.isdir(path) else read_bytes(path)
    return content is None or b'"written_by": "taco.train"' in content


def _is_own(folder: str, name: str) -> bool:
    """Tell whether a file carries a mark of this module, not only a name of it."""
    path = os.path.join(folder, name)
    content = b"" if os.path.islink(path) or os.path.isdir(path) else read_bytes(path) or b""
    script = SCRIPT.fullmatch(name)
    if script:
        return hashlib.sha256(content).hexdigest().startswith(script.group(1))
    if name == LOG:
        return any(SCRIPT.fullmatch(other) and _is_own(folder, other) for other in os.listdir(folder))
    if name == RUNNING:
        return os.path.isfile(path) and re.fullmatch(rb"([0-9]+ [0-9]*\n)?", content) is not None
    return os.path.isfile(path) and (name != "state.json" or b'"source": "' in content)


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


def _removed(journal: Journal, check_mode: bool) -> List[Dict[str, str]]:
    """Remove the manifest and what is kept beside it."""
    manifest, folder = os.path.join(journal.folder, MANIFEST), os.path.join(journal.folder, "harp")
    own = [os.path.join(folder, name) for name in _named(folder) if _is_own(folder, name)]
    removed = [(manifest, read_bytes(manifest))] if os.path.lexists(manifest) and is_own_manifest(manifest) else []
    if own or journal.paths() or (os.path.isdir(folder) and not os.listdir(folder)):
        removed.append((folder, b"the setup scripts, their output and the history of the files\n"))
    if not check_mode:
        if journal.paths():
            journal.forget()
        if is_own_manifest(manifest):
            remove_file(manifest)
        for path in own:
            remove_file(path)
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
    return [difference(path, content, None) for path, content in removed]
