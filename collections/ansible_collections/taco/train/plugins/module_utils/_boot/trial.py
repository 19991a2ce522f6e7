# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Let GRUB boot new kernel arguments once. Reads, and writes nothing.

The generated entries stay as they are. A copy of one of them, with the new arguments, goes into custom.cfg beside grub.cfg, and
GRUB's environment names it as next_entry. GRUB clears next_entry before it boots it, so the boot after that is the usual one.

Sources: the GNU GRUB manual (environment block, next_entry), GRUB's 00_header and 41_custom.
"""

import re
from typing import Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig, Changes
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
from ansible_collections.taco.train.plugins.module_utils._boot.snippets import variables

ENTRY_ID = "taco-hugepages-trial"
VARIABLE = "next_entry"
BEGIN, END = "### BEGIN taco.train trial ###\n", "### END taco.train trial ###\n"
# Where GRUB can write its environment: a plain file system on a plain partition.
WRITABLE = ("ext2", "ext3", "ext4", "xfs", "vfat")


def _obstacles(config: BootConfig) -> List[str]:
    """Return why GRUB could not boot an entry once and come back to the usual one by itself."""
    folder, text = config.layout.folder, config.before.snippets.config
    found = []
    if VARIABLE not in text:
        found.append(f"{folder}/grub.cfg does not look at {VARIABLE}")
    if "custom.cfg" not in text:
        found.append(f"{folder}/grub.cfg does not read custom.cfg")
    device, kind = _mounted(config.text("/proc/mounts"), folder)
    if kind and kind not in WRITABLE:
        found.append(f"{folder} is on {kind}, where GRUB can't clear {VARIABLE}")
    if re.match(r"/dev/(mapper/|md|dm-)", device):
        found.append(f"{folder} is on {device}, where GRUB can't clear {VARIABLE}")
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


def _entry(config: BootConfig, page_size: str, count: Number, keep_others: bool) -> str:
    """Return the menu entry of the trial: that of the running kernel, with the pages."""
    snippets, release = config.before.snippets, config.release()
    for path, text in sorted(snippets.texts.items()):
        if not is_rescue(path) and bls_fields(text).get("linux", "").endswith("-" + release):
            return _from_snippet(text, variables(snippets), page_size, count, keep_others)
    lines = config_lines(snippets.config)
    for block in (menu_entry(lines, index) for index in range(len(lines))):
        if _is_usual(block, release):
            return _copy(block, page_size, count, keep_others)
    raise HugepagesError(
        f"no boot entry starts the running kernel {release}, so there is nothing to try; set hugepages_trial: false"
    )


def _without_trial(custom: str) -> str:
    """Return the text of custom.cfg without the trial."""
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), "", custom, flags=re.DOTALL)


def begin(config: BootConfig, page_size: str, count: Number, keep_others: bool) -> Changes:
    """Return the new texts of custom.cfg and grubenv, by path, that boot the pages once."""
    problems = _obstacles(config)
    if problems:
        raise HugepagesError(f"a trial boot is not possible here: {'; '.join(problems)}; set hugepages_trial: false")
    path, snippets = _custom(config), config.before.snippets
    custom = _without_trial(config.text(path))
    gap = "" if not custom or custom.endswith("\n") else "\n"
    return {
        path: custom + gap + BEGIN + _entry(config, page_size, count, keep_others) + END,
        snippets.environment_path: with_variable(snippets.environment, VARIABLE, ENTRY_ID),
    }


def end(config: BootConfig, environment: Optional[str] = None) -> Changes:
    """Return the new texts, by path, of a host that is done with its trial, where they differ; None for no file.

    environment is the text that GRUB's environment gets for other reasons.
    """
    changes = {}  # type: Changes
    path, snippets = _custom(config), config.before.snippets
    custom, variables_now = config.text(path), environment or snippets.environment
    if BEGIN in custom:
        changes[path] = _without_trial(custom) or None
    if grubenv(variables_now).get(VARIABLE) == ENTRY_ID:
        changes[snippets.environment_path] = with_variable(variables_now, VARIABLE, None)
    return changes


def _custom(config: BootConfig) -> str:
    return f"{config.layout.folder}/custom.cfg"
