# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change the boot configuration of one host as a whole: apply or restore, verify, and undo what failed or was cut off."""

import contextlib
import os
from typing import Callable, Iterable, Iterator, List, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig, Changes, decode, encode
from ansible_collections.taco.train.plugins.module_utils._boot.entries import Entry, grub_kernels
from ansible_collections.taco.train.plugins.module_utils._boot.grub_cfg_difference import difference
from ansible_collections.taco.train.plugins.module_utils._boot.layout import ENTRIES
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, read_bytes
from ansible_collections.taco.train.plugins.module_utils._files.journal import Journal


@contextlib.contextmanager
def _undone(
    config: BootConfig, journal: Journal, changes: Changes, arguments: List[str], generate: bool, compared: bool
) -> Iterator[None]:
    """Undo everything when the change in this context fails, and raise; name what could not be undone.

    Before the change what is generated is compared, unless it was before.
    """
    planned = {path: None if text is None else encode(text) for path, text in changes.items()}
    outputs = config.outputs() if generate else []
    watched = config.written()[1:] if generate else []
    planned.update({path: read_bytes(config.real(path)) for path in watched if path not in planned})
    room = [(config.real(path), len(data)) for path, data in planned.items() if data is not None]
    # A generator writes the new text beside the old one and may then copy it over that one.
    room += [(config.real(path), 2 * len(read_bytes(config.real(path)) or b"")) for path in outputs]
    shared = [path for path in [*planned, *outputs] if config.is_generated(path)]
    journal.begin(planned, arguments, outputs, shared, room=room)
    try:
        if generate and config.written() and not compared:
            require_same(config, config.regenerated(protected=False))
        yield
    except (HugepagesError, FileError, OSError) as error:
        problems = journal.undo()
        if problems:
            raise HugepagesError(
                f"{error}; this could not be undone: {'; '.join(problems)}. Make room there, or make the files writable, and run "
                "this again before the host reboots: it restores them first"
            ) from error
        raise HugepagesError(f"{error}; the files and the boot entries are as they were") from error.__cause__ or error


def recover(root: str, journal: Journal) -> None:
    """Undo what an earlier run left unfinished; refuse to go on where that fails."""

    def why_newer(before: bytes, now: bytes) -> Optional[str]:
        old, new = (grub_kernels(decode(data)) for data in (before, now))
        if new - old:
            return f"it starts {', '.join(sorted(new - old))}, which it did not before"
        there = os.listdir(os.path.join(root, "boot"))
        gone = {kernel for kernel in old - new if os.path.basename(kernel) not in there}
        return f"{', '.join(sorted(gone))} is gone since" if gone and gone != old else None

    problems = journal.recover(why_newer)
    if problems:
        raise HugepagesError(
            f"an earlier run was cut off while it changed the boot configuration: {'; '.join(problems)}. Make room there, or make the "
            "files writable, and run this again, or compare each file with its copy and, once the file is right, remove the copy"
        )


def require_own_files(config: BootConfig, paths: Iterable[str]) -> None:
    """Refuse files of which a change would part another name, folders, and links to nothing."""
    for path in paths:
        if os.path.isdir(config.real(path)):
            raise HugepagesError(f"{path} is a folder; expected a file: move it away; nothing was written")
        if os.path.islink(config.real(path)) and not os.path.exists(config.real(path)):
            raise HugepagesError(
                f"{path} is a link to {os.readlink(config.real(path))}, which is not there: create that file, or remove the link; "
                "nothing was written"
            )
        if os.path.exists(config.real(path)) and os.stat(config.real(path)).st_nlink > 1:
            raise HugepagesError(
                f"{path} has another name too (a hard link, see find / -samefile {path}), which a change would part from it: give it a "
                f"file of its own (cp -a {path} {path}.new; mv {path}.new {path}); nothing was written"
            )


def require_same(config: BootConfig, generated: str) -> None:
    """Refuse to generate what would change more than the pages; generated is what the files give without a change."""
    path, command = config.layout.config, " ".join(config.layout.command)
    found = difference(config.text(path), generated, config.device)
    if found:
        raise HugepagesError(
            f"{path} is not what {command} makes of the files: generating it {found}. Put an argument into GRUB_CMDLINE_LINUX and other "
            f"lines into /etc/grub.d/40_custom, or, if the difference may go, run {command} yourself first; then run this again"
        )


def require_understood(config: BootConfig, generated: str) -> None:
    """Refuse files from which GRUB's own shell makes other pages than are read out of them here."""
    entries = config.entries(config.before.snippets._replace(config=generated))
    lines = [entry.line for entry in entries[:1]] + [config.before.sourced]
    given = [[one.in_words() for one in line.reservations] for line in lines]
    if len(given) == 2 and given[0] != given[1]:
        raise HugepagesError(
            f"entry {entries[0].name!r} of {config.layout.config} gets {', '.join(given[0]) or 'no pages'}, and the files "
            f"{', '.join(config.before.assignments)} say {', '.join(given[1]) or 'no pages'}: something else gives pages, such as a file "
            "that these read or a variable of GRUB (tuned sets $tuned_params): take the pages out there"
        )


def _follow(config: BootConfig, journal: Journal, problems_of: Callable[[List[Entry]], List[str]]) -> None:
    """Generate the entries, where they are generated, and read them back."""
    if config.layout.command:
        config.generate()
        for path in config.written():
            journal.keep_all_but_content(path)
    problems = problems_of(config.entries(config.snippets()))
    if problems:
        place = config.layout.config if config.layout.command else ENTRIES
        raise HugepagesError(f"{place} came out wrong: {'; '.join(problems)}")


def apply(
    config: BootConfig,
    journal: Journal,
    changes: Changes,
    arguments: List[str],
    generate: bool,
    problems_of: Callable[[List[Entry]], List[str]],
    compared: bool = False,
) -> None:
    """Write the changes, generate the entries and read them back; when that fails, undo all of it and raise."""
    before = config.text(config.layout.config)
    with _undone(config, journal, changes, arguments, generate, compared):
        config.write(changes)
        if generate:
            _follow(config, journal, problems_of)
            lost = difference(before, config.text(config.layout.config), config.device)
            if lost:
                raise HugepagesError(f"{config.layout.config} came out wrong: generating it {lost}")
        journal.commit()


def restore(config: BootConfig, journal: Journal, changes: Changes, generate: bool, compared: bool = False) -> None:
    """Restore every file and generate the entries from them; only then is the history done with."""

    def problems_of(entries: List[Entry]) -> List[str]:
        left = [" ".join(journal.arguments_in(entry.line.tokens)) for entry in entries]
        return [f"entry {entry.name!r} still holds {ours}" for entry, ours in zip(entries, left) if ours]

    with _undone(config, journal, changes, [], generate, compared):
        texts = {path: None if text is None else encode(text) for path, text in changes.items()}
        noted = [path for path in journal.paths() if path in texts and texts[path] == journal.original(path)]
        problems = journal.put_back(noted)
        if problems:
            raise HugepagesError("; ".join(problems))
        config.write({path: text for path, text in changes.items() if path not in noted})
        if generate:
            _follow(config, journal, problems_of)
        # Entries that were not generated still hold our arguments; the history tells the next run so.
        entries = config.entries(config.snippets())
        journal.forget(keep_arguments=any(journal.arguments_in(entry.line.tokens) for entry in entries))
