# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Read the kernel lines of generated boot entries. Text in, values out."""

import re
from typing import Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._kernel_args import counts, line_problems


class Entry(NamedTuple):
    """One boot entry: what names it in a message, and the arguments of its kernel."""

    name: str
    tokens: List[str]


def grub_entries(text: str) -> List[Entry]:
    """Return the entries of a grub.cfg that boot Linux, but those of rescue images."""
    found = []
    title = ""
    for line in text.splitlines():
        menu = re.match(r"\s*menuentry\s+(['\"])(.*?)\1", line)
        if menu:
            title = menu.group(2)
        linux = re.match(r"\s*linux(?:16|efi)?\s+(\S+)\s*(.*)$", line)
        if linux and "rescue" not in linux.group(1):
            found.append(Entry(title or linux.group(1), linux.group(2).split()))
    return found


def bls_entry(name: str, text: str, variables: Dict[str, str]) -> Optional[Entry]:
    """Return the entry of a snippet in /boot/loader/entries, with variables of grubenv put in; None for a rescue image."""
    fields = dict(re.findall(r"^(\w+)[ \t]+(.*)$", text, re.MULTILINE))
    if "rescue" in name or "rescue" in fields.get("linux", ""):
        return None
    options = re.sub(r"\$(\w+)", lambda match: variables.get(match.group(1), ""), fields.get("options", ""))
    return Entry(fields.get("title", name), options.split())


def grubenv(text: str) -> Dict[str, str]:
    """Return the variables of the text of a grubenv block."""
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


def entry_problems(entries: List[Entry], page_size: str, count: Optional[int]) -> List[str]:
    """Return what is wrong with generated entries; count None asks for entries that reserve no such pages."""
    if not entries:
        return ["it holds no entry that boots Linux"]
    problems = []
    for entry in entries:
        problems += [f"entry {entry.name!r}: {said}" for said in line_problems(entry.tokens, page_size, count)]
    return problems


def is_stale(entries: List[Entry], line: List[str], page_size: str) -> bool:
    """Say whether entries differ in the pages of one size from the line that generating them now would give.

    Recovery entries hold only a part of the line, so they are looked at only where the line reserves nothing.
    """
    expected = counts(line, page_size)
    if expected:
        return not entries or counts(entries[0].tokens, page_size) != expected
    return any(counts(entry.tokens, page_size) for entry in entries)
