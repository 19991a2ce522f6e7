# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Read and write the boot configuration of one host. The only file of the hugepages module that touches it."""

import contextlib
import fcntl
import glob
import os
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._atomic_file import (
    FileError,
    read_bytes,
    remove_file,
    replace_file,
)
from ansible_collections.taco.train.plugins.module_utils._boot_entries import (
    Entry,
    bls_entry,
    grub_entries,
    grubenv,
    lost_arguments,
    with_variable,
)
from ansible_collections.taco.train.plugins.module_utils._boot_layout import (
    DEFAULTS,
    DROP_INS,
    ENTRIES,
    KERNEL_CMDLINE,
    BootLayout,
)
from ansible_collections.taco.train.plugins.module_utils._boot_trial import ENTRY_ID, VARIABLE
from ansible_collections.taco.train.plugins.module_utils._file_history import History
from ansible_collections.taco.train.plugins.module_utils._hugepages import HugepagesError

RunCommand = Callable[..., Tuple[int, str, str]]


class EntryEdit(NamedTuple):
    """What entries lose and gain, for a tool that edits entries and not the files that they come from."""

    removed: List[str]
    added: List[str]


NO_EDIT = EntryEdit([], [])


class BootConfig:
    """The files that make up a host's boot configuration, below a root."""

    def __init__(self, root: str, layout: BootLayout, run_command: RunCommand) -> None:
        self.root, self.layout, self.run_command = root, layout, run_command

    def real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def files(self) -> Dict[str, str]:
        """Return path -> text of the files that say what entries hold. Bytes that aren't UTF-8 survive the round trip."""
        found = [DEFAULTS] if os.path.exists(self.real(DEFAULTS)) else []
        if self.layout.layout == "bls" and os.path.exists(self.real(KERNEL_CMDLINE)):
            found.append(KERNEL_CMDLINE)
        if self.layout.layout == "grub-d":
            folder = glob.escape(self.real(DROP_INS))
            found += [
                f"{DROP_INS}/{os.path.basename(path)}" for path in sorted(glob.glob(os.path.join(folder, "*.cfg")))
            ]
        return {path: decode(read_bytes(self.real(path)) or b"") for path in found}

    def text(self, path: Optional[str]) -> str:
        """Return the text of one file, empty where there is none."""
        return decode(read_bytes(self.real(path)) or b"") if path else ""

    def snippets(self) -> List[str]:
        """Return the boot loader specification entries of the host, by name."""
        found = glob.glob(os.path.join(glob.escape(self.real(ENTRIES)), "*.conf"))
        return [f"{ENTRIES}/{os.path.basename(path)}" for path in sorted(found)]

    def entries(self) -> List[Entry]:
        """Return the generated boot entries."""
        if self.layout.layout != "bls":
            return grub_entries(self.text(self.layout.config))
        variables = grubenv(self.text(self.layout.environment))
        found = [bls_entry(os.path.basename(path), self.text(path), variables) for path in self.snippets()]
        return [entry for entry in found if entry is not None]

    def outputs(self) -> List[str]:
        """Return the files that generating writes."""
        if self.layout.layout != "bls":
            return [self.layout.config] if self.layout.config else []
        environment = self.layout.environment
        return self.snippets() + ([environment] if environment and os.path.exists(self.real(environment)) else [])

    def write(self, changes: Dict[str, Optional[str]]) -> None:
        """Give files new texts, drop-ins first: cut short after one, the host reserves the pages at least once."""
        for path in sorted(changes, key=lambda path: (path == DEFAULTS, path)):
            text = changes[path]
            if text is not None and read_bytes(self.real(path)) == encode(text):
                continue
            if text is None:
                remove_file(self.real(path))
                continue
            folder = os.path.dirname(self.real(path))
            if not os.path.isdir(folder):
                os.mkdir(folder, 0o755)
            replace_file(self.real(path), encode(text))

    def generate(self, edit: EntryEdit = NO_EDIT) -> None:
        """Generate the boot entries from the files; grubby doesn't read those and is told the edit."""
        command = list(self.layout.command)
        if os.path.basename(command[0]) == "grubby":
            command += [f"--remove-args={' '.join(edit.removed)}"] if edit.removed else []
            command += [f"--args={' '.join(edit.added)}"] if edit.added else []
            if not edit.removed and not edit.added:
                return
        status, output, error = self.run_command([self.real(command[0])] + command[1:], handle_exceptions=False)
        if status != 0:
            words = " | ".join((error or output).strip().splitlines()[-5:])
            raise HugepagesError(f"{' '.join(command)} ended with {status}: {words}")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@contextlib.contextmanager
