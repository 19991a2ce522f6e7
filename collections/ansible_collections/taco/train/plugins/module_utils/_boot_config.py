# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Read and write the boot configuration of one host. The only file of the hugepages module that touches it."""

import contextlib
import fcntl
import glob
import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._atomic_file import read_bytes, remove_file, replace_file
from ansible_collections.taco.train.plugins.module_utils._boot_entries import Entry, grub_entries
from ansible_collections.taco.train.plugins.module_utils._boot_layout import DEFAULTS, DROP_INS, BootLayout
from ansible_collections.taco.train.plugins.module_utils._file_history import History
from ansible_collections.taco.train.plugins.module_utils._hugepages import HugepagesError

RunCommand = Callable[..., Tuple[int, str, str]]


class BootConfig:
    """The files that make up a host's boot configuration, below a root."""

    def __init__(self, root: str, layout: BootLayout, run_command: RunCommand) -> None:
        self.root, self.layout, self.run_command = root, layout, run_command

    def real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def files(self) -> Dict[str, str]:
        """Return path -> text of the files that grub-mkconfig sources. Bytes that aren't UTF-8 survive the round trip."""
        found = [DEFAULTS] if os.path.exists(self.real(DEFAULTS)) else []
        if self.layout.layout == "grub-d":
            folder = glob.escape(self.real(DROP_INS))
            found += [
                f"{DROP_INS}/{os.path.basename(path)}" for path in sorted(glob.glob(os.path.join(folder, "*.cfg")))
            ]
        return {path: decode(read_bytes(self.real(path)) or b"") for path in found}

    def entries(self) -> List[Entry]:
        """Return the generated boot entries."""
        data = read_bytes(self.real(self.layout.config)) if self.layout.config else None
        return grub_entries(decode(data or b""))

    def write(self, changes: Dict[str, Optional[str]]) -> None:
        """Give files new texts, drop-ins first: cut short after one, the host reserves the pages at least once."""
        for path in sorted(changes, key=lambda path: (path == DEFAULTS, path)):
            text = changes[path]
            if text is None:
                remove_file(self.real(path))
                continue
            folder = os.path.dirname(self.real(path))
            if not os.path.isdir(folder):
                os.mkdir(folder, 0o755)
            replace_file(self.real(path), encode(text))

    def generate(self) -> None:
        """Generate the boot entries from the files."""
        command = [self.real(self.layout.command[0])] + self.layout.command[1:]
        status, output, error = self.run_command(command)
        if status != 0:
            words = " | ".join((error or output).strip().splitlines()[-5:])
            raise HugepagesError(f"{' '.join(self.layout.command)} ended with {status}: {words}")


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
    generate: bool,
    problems_of: Callable[[List[Entry]], List[str]],
) -> None:
    """Write the changes, generate the entries and read them back; when that fails, undo all of it and raise.

    problems_of says what is wrong with generated entries.
    """
    before = {path: read_bytes(config.real(path)) for path in changes}
    for path, text in changes.items():
        history.note(path, None if text is None else encode(text), arguments)
    try:
        config.write(changes)
        if generate:
            config.generate()
            problems = problems_of(config.entries())
            if problems:
                raise HugepagesError(f"{config.layout.config} came out wrong: {'; '.join(problems)}")
    except (HugepagesError, OSError) as error:
        config.write({path: None if data is None else decode(data) for path, data in before.items()})
        undone = "nothing is changed" if not generate else _generated_again(config)
        raise HugepagesError(f"{error}; the files are as they were, {undone}") from error


def _generated_again(config: BootConfig) -> str:
    try:
        config.generate()
    except HugepagesError as error:
        return f"but generating the entries from them failed as well ({error}): {config.layout.config} must be looked at by hand"
    return "and so are the boot entries"


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
