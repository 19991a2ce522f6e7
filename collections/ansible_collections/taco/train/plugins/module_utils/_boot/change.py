# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change the boot configuration of one host as a whole: apply or restore, verify, and undo what failed or was cut off."""

import contextlib
import fcntl
import os
import time
from typing import Callable, Dict, Iterator, List, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig, encode
from ansible_collections.taco.train.plugins.module_utils._boot.entries import Entry, lost_arguments
from ansible_collections.taco.train.plugins.module_utils._boot.guard import Guard
from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.layout import ENTRIES
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
    room = [(config.real(path), len(data)) for path, data in planned.items() if data is not None]
    # A generator writes the new text beside the old one and may then copy it over that one.
    room += [(config.real(path), 2 * len(read_bytes(config.real(path)) or b"")) for path in outputs]
    # The history holds what was there before, in an encoding that is a third longer, and is replaced as one step.
    room += [(guard.folder, 3 * len(read_bytes(config.real(path)) or b"")) for path in planned]
    guard.begin(planned, outputs, room)
    try:
        yield
    except (HugepagesError, HistoryError, FileError, OSError) as error:
        problems = guard.undo()
        if problems:
            raise HugepagesError(
                f"{error}; this could not be undone: {'; '.join(problems)}. Make room there, or make the files writable, and run "
                "this again before the host reboots: it restores them first"
            ) from error
        guard.finish()
        raise HugepagesError(f"{error}; the files and the boot entries are as they were") from error
    guard.finish()


def recover(config: BootConfig, guard: Guard) -> None:
    """Undo what an earlier run left unfinished; refuse to go on where that fails."""
    problems = guard.recover()
    if problems:
        raise HugepagesError(
            f"an earlier run was cut off while it changed the boot configuration: {'; '.join(problems)}. Make room there, or make the "
            f"files writable, and run this again, or compare each file with its copy and, once the files are right, remove {guard.folder}"
        )
    guard.finish()


def _follow(
    config: BootConfig,
    before: Sequence[Entry],
    problems_of: Callable[[List[Entry]], List[str]],
    known: Sequence[str] = (),
) -> None:
    """Generate the entries, where they are generated, and read them back."""
    command = config.layout.command
    if command:
        config.generate()
    entries = config.entries(config.snippets())
    problems = problems_of(entries)
    problems += lost_arguments(before, entries, " ".join(command), known) if command else []
    if problems:
        raise HugepagesError(f"{config.layout.config if command else ENTRIES} came out wrong: {'; '.join(problems)}")


def apply(
    config: BootConfig,
    history: History,
    guard: Guard,
    changes: Changes,
    arguments: List[str],
    generate: bool,
    problems_of: Callable[[List[Entry]], List[str]],
) -> None:
    """Write the changes, generate the entries and read them back; when that fails, undo all of it and raise."""
    before = config.read().entries
    with _undone(config, guard, changes, generate):
        for path, text in changes.items():
            history.note(path, None if text is None else encode(text), arguments, config.is_generated(path))
        config.write(changes)
        if generate:
            _follow(config, before, problems_of)


def restore(config: BootConfig, history: History, guard: Guard, changes: Changes, generate: bool) -> None:
    """Restore every file and generate the entries from them; only then is the history done with."""
    before = config.read()

    def problems_of(entries: List[Entry]) -> List[str]:
        left = [" ".join(history.arguments_in(entry.line.tokens)) for entry in entries]
        return [f"entry {entry.name!r} still holds {ours}" for entry, ours in zip(entries, left) if ours]

    with _undone(config, guard, changes, generate):
        noted = history.paths()
        for path, text in sorted(changes.items()):
            original = history.original(path).content if path in noted else None
            if path in noted and original == (None if text is None else encode(text)):
                history.put_back(path)
            else:
                config.write({path: text})
        if generate:
            _follow(config, before.entries, problems_of, before.line.tokens)
    # Entries that were not generated still hold our arguments; the history tells the next run so.
    entries = config.entries(config.snippets())
    history.forget(keep_arguments=any(history.arguments_in(entry.line.tokens) for entry in entries))
