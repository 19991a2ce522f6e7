# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change configuration files of HARP by the journal, show the differences, and revert them."""

import contextlib
import hashlib
import os
import re
from typing import Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    read_bytes,
    remove_file,
)
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.module_utils._files.journal import Journal, JournalError, matches
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
# The names of what the module keeps in its folder.
OWN_NAME = re.compile(rf"setup-[0-9a-f]{{12}}|setup\.log|state\.json|{RUNNING}|\..+\.[0-9]+\.tmp")


def journal_of(state_dir: str) -> Journal:
    return Journal("harp", CreatedFolders(state_dir))


@contextlib.contextmanager
def alone(journal: Journal, needed: bool = True) -> Iterator[None]:
    """Let no other run change HARP's configuration. A script outlives the controller that started it."""
    with journal.folders.locked(LOCK_SECONDS, needed):
        wait_for_script(os.path.join(journal.folder, "harp", RUNNING), LOCK_SECONDS)
        yield


def checksums(folder: str, pattern: str) -> Dict[str, str]:
    """Return {path: checksum} of the configuration files that aren't empty."""
    contents = {path: read_bytes(path) for path in matches((folder, pattern))}
    return {path: hashlib.sha256(content).hexdigest() for path, content in contents.items() if content}


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
    with alone(journal, needed=not check_mode and os.path.isdir(state_dir)):
        if not check_mode:
            journal.commit()
        require_unedited(journal, force)
        before = dict(journal.pending(), **{path: journal.entry(path) for path in journal.paths()})
        changed = [path for path in sorted(before) if journal.differs(path, before[path])]
        if changed:
            permit()
        diff = [difference(path, read_bytes(path), journal.content(before[path])) for path in changed]
        if not check_mode:
            problems = journal.put_back(before)
            if problems:
                raise JournalError(
                    f"{len(problems)} of {len(before)} configuration files could not be restored: {'; '.join(problems)}. Correct that "
                    "and run this again: it restores them"
                )
        return diff + _removed(journal, check_mode)


def is_own_manifest(path: str) -> bool:
    """Whether the host manifest was written by this module, or is not there."""
    content = b"" if os.path.isdir(path) else read_bytes(path)
    return content is None or b'"written_by": "taco.train"' in content


def _named(journal: Journal) -> List[str]:
    """List the files that have a name of this module. They are its own where the journal knows its folder, or files that it changed."""
    folder = os.path.join(journal.folder, "harp")
    names = filter(OWN_NAME.fullmatch, os.listdir(folder) if os.path.isdir(folder) else [])
    paths = [os.path.join(folder, name) for name in sorted(names)]
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]


def _is_known(journal: Journal) -> bool:
    return bool(journal.paths()) or os.path.join(journal.folders.state_dir, "harp") in journal.folders.load()


def foreign_files(state_dir: str) -> List[str]:
    """List what has a name of this module and is not known to be its own: somebody else's, which stays."""
    journal, manifest = journal_of(state_dir), os.path.join(state_dir, MANIFEST)
    return ([] if _is_known(journal) else _named(journal)) + ([] if is_own_manifest(manifest) else [manifest])


def _removed(journal: Journal, check_mode: bool) -> List[Dict[str, str]]:
    """Remove the manifest and what is kept beside it."""
    manifest, folder = os.path.join(journal.folder, MANIFEST), os.path.join(journal.folder, "harp")
    known = _is_known(journal)
    removed = [(manifest, read_bytes(manifest))] if os.path.lexists(manifest) and is_own_manifest(manifest) else []
    if known or (os.path.isdir(folder) and not os.listdir(folder)):
        removed.append((folder, b"the setup scripts, their output and the history of the files\n"))
    if not check_mode:
        if is_own_manifest(manifest):
            remove_file(manifest)
        for path in _named(journal) if known else []:
            remove_file(path)
        if known:
            journal.forget(folders=[folder])
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
    return [difference(path, content, None) for path, content in removed]
