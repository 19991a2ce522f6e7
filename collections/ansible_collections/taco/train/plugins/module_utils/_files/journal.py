# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The journal of what a subject, such as the hugepages, changes on a host: begin, commit, undo, and put back byte for byte.

The copies are in the folder originals of the state folder, by their checksums (created_folders).

A change begins with copies of all files that it may touch, and ends with one write of the index, by which what it changed becomes a
part of the history. A change that was cut off in between is found in the index and can be undone, or be taken as it is.
"""

import glob
import os
from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils._files import former_journal
from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    FileError,
    digest,
    read_bytes,
    replace_file,
    require_rooms,
    sweep,
    sync_folder,
)
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, parents
from ansible_collections.taco.train.plugins.module_utils._files.snapshot import (
    NO_FILE,
    Entry,
    differs,
    keep_all_but_content,
    put_times_back,
    restore,
    snapshot,
    times_around,
)

Part = Dict[str, Any]


class JournalError(FileError):
    """The journal can't be used, or a file was edited since."""


class Journal:
    """The part of one subject in the journal of a host."""

    def __init__(self, subject: str, folders: CreatedFolders) -> None:
        self.subject, self.folders, self.folder = subject, folders, folders.real(folders.state_dir)
        self._real, self.copy_of = folders.real, folders.copy_path
        self._contents = {}  # type: Dict[str, bytes]

    def _load(self) -> Part:
        part = self.folders.index()["subjects"].get(self.subject)
        if part is None:
            part, contents = former_journal.read(self.folder, self.subject)
            self._contents.update(contents)
        return dict({"files": {}, "arguments": [], "times": {}}, **part)

    def _save(self, part: Part, removed: Sequence[str] = ()) -> None:
        """Write what the subject changed, after the copies that it needs. removed are created folders that are gone."""
        if former_journal.paths(self.folder, self.subject):
            # As it was, in its new place, so that a run that is killed here doesn't find the old one again.
            self._write(self._load())
            former_journal.remove(self.folder, self.subject)
        self._write(part, removed)

    def _write(self, part: Part, removed: Sequence[str] = ()) -> None:
        index = self.folders.index()
        created = [path for path in index["created"] if path not in removed]
        subjects = {name: one for name, one in index["subjects"].items() if name != self.subject}
        if part["files"] or part["arguments"] or part.get("change"):
            subjects[self.subject] = part
        for name in self.folders.copies(subjects):
            if name in self._contents and read_bytes(self.copy_of(name)) != self._contents[name]:
                os.makedirs(os.path.dirname(self.copy_of(name)), 0o700, exist_ok=True)
                sync_folder(self.folder)
                replace_file(self.copy_of(name), self._contents[name], mode=0o600)
        self.folders.save({"created": created, "subjects": subjects})

    def _kept(self, name: Optional[str]) -> Optional[bytes]:
        data = read_bytes(self.copy_of(name)) if name else None
        return self._contents.get(name or "") if data is None else data

    def content(self, entry: Entry) -> Optional[bytes]:
        """Return the content in an entry, None where there was no file; refuse a copy that is damaged."""
        name = entry["original"]
        if name is None:
            return None
        data = self._kept(name)
        if digest(data) != name:
            raise JournalError(f"the copy {self.copy_of(name)} is damaged too")
        return data

    def _seen(self, path: str) -> Entry:
        entry, content = snapshot(self._real(path))
        if content is not None:
            self._contents[entry["original"]] = content
        return entry

    def differs(self, path: str, entry: Entry) -> bool:
        """Tell whether a file is another one than it was."""
        return differs(self._real(path), entry)

    def begin(
        self,
        planned: Mapping[str, Optional[bytes]],
        arguments: Sequence[str] = (),
        outputs: Sequence[str] = (),
        shared: Sequence[str] = (),
        watched: Sequence[str] = (),
        room: Sequence[Tuple[str, int]] = (),
    ) -> None:
        """Copy the files that are to change. Raises without a change where the copies, or room (path, bytes), don't fit.

        planned are the new contents of files that are replaced as one step, None for one that will be removed; arguments what they put
        on the kernel line. outputs are files that a generator writes, which may be left half written. shared are those that others
        write as well: to find one changed is no sign of an edit. watched is a folder, and the pattern of files in it that a script writes.
        """
        files = {path: self._seen(path) for path in [*planned, *outputs, *matches(watched)]}
        sizes = [len(self.content(entry) or b"") + 512 for entry in files.values()]
        require_rooms([*((self.copy_of("copy"), size) for size in sizes), *room])
        for path, content in planned.items():
            files[path]["planned"] = digest(content)
        around = times_around(map(self._real, [*files, *(os.path.join(folder, "file") for folder in watched[:1])]))
        change = dict(files=files, times=around, arguments=list(arguments), outputs=list(outputs))
        self._save(dict(self._load(), change=dict(change, shared=list(shared), watched=list(watched))))

    def unfinished(self) -> bool:
        """Return whether a change began that neither succeeded nor was undone."""
        return bool(self._load().get("change"))

    def pending(self) -> Dict[str, Entry]:
        """Return the files that an unfinished change left other than they were before it, as they were."""
        change = self._load().get("change")
        if not change:
            return {}
        files = dict(dict.fromkeys(matches(change["watched"]), NO_FILE), **change["files"])
        return {path: files[path] for path in sorted(files) if self.differs(path, files[path])}

    def commit(self) -> None:
        """Add what the change did to the history and end it, as one step."""
        part = self._load()
        change = part.get("change")
        if change:
            pending = self.pending()
            for path in change["files"]:
                sweep(os.path.realpath(self._real(path)))
            self._add(part, pending, {path: digest(read_bytes(self._real(path))) for path in pending})
            removed = self._tidy(change["files"], {})
            self._save({key: part[key] for key in part if key != "change"}, removed)

    def _add(self, part: Part, files: Mapping[str, Entry], left: Mapping[str, Optional[str]]) -> None:
        """Add files, as they were before the change, to the history, with the checksum of what it left there."""
        change = part["change"]
        for path, before in files.items():
            shared = bool(change["watched"]) or path in change["shared"]
            if path not in part["files"]:
                part["files"][path] = {key: before[key] for key in before if key not in ("planned", "in_place")}
            elif not shared and self.edited(path, before):
                part["files"][path]["edited"] = True
            entry = part["files"][path]
            entry["generated"] = shared
            entry["left_sha256"] = [one for one in entry.get("left_sha256", []) if one != left[path]] + [left[path]]
        if files:
            part["arguments"] = [one for one in part["arguments"] if one != change["arguments"]] + [change["arguments"]]
            # The times of a folder are those from before the first change in it.
            part["times"] = dict(change["times"], **part["times"])

    def undo(self) -> List[str]:
        """Restore every file, whichever of them fail, and end the change; return a sentence for each that is not as it was."""
        part = self._load()
        files = part["change"]["files"]
        problems = self._restore(files, lambda path: self._noted_in_place(path, part))
        problems = problems or [f"{path} is not as it was" for path in self.pending()]
        if not problems:
            removed = self._tidy(files, part["change"]["times"])
            self._save({key: part[key] for key in part if key != "change"}, removed)
        return problems

    def _noted_in_place(self, path: str, part: Part) -> None:
        """Note that a file is written over: a kill would leave one that is neither old nor new."""
        part["change"]["files"][path]["in_place"] = True
        self._save(part)

    def _restore(self, files: Mapping[str, Entry], in_place: Optional[Callable[[str], None]] = None) -> List[str]:
        """Restore every file, whichever of them fail; return a sentence for each that did."""
        problems = []
        # What is removed makes room for what is written.
        for path in sorted(files, key=lambda path: (files[path]["original"] is not None, path)):
            try:
                restore(self._real(path), files[path], self.content(files[path]), in_place and partial(in_place, path))
            except (FileError, OSError) as error:
                name = files[path]["original"]
                where = f"; its content of before is in {self.copy_of(name)}" if name else ""
                problems.append(f"{path} is damaged or changed ({getattr(error, 'strerror', None) or error}){where}")
        return problems

    def recover(self, why_newer: Callable[[bytes, bytes], Optional[str]]) -> List[str]:
        """Undo what a run left unfinished, except what others changed since; return a sentence for each file that stays as it is.

        A file that this collection replaces as one step is old or new. Another content is from others. Of a generated file
        why_newer tells from its contents of before and now why it is from after the change. A file without its copy stays.
        """
        part = self._load()
        change, foreign, problems = part["change"], [], []  # type: Any, List[str], List[str]
        for path, entry in change["files"].items():
            now, copy = read_bytes(self._real(path)), self._kept(entry["original"])
            if digest(now) in (entry["original"], entry.get("planned")) or entry.get("in_place"):
                continue
            if path not in change["outputs"] or (entry["original"] and copy is None):
                foreign.append(path)
            elif now is not None and copy is not None:
                why = why_newer(copy, now)
                where = self.copy_of(entry["original"])
                problems += [f"{path}: {why}; its content of before is in {where}"] if why else []
        if problems:
            return problems
        if foreign:
            known = [path for path in foreign if path not in change["outputs"]]
            self._add(
                part,
                {path: change["files"][path] for path in known},
                {path: change["files"][path]["planned"] for path in known},
            )
            change["files"] = {path: entry for path, entry in change["files"].items() if path not in foreign}
            self._save(part)
        return self.undo()

    def arguments_in(self, line: List[str]) -> List[str]:
        """Return the arguments of ours that a kernel line holds, the newest of them first; empty when it holds none."""
        part = self._load()
        for ours in reversed([*part["arguments"], part.get("change", {}).get("arguments", [])]):
            if ours and any(line[index : index + len(ours)] == ours for index in range(len(line))):
                return list(ours)
        return []

    def paths(self) -> List[str]:
        """Return the files that were changed."""
        return sorted(self._load()["files"])

    def entry(self, path: str) -> Entry:
        """Return a file as it was before the first change, and what was added since."""
        return dict(self._load()["files"][path])

    def original(self, path: str) -> Optional[bytes]:
        """Return the content of a file before the first change, None where there was no file."""
        return self.content(self.entry(path))

    def edited(self, path: str, seen: Optional[Entry] = None) -> bool:
        """Say whether a file, now or as it was seen, is neither what was left there nor what was there before."""
        entry = self.entry(path)
        current = seen["original"] if seen else digest(read_bytes(self._real(path)))
        return bool(entry.get("edited")) or current not in [*entry["left_sha256"], entry["original"]]

    def keep_all_but_content(self, path: str) -> None:
        """Give a file that a generator replaced during a change what else belonged to it."""
        keep_all_but_content(self._real(path), self._load()["change"]["files"][path])

    def put_back(self, paths: Iterable[str]) -> List[str]:
        """Restore files as they were before the first change, whichever of them fail; return a sentence for each that did."""
        return self._restore({path: self.entry(path) for path in paths})

    def _tidy(self, files: Iterable[str], times: Mapping[str, Sequence[int]]) -> List[str]:
        """Remove the folders that were created for files and are empty, and give those around them their times."""
        removed = self.folders.remove_empty(folder for path in files for folder in parents(os.path.dirname(path)))
        put_times_back(times)
        return removed

    def empty(self) -> bool:
        """Return whether nothing was changed here, as far as the journal says."""
        part = self._load()
        return not part["files"] and not part["arguments"]

    def forget(self, keep_arguments: bool = False, folders: Sequence[str] = ()) -> None:
        """End the change by which everything was restored, and forget all of it, or all but the arguments, and the folders."""
        part = self._load()
        removed = self._tidy(part["files"], part["times"]) + self.folders.remove_empty(folders)
        self._save({"files": {}, "arguments": part["arguments"] if keep_arguments else [], "times": {}}, removed)


def matches(watched: Sequence[str]) -> List[str]:
    """List the files with a pattern in a folder."""
    found = glob.glob(os.path.join(glob.escape(watched[0]), watched[1])) if watched else []
    return [path for path in sorted(found) if os.path.isfile(path)]
