# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read and write the boot configuration of one host. The only file of the hugepages module that touches it."""

import glob
import os
from typing import Any, Callable, Dict, List, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.entries import Entry, bls_entry, grub_entries
from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.layout import (
    DEFAULTS,
    DROP_INS,
    ENTRIES,
    KERNEL_CMDLINE,
    BootLayout,
)
from ansible_collections.taco.train.plugins.module_utils._boot.model import BootModel, parse
from ansible_collections.taco.train.plugins.module_utils._boot.snippets import Snippets, variables
from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    read_bytes,
    remove_file,
    replace_file,
)

RunCommand = Callable[..., Tuple[int, str, str]]


class BootConfig:
    """The files that make up a host's boot configuration, below a root."""

    def __init__(self, root: str, layout: BootLayout, run_command: RunCommand) -> None:
        self.root, self.layout, self.run_command = root, layout, run_command
        self.lock = None  # type: Optional[int]
        """The file descriptor of a lock that the generator holds as long as it runs."""

    def real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def read(self) -> BootModel:
        """The boot configuration as it is now."""
        snippets = self.snippets()
        return parse(self.files())._replace(entries=self.entries(snippets), snippets=snippets)

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

    def snippets(self) -> Snippets:
        """Return the boot loader specification entries of the host, and what they take their variables from."""
        found = glob.glob(os.path.join(glob.escape(self.real(ENTRIES)), "*.conf"))
        paths = [f"{ENTRIES}/{os.path.basename(path)}" for path in sorted(found)]
        environment = self.layout.environment or ""
        texts = {path: self.text(path) for path in paths} if self.layout.layout == "bls" else {}
        return Snippets(texts, environment, self.text(environment), self.text(self.layout.config))

    def entries(self, snippets: Snippets) -> List[Entry]:
        """Return the boot entries."""
        if self.layout.layout != "bls":
            return grub_entries(snippets.config)
        known = variables(snippets)
        found = [bls_entry(os.path.basename(path), text, known) for path, text in snippets.texts.items()]
        return [entry for entry in found if entry is not None]

    def outputs(self) -> List[str]:
        """Return the files that generating writes: grub-mkconfig puts the new text beside the old one first."""
        return [self.layout.config, self.layout.config + ".new"] if self.layout.command and self.layout.config else []

    def is_source(self, path: str) -> bool:
        """Return whether the boot entries are generated from a file."""
        return bool(self.layout.command) and (path == DEFAULTS or path.startswith(DROP_INS + "/"))

    def is_generated(self, path: str) -> bool:
        """Return whether others write a file as well, such as a new kernel or a boot."""
        return path == self.layout.environment or path.startswith(ENTRIES + "/")

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

    def generate(self) -> None:
        """Generate the boot entries from the files."""
        command = self.layout.command
        options = {"handle_exceptions": False}  # type: Dict[str, Any]
        if self.lock is not None:
            options["pass_fds"] = [self.lock]
        status, output, error = self.run_command([self.real(command[0])] + command[1:], **options)
        if status != 0:
            words = " | ".join((error or output).strip().splitlines()[-5:])
            raise HugepagesError(f"{' '.join(command)} ended with {status}: {words}")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def diffs(config: BootConfig, model: BootModel, changes: Dict[str, Optional[str]]) -> List[Dict[str, Any]]:
    """Return Ansible's diff of each file that changes."""
    return [
        {
            "before_header": path if path in model.files or config.text(path) else f"{path} (absent)",
            "after_header": path if text is not None else f"{path} (absent)",
            "before": model.files.get(path, config.text(path)).encode("utf-8", "replace").decode(),
            "after": (text or "").encode("utf-8", "replace").decode(),
        }
        for path, text in sorted(changes.items())
    ]
