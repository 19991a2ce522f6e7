# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read and write the boot configuration of one host. The only file of the hugepages module that touches it."""

import glob
import os
import re
import tempfile
from typing import Any, Callable, Dict, List, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.entries import Entry, bls_entry, grub_entries
from ansible_collections.taco.train.plugins.module_utils._boot.layout import (
    DEFAULTS,
    DROP_INS,
    ENTRIES,
    KERNEL_CMDLINE,
    BootLayout,
)
from ansible_collections.taco.train.plugins.module_utils._boot.model import BootModel, parse
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.snippets import Snippets, variables
from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes, remove_file, replace_file

RunCommand = Callable[..., Tuple[int, str, str]]
Changes = Dict[str, Optional[str]]  # path -> text, None for no file
# Run a command that can write nothing to a folder: what is mounted is so for the command alone.
PROTECTED = 'mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'


class BootConfig:
    """The files that make up a host's boot configuration, below a root."""

    def __init__(self, root: str, layout: BootLayout, run_command: RunCommand) -> None:
        self.root, self.layout, self.run_command = root, layout, run_command
        self.lock = None  # type: Optional[int]
        """The file descriptor of a lock that the generator holds as long as it runs."""
        self._before = None  # type: Optional[BootModel]

    @property
    def before(self) -> BootModel:
        """The boot configuration as it was when it was read first."""
        self._before = self._before or self.read()
        return self._before

    def changed_since(self) -> bool:
        """Return whether another process changed what was read first."""
        return self.files() != self.before.files or self.snippets() != self.before.snippets

    def release(self) -> str:
        """Return the release of the running kernel."""
        return self.text("/proc/sys/kernel/osrelease").strip()

    def real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def read(self) -> BootModel:
        """The boot configuration as it is now."""
        snippets = self.snippets()
        entries = self.entries(snippets)
        found = parse(self.files())._replace(entries=entries, snippets=snippets)
        if self.layout.layout != "bls" or not entries:
            return found
        # Of these the entries are what boots; the files only say what new kernels get.
        release = self.release()
        running = [entry for entry in entries if release and entry.kernel.endswith("-" + release)]
        return found._replace(line=(running + entries)[0].line)

    def files(self) -> Dict[str, str]:
        """Return path -> text of the files that say what entries hold. Bytes that aren't UTF-8 survive the round trip."""
        found = [DEFAULTS] if os.path.exists(self.real(DEFAULTS)) else []
        if self.layout.layout == "bls" and os.path.exists(self.real(KERNEL_CMDLINE)):
            found.append(KERNEL_CMDLINE)
        if self.layout.layout == "grub-d":
            folder = glob.escape(self.real(DROP_INS))
            paths = sorted(glob.glob(os.path.join(folder, "*.cfg")))
            found += [f"{DROP_INS}/{os.path.basename(path)}" for path in paths if not os.path.isdir(path)]
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
        known = variables(snippets)
        if self.layout.layout != "bls":
            return grub_entries(snippets.config, known)
        found = [bls_entry(os.path.basename(path), text, known) for path, text in snippets.texts.items()]
        return [entry for entry in found if entry is not None]

    def outputs(self) -> List[str]:
        """Return the files that generating writes: grub-mkconfig puts the new text beside the old one first."""
        return [self.layout.config, self.layout.config + ".new"] if self.layout.command and self.layout.config else []

    def written(self) -> List[str]:
        """Return the files that are other ones after generating: grub.cfg, and on EL8 the environment block."""
        layout = self.layout
        return [path for path in (layout.config, layout.environment) if path] if layout.command else []

    def is_source(self, path: str) -> bool:
        """Return whether the boot entries are generated from a file."""
        return bool(self.layout.command) and (path == DEFAULTS or path.startswith(DROP_INS + "/"))

    def is_generated(self, path: str) -> bool:
        """Return whether others write a file as well, such as a new kernel or a boot."""
        return path == self.layout.environment or path.startswith(ENTRIES + "/")

    def write(self, changes: Changes) -> None:
        """Give files new texts, drop-ins first: cut short after one, the host reserves the pages at least once."""
        for path in sorted(changes, key=lambda path: (path == DEFAULTS, path)):
            text = changes[path]
            if text is not None and read_bytes(self.real(path)) == encode(text):
                continue
            if text is None:
                remove_file(self.real(path))
                continue
            os.makedirs(os.path.dirname(self.real(path)), 0o755, exist_ok=True)
            replace_file(self.real(path), encode(text))

    def generate(self, output: Optional[str] = None, protected: bool = False) -> None:
        """Generate the boot entries from the files, into another file if one is given.

        A protected run can't write to the folder of grub.cfg, which also holds the environment.
        """
        command = self.layout.command[:1] + ["-o", output] if output else self.layout.command
        argv = [self.real(command[0])] + command[1:]
        if protected:
            folder = os.path.dirname(os.path.realpath(self.real(self.layout.config or "")))
            argv = ["unshare", "-m", "sh", "-c", PROTECTED, "sh", folder] + argv
        options = {"handle_exceptions": False}  # type: Dict[str, Any]
        if self.lock is not None:
            options["pass_fds"] = [self.lock]
        status, shown, error = self.run_command(argv, **options)
        if status != 0:
            words = " | ".join((error or shown).strip().splitlines()[-5:])
            place = self.layout.config or ""
            raise HugepagesError(f"{' '.join(command)} ended with {status}: {words}".replace(output or place, place))

    def regenerated(self, protected: bool) -> str:
        """Return the grub.cfg that the files give now, which is written elsewhere."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "grub.cfg")
            self.generate("/" + os.path.relpath(path, os.path.realpath(self.root)), protected)
            if not os.path.exists(path):
                raise HugepagesError(f"{self.layout.command[0]} does not write to the file that its option -o names")
            return decode(read_bytes(path) or b"")

    def device(self, token: str) -> str:
        """Return a root= argument as the device that it names; other arguments as they are."""
        match = re.match(r"root=(UUID|LABEL|PARTUUID|PARTLABEL)=(\S+)$", token)
        link = self.real(f"/dev/disk/by-{match.group(1).lower()}/{match.group(2)}") if match else ""
        return "root=" + os.path.realpath(link) if os.path.exists(link) else token


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def diffs(config: BootConfig, changes: Changes) -> List[Dict[str, Any]]:
    """Return Ansible's diff of each file that changes."""
    before = config.before.files
    return [
        {
            "before_header": path if path in before or config.text(path) else f"{path} (absent)",
            "after_header": path if text is not None else f"{path} (absent)",
            "before": before.get(path, config.text(path)).encode("utf-8", "replace").decode(),
            "after": (text or "").encode("utf-8", "replace").decode(),
        }
        for path, text in sorted(changes.items())
    ]
