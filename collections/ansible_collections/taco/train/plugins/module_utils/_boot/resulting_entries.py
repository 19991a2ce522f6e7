# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the boot entries say after planned changes, and why the kernel would not read that as meant."""

from typing import Any, Dict, List, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig
from ansible_collections.taco.train.plugins.module_utils._boot.entries import Entry, entry_problems
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import KernelLine
from ansible_collections.taco.train.plugins.module_utils._boot.layout import ENTRIES
from ansible_collections.taco.train.plugins.module_utils._boot.model import BootModel
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError

Params = Dict[str, Any]  # the options of the module hugepages
MOST_BYTES = 2047  # of a kernel line: COMMAND_LINE_SIZE of x86-64 and arm64 without the closing zero


def require_short(config: BootConfig, params: Params, count: int, entries: Sequence[Entry]) -> None:
    """Refuse a kernel line of which the kernel would cut off the end."""
    booted = [word for word in config.text("/proc/cmdline").split() if word.startswith("BOOT_IMAGE=")]
    for entry in entries:
        tokens = entry.line.corrected(params["page_size"], count, params["keep_other_sizes"])
        image = max([f"BOOT_IMAGE={entry.kernel}"] + booted, key=len)
        size = len(" ".join([image] + tokens).encode("utf-8", "surrogateescape"))
        if size > MOST_BYTES:
            raise HugepagesError(
                f"the kernel line of entry {entry.name!r} would have {size} bytes, and the kernel reads only the first {MOST_BYTES}: "
                "take arguments out of it, or merge them (a range as in isolcpus=2-255 is shorter than a list); nothing was written"
            )


def _entries_after(config: BootConfig, model: BootModel, changes: Dict[str, Optional[str]]) -> List[Entry]:
    """Return the entries that changes of snippets and environment give."""
    snippets = model.snippets
    texts = {path: changes.get(path) or text for path, text in snippets.texts.items()}
    environment = changes.get(snippets.environment_path) or snippets.environment
    return config.entries(snippets._replace(texts=texts, environment=environment))


def line_of_entries(
    config: BootConfig, model: BootModel, changes: Dict[str, Optional[str]], line: KernelLine
) -> KernelLine:
    """Return the line that boots after changes: that of the entries where they are edited here, else the one of the files."""
    if config.layout.command or not model.entries:
        return line
    names = [entry.name for entry in model.entries if entry.line.tokens == model.line.tokens]
    after = {entry.name: entry.line for entry in _entries_after(config, model, changes)}
    return after.get(names[0], line) if names else line


def require_right(
    config: BootConfig, model: BootModel, changes: Dict[str, Optional[str]], page_size: str, count: int
) -> None:
    """Refuse changes after which an entry that is edited here would not reserve the pages once."""
    snippets = model.snippets
    problems = entry_problems(_entries_after(config, model, changes), page_size, count)
    if problems:
        raise HugepagesError(
            f"{ENTRIES} would come out wrong: {'; '.join(problems)}. Look at the options of these entries and the variables of "
            f"{snippets.environment_path} and {config.layout.config} that they name; nothing was written"
        )


def other_sizes(line: KernelLine, page_size: str) -> List[str]:
    """Return the reservations of other sizes than one."""
    return [f"hugepagesz={found.size} hugepages={found.number}" for found in line.others(page_size)]
