# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change the boot configuration of one host as a whole: apply or restore, verify, and undo what failed or was cut off."""

import contextlib
import fcntl
import os
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.comparison import difference
from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig, encode
from ansible_collections.taco.train.plugins.module_utils._boot.entries import Entry
from ansible_collections.taco.train.plugins.module_utils._boot.guard import Guard
from ansible_collections.taco.train.plugins.module_utils._boot.layout import ENTRIES
from ansible_collections.taco.train.plugins.module_utils._boot.model import BootModel
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, read_bytes
from ansible_collections.taco.train.plugins.module_utils._files.history import History, HistoryError

Changes = Dict[str, Optional[str]]  # path -> text, None for no file
LOCK_SECONDS = 5


@contextlib.contextmanager
def locked(state_dir: str) -> Iterator[int]:
    """Hold the boot configuration for one run, by a file descriptor. A second one waits a few seconds and is then refused.

    After a lost connection Ansible starts a module again while the first one still ends. A generator that gets the descriptor
    holds it as well: one that goes on after its module was killed would write over what the next run restores.
    """
    os.makedirs(state_dir, 0o755, exist_ok=True)
    path = os.path.join(state_dir, "hugepages.lock")
    deadline = time.monotonic() + LOCK_SECONDS
    with open(path, "w") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise HugepagesError(
                        f"another run is changing the boot configuration ({path} is locked); run this again when it ended"
                    ) from error
                time.sleep(0.1)
        yield handle.fileno()


@contextlib.contextmanager
def _undone(config: BootConfig, guard: Guard, changes: Changes, generate: bool) -> Iterator[None]:
    """Undo everything when the change in this context fails, and raise; name what could not be undone."""
    planned = {path: None if text is None else encode(text) for path, text in changes.items()}
    outputs = config.outputs() if generate else []
    watched = config.written()[1:] if generate else []
    planned.update({path: read_bytes(config.real(path)) for path in watched if path not in planned})
    room = [(config.real(path), len(data)) for path, data in planned.items() if data is not None]
    # A generator writes the new text beside the old one and may then copy it over that one.
    room += [(config.real(path), 2 * len(read_bytes(config.real(path)) or b"")) for path in outputs]
    # The history holds what was there before, in an encoding that is a third longer, and is replaced as one step.
    room += [(guard.folder, 3 * len(read_bytes(config.real(path)) or b"")) for path in [*planned, *outputs]]
    guard.begin(planned, outputs, room)
    try:
        yield
    except (HugepagesError, HistoryError, FileError, OSError) as error:
        problems = guard.undo() or [f"{path} is not as it was" for path in guard.differing()]
        if problems:
            raise HugepagesError(
                f"{error}; this could not be undone: {'; '.join(problems)}. Make room there, or make the files writable, and run "
                "this again before the host reboots: it restores them first"
            ) from error
        guard.finish()
        raise HugepagesError(f"{error}; the files and the boot entries are as they were") from error.__cause__ or error
    guard.finish()


def recover(guard: Guard) -> None:
    """Undo what an earlier run left unfinished; refuse to go on where that fails."""
    problems = guard.recover()
    if problems:
        raise HugepagesError(
            f"an earlier run was cut off while it changed the boot configuration: {'; '.join(problems)}. Make room there, or make the "
            f"files writable, and run this again, or compare each file with its copy and, once the files are right, remove {guard.folder}"
        )
    guard.finish()


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


def require_understood(config: BootConfig, model: BootModel, generated: str) -> None:
    """Refuse files from which GRUB's own shell makes other pages than are read out of them here."""
    entries = config.entries(model.snippets._replace(config=generated))
    lines = [entry.line for entry in entries[:1]] + [model.sourced]
    given = [[f"hugepagesz={one.size} hugepages={one.number}" for one in line.reservations] for line in lines]
    if len(given) == 2 and given[0] != given[1]:
        raise HugepagesError(
            f"entry {entries[0].name!r} of {config.layout.config} gets {', '.join(given[0]) or 'no pages'}, and the files "
            f"{', '.join(model.assignments)} say {', '.join(given[1]) or 'no pages'}: something else gives pages, such as a file "
            "that these read or a variable of GRUB (tuned sets $tuned_params): take the pages out there"
        )


def _follow(
    config: BootConfig,
    history: History,
    arguments: List[str],
    problems_of: Callable[[List[Entry]], List[str]],
    seen: Dict[str, Dict[str, Any]],
) -> None:
    """Generate the entries, where they are generated, and read them back; seen are the files that this changes, as they were."""
    if config.layout.command:
        config.generate()
        for path, entry in seen.items():
            history.keep_attributes(path, entry)
            now = read_bytes(config.real(path))
            if now != history.content(entry):
                history.note(path, now, arguments, config.is_generated(path), entry)
    problems = problems_of(config.entries(config.snippets()))
    if problems:
        place = config.layout.config if config.layout.command else ENTRIES
        raise HugepagesError(f"{place} came out wrong: {'; '.join(problems)}")


def apply(
    config: BootConfig,
    history: History,
    guard: Guard,
    changes: Changes,
    arguments: List[str],
    generate: bool,
    problems_of: Callable[[List[Entry]], List[str]],
    compared: bool = False,
) -> None:
    """Write the changes, generate the entries and read them back; when that fails, undo all of it and raise."""
    seen = {path: history.seen(path) for path in config.written()} if generate else {}
    before = config.text(config.layout.config)
    with _undone(config, guard, changes, generate):
        if seen and not compared:
            require_same(config, config.regenerated(protected=False))
        for path, text in changes.items():
            history.note(path, None if text is None else encode(text), arguments, config.is_generated(path))
        config.write(changes)
        if generate:
            _follow(config, history, arguments, problems_of, seen)
            lost = difference(before, config.text(config.layout.config), config.device)
            if lost:
                raise HugepagesError(f"{config.layout.config} came out wrong: generating it {lost}")


def restore(
    config: BootConfig, history: History, guard: Guard, changes: Changes, generate: bool, compared: bool = False
) -> None:
    """Restore every file and generate the entries from them; only then is the history done with."""

    def problems_of(entries: List[Entry]) -> List[str]:
        left = [" ".join(history.arguments_in(entry.line.tokens)) for entry in entries]
        return [f"entry {entry.name!r} still holds {ours}" for entry, ours in zip(entries, left) if ours]

    seen = {path: history.seen(path) for path in config.written()} if generate else {}
    with _undone(config, guard, changes, generate):
        if seen and not compared:
            require_same(config, config.regenerated(protected=False))
        noted = history.paths()
        for path, text in sorted(changes.items()):
            original = history.original(path).content if path in noted else None
            if path in noted and original == (None if text is None else encode(text)):
                history.put_back(path)
            else:
                config.write({path: text})
        if generate:
            _follow(config, history, [], problems_of, seen)
    # Entries that were not generated still hold our arguments; the history tells the next run so.
    entries = config.entries(config.snippets())
    history.forget(keep_arguments=any(history.arguments_in(entry.line.tokens) for entry in entries))
