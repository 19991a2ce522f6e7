# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Let GRUB boot new kernel arguments once. Texts in, texts out.

The generated entries stay as they are. A copy of one of them, with the new arguments, goes into custom.cfg beside grub.cfg, and
GRUB's environment names it as next_entry. GRUB clears next_entry before it boots it, so the boot after that is the usual one.

Sources: the GNU GRUB manual (environment block, next_entry), GRUB's 00_header and 41_custom.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.entries import (
    LINUX_LINE,
    bls_fields,
    bls_initrds,
    config_lines,
    grub_entries,
    grubenv,
    is_rescue,
    menu_entry,
    with_variable,
    with_variables,
)
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import KernelLine, Number
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.snippets import Snippets, variables

ENTRY_ID = "taco-hugepages-trial"
VARIABLE = "next_entry"
BEGIN, END = "### BEGIN taco.train trial ###\n", "### END taco.train trial ###\n"
# Where GRUB can write its environment: a plain file system on a plain partition.
WRITABLE = ("ext2", "ext3", "ext4", "xfs", "vfat")


class BootFiles(NamedTuple):
    """What a trial is made from."""

    snippets: Snippets  # texts is empty where the host has none
    custom_path: str
    custom: str  # text of custom.cfg, empty where there is none
    mounts: str  # text of /proc/mounts
    folder: str  # where grub.cfg lies
    release: str  # of the running kernel


def obstacles(files: BootFiles) -> List[str]:
    """Return why GRUB could not boot an entry once and come back to the usual one by itself."""
    found = []
    if VARIABLE not in files.snippets.config:
        found.append(f"{files.folder}/grub.cfg does not look at {VARIABLE}")
    if "custom.cfg" not in files.snippets.config:
        found.append(f"{files.folder}/grub.cfg does not read custom.cfg")
    device, kind = _mounted(files.mounts, files.folder)
    if kind and kind not in WRITABLE:
        found.append(f"{files.folder} is on {kind}, where GRUB can't clear {VARIABLE}")
    if re.match(r"/dev/(mapper/|md|dm-)", device):
        found.append(f"{files.folder} is on {device}, where GRUB can't clear {VARIABLE}")
    return found


def _mounted(mounts: str, folder: str) -> List[str]:
    """Return the device and the kind of the file system that holds a folder; empty texts where nothing says so."""
    best, found = "", ["", ""]
    for line in mounts.splitlines():
        parts = line.split()
        if len(parts) < 3:
            continue
        place = parts[1].rstrip("/")
        if (folder + "/").startswith(place + "/") and len(place) >= len(best):
            best, found = place, [parts[0], parts[2]]
    return found


def _is_usual(block: List[str], release: str) -> bool:
    """Say whether a menu entry boots the given kernel in the usual way."""
    entries = grub_entries("\n".join(block))
    return bool(entries) and entries[0].kernel.endswith("-" + release) and "recovery" not in entries[0].name


def _copy(block: List[str], page_size: str, count: Number, keep_others: bool) -> str:
    """Return a menu entry under the trial's own name, its kernel with the pages."""
    body = []
    for line in block[1:-1]:
        linux = LINUX_LINE.match(line)
        if linux:
            tokens = KernelLine(linux.group("arguments").split()).with_pages(page_size, count, keep_others)
            line = line[: linux.start("arguments")] + " ".join(tokens)
        # The trial must not become the saved default.
        if line.strip() != "savedefault":
            body.append("\t" + line.strip())
    return "\n".join([_head(page_size, count)] + body + ["}", ""])


def _head(page_size: str, count: Number) -> str:
    return f"menuentry 'Trial of {count} pages of {page_size}' --unrestricted --id {ENTRY_ID} {{"


def _from_snippet(text: str, known: Dict[str, str], page_size: str, count: Number, keep_others: bool) -> str:
    """Return a menu entry like the one that GRUB makes of a boot loader specification entry."""
    fields = bls_fields(text)
    arguments = KernelLine(with_variables(fields.get("options", ""), known)).with_pages(page_size, count, keep_others)
    lines = ["load_video", "insmod gzio", "linux " + " ".join([fields["linux"]] + arguments)]
    lines += ["initrd " + " ".join(bls_initrds(text))] if "initrd" in fields else []
    return "\n".join([_head(page_size, count)] + ["\t" + line for line in lines] + ["}", ""])


def entry(files: BootFiles, page_size: str, count: Number, keep_others: bool = True) -> str:
    """Return the menu entry of the trial: that of the running kernel, with the pages."""
    for path, text in sorted(files.snippets.texts.items()):
        if not is_rescue(path) and bls_fields(text).get("linux", "").endswith("-" + files.release):
            return _from_snippet(text, variables(files.snippets), page_size, count, keep_others)
    lines = config_lines(files.snippets.config)
    for block in (menu_entry(lines, index) for index in range(len(lines))):
        if _is_usual(block, files.release):
            return _copy(block, page_size, count, keep_others)
    raise HugepagesError(
        f"no boot entry starts the running kernel {files.release}, so there is nothing to try; set hugepages_trial: false"
    )


def without_trial(custom: str) -> str:
    """Return the text of custom.cfg without the trial."""
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), "", custom, flags=re.DOTALL)


def begin(files: BootFiles, page_size: str, count: Number, keep_others: bool = True) -> Dict[str, Optional[str]]:
    """Return the new texts of custom.cfg and grubenv, by path, that boot the pages once."""
    problems = obstacles(files)
    if problems:
        raise HugepagesError(f"a trial boot is not possible here: {'; '.join(problems)}; set hugepages_trial: false")
    custom = without_trial(files.custom)
    gap = "" if not custom or custom.endswith("\n") else "\n"
    return {
        files.custom_path: custom + gap + BEGIN + entry(files, page_size, count, keep_others) + END,
        files.snippets.environment_path: with_variable(files.snippets.environment, VARIABLE, ENTRY_ID),
    }


def end(files: BootFiles) -> Dict[str, Optional[str]]:
    """Return the new texts, by path, of a host that is done with its trial, where they differ; None for no file."""
    changes = {}  # type: Dict[str, Optional[str]]
    if BEGIN in files.custom:
        changes[files.custom_path] = without_trial(files.custom) or None
    if grubenv(files.snippets.environment).get(VARIABLE) == ENTRY_ID:
        changes[files.snippets.environment_path] = with_variable(files.snippets.environment, VARIABLE, None)
    return changes