def locked(state_dir: str) -> Iterator[None]:
    """Hold the boot configuration for one run; a second one at the same time is refused."""
    os.makedirs(state_dir, 0o755, exist_ok=True)
    path = os.path.join(state_dir, "hugepages.lock")
    with open(path, "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise HugepagesError(
                f"another run is changing the boot configuration ({path} is locked); run this again when it ended"
            ) from error
        yield


def apply(
    config: BootConfig,
    history: History,
    changes: Dict[str, Optional[str]],
    arguments: List[str],
    edit: Optional[EntryEdit],
    problems_of: Callable[[List[Entry]], List[str]],
) -> None:
    """Write the changes, generate the entries and read them back; when that fails, undo all of it and raise.

    Without an edit nothing is generated. problems_of says what is wrong with generated entries.
    """
    outputs = config.outputs() if edit is not None else []
    noted = outputs if config.layout.layout == "bls" else []
    if noted and not os.path.exists(config.real(KERNEL_CMDLINE)):
        noted = noted + [KERNEL_CMDLINE]  # grubby makes it
    sources = {path: text for path, text in dict(config.files(), **changes).items() if path not in outputs}
    before = {path: read_bytes(config.real(path)) for path in list(changes) + list(sources) + outputs + noted}
    entries = config.entries()
    for path, text in changes.items():
        history.note(path, None if text is None else encode(text), arguments, path == config.layout.environment)
    for path in noted:
        history.note(path, before[path], arguments, generated=True)
    try:
        config.write(changes)
        if edit is not None:
            config.generate(edit)
            # grubby also writes the file that new entries come from, without its comments and in quotes of its own.
            config.write(sources)
            problems = problems_of(config.entries())
            problems += lost_arguments(entries, config.entries(), " ".join(config.layout.command))
            if problems:
                raise HugepagesError(f"{config.layout.config or ENTRIES} came out wrong: {'; '.join(problems)}")
            for path in noted:
                history.note(path, read_bytes(config.real(path)), arguments, generated=True)
    except (HugepagesError, FileError, OSError) as error:
        config.write({path: None if data is None else decode(data) for path, data in before.items()})
        raise HugepagesError(f"{error}; the files and the boot entries are as they were") from error


def put_back(config: BootConfig, history: History, generate: bool) -> None:
    """Put back every file and generate the entries from them; only then is the history done with.

    A generated file that is as it was left gets its bytes back. One that isn't was made or changed by others since, as by a
    new kernel: it loses our arguments and keeps everything else.
    """
    found = [history.arguments_in(entry.tokens) for entry in config.entries()]
    arguments = next((ours for ours in found if ours), [])
    generated = history.generated()
    touched = [path for path in generated if history.edited(path)]
    for path in history.paths():
        if path not in generated:
            history.put_back(path)
    # After a trial boot alone the entries are what they always were.
    wrote = [
        path for path in history.paths() if path in (DEFAULTS, KERNEL_CMDLINE) or path.startswith((DROP_INS, ENTRIES))
    ]
    if generate and (wrote or not history.paths()) and config.layout.layout != "bls":
        config.generate()
    elif generate and wrote and arguments and (touched or set(config.snippets()) - set(generated)):
        config.generate(EntryEdit(arguments, []))
    # The sources once more, as grubby also writes those.
    for path in history.paths():
        if path not in touched:
            history.put_back(path)
        elif path == config.layout.environment:
            _put_back_options(config, decode(history.original(path).content or b""))
    history.forget()


def _put_back_options(config: BootConfig, original: str) -> None:
    """Put back the variables of GRUB's environment that are ours; the others change at every boot."""
    path = config.real(config.layout.environment or "")
    now = decode(read_bytes(path) or b"")
    after = now
    if grubenv(now).get("kernelopts") != grubenv(original).get("kernelopts"):
        after = with_variable(after, "kernelopts", grubenv(original).get("kernelopts"))
    if grubenv(now).get(VARIABLE) == ENTRY_ID:
        after = with_variable(after, VARIABLE, None)
    if after != now:
        replace_file(path, encode(after))


def diffs(config: BootConfig, files: Dict[str, str], changes: Dict[str, Optional[str]]) -> List[Dict[str, Any]]:
    """Return Ansible's diff of each file that changes."""
    return [
        {
            "before_header": path if path in files else f"{path} (absent)",
            "after_header": path if text is not None else f"{path} (absent)",
            "before": files.get(path, "").encode("utf-8", "replace").decode(),
            "after": (text or "").encode("utf-8", "replace").decode(),
        }
        for path, text in sorted(changes.items())
    ]
