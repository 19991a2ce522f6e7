# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the kernel lines of generated boot entries. Text in, values out."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PREFIXES, KernelLine

GRUBENV_HEADER = "# GRUB Environment Block"
GRUBENV_BLOCK = 1024  # bytes


MENU_LINE = re.compile(r"\s*menuentry\s+(['\"])(?P<title>.*?)\1")
# Every script of /etc/grub.d has a section of its own; these write entries of others.
SECTION_LINE = re.compile(r"### (?P<edge>BEGIN|END) \S*/(?P<script>\S+) ###")
FOREIGN = re.compile("os-prober|memtest|custom")
LINUX_LINE = re.compile(r"\s*linux(?:16|efi)?\s+(?P<kernel>\S+)\s*(?P<arguments>.*)$")


# What EL7 gives an entry beside the files when a kernel is installed; the system reads its language from /etc/locale.conf.
INSTALLED = ("LANG=",)


class Entry(NamedTuple):
    """One boot entry: what names it in a message, its kernel line, and the kernel of a generated one."""

    name: str
    line: KernelLine
    kernel: str = ""


def grub_entries(text: str) -> List[Entry]:
    """Return the entries of a grub.cfg that boot this system: no rescue images, memory tests, others' systems, users' own."""
    found = []
    title, foreign = "", False
    for line in text.splitlines():
        section = SECTION_LINE.match(line)
        if section:
            foreign = section.group("edge") == "BEGIN" and FOREIGN.search(section.group("script")) is not None
        menu = MENU_LINE.match(line)
        if menu:
            title = menu.group("title")
        linux = LINUX_LINE.match(line)
        if linux and not foreign and not is_rescue(linux.group("kernel")):
            kernel = linux.group("kernel")
            found.append(Entry(title or kernel, KernelLine(linux.group("arguments").split()), kernel))
    return found


def grub_kernels(text: str) -> Set[str]:
    """Return the kernels that the entries of a grub.cfg start, whosever they are."""
    found = [LINUX_LINE.match(line) for line in text.splitlines()]
    return {linux.group("kernel") for linux in found if linux}


def is_rescue(name: str) -> bool:
    """Say whether a kernel or an entry is a rescue image or a memory test by its name; those are left as they are."""
    return re.search("rescue|memtest", name) is not None


def bls_fields(text: str) -> Dict[str, str]:
    """Return the fields of a snippet in /boot/loader/entries. Of a repeated one GRUB takes the first."""
    return dict(reversed(re.findall(r"^(\w+)[ \t]+(.*)$", text, re.MULTILINE)))


def bls_initrds(text: str) -> List[str]:
    """Return the images that a snippet in /boot/loader/entries loads before the kernel starts, in order."""
    return re.findall(r"^initrd[ \t]+(.*)$", text, re.MULTILINE)


def bls_options(fields: Dict[str, str], variables: Dict[str, str]) -> List[str]:
    """Return the kernel arguments of a snippet, with variables of grubenv put in."""
    return re.sub(r"\$(\w+)", lambda match: variables.get(match.group(1), ""), fields.get("options", "")).split()


def bls_entry(name: str, text: str, variables: Dict[str, str]) -> Optional[Entry]:
    """Return the entry of a snippet in /boot/loader/entries, with variables of grubenv put in; None for a rescue image."""
    fields = bls_fields(text)
    if is_rescue(name) or is_rescue(fields.get("linux", "")):
        return None
    return Entry(fields.get("title", name), KernelLine(bls_options(fields, variables)))


def grubenv(text: str) -> Dict[str, str]:
    """Return the variables of the text of a grubenv block."""
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


def with_variable(text: str, name: str, value: Optional[str]) -> str:
    """Return the text of a grubenv block with one variable set, or removed by None.

    GRUB writes into the block in place, so it keeps its size: a multiple of 1024 bytes, filled up with #.
    """
    lines = [line for line in text.rstrip("#").splitlines() if not line.startswith(name + "=")] or [GRUBENV_HEADER]
    body = "".join(line + "\n" for line in lines + ([name + "=" + value] if value is not None else []))
    size = max(GRUBENV_BLOCK, -(-len(body.encode("utf-8", "surrogateescape")) // GRUBENV_BLOCK) * GRUBENV_BLOCK)
    return body + "#" * (size - len(body.encode("utf-8", "surrogateescape")))


def entry_problems(entries: List[Entry], page_size: str, count: Optional[int]) -> List[str]:
    """Return what is wrong with generated entries; count None asks for entries that reserve no such pages."""
    if not entries:
        return ["it holds no entry that boots Linux"]
    problems = []
    for entry in entries:
        problems += [f"entry {entry.name!r}: {said}" for said in entry.line.problems(page_size, count)]
    return problems


def lost_arguments(before: Sequence[Entry], after: List[Entry], command: str, known: Sequence[str] = ()) -> List[str]:
    """The problems when generating dropped arguments that only the entries held, as grubby leaves them on EL7.

    known are arguments that the files gave, which go when the files are restored.
    """
    if not before or not after:
        return []
    # Which device is the root is the generator's own business.
    ignored = PREFIXES + INSTALLED + ("root=",)
    lost = [
        token
        for old, now in _by_kernel(before, after)
        for token in old.line.tokens
        if token not in now and token not in known and not token.startswith(ignored)
    ]
    words = " ".join(dict.fromkeys(lost))
    said = (
        f"generating the entries drops {words}, which nothing but the entries holds: put it into GRUB_CMDLINE_LINUX, or"
    )
    return [f"{said} run {command} yourself first if it shall go"] if lost else []


def _by_kernel(before: Sequence[Entry], after: List[Entry]) -> List[Tuple[Entry, List[str]]]:
    """Return the usual entry of each kernel, which stands before its recovery entry, with the arguments of that kernel now.

    The default need not be the first entry: a driver can keep a host at an older kernel.
    """
    usual = {}  # type: Dict[str, Entry]
    for entry in before:
        usual.setdefault(entry.kernel, entry)
    found = []
    for kernel, old in usual.items():
        now = [token for entry in after if entry.kernel == kernel for token in entry.line.tokens]
        if now or old is before[0]:
            found.append((old, now or after[0].line.tokens))
    return found


def any_lacks(entries: Sequence[Entry], line: KernelLine, page_size: str) -> bool:
    """Say whether any of some entries reserves other pages of one size than a line; each of them is a kernel's usual one."""
    return any(entry.line.counts(page_size) != line.counts(page_size) for entry in entries)


def is_stale(entries: Sequence[Entry], line: KernelLine, page_size: str) -> bool:
    """Say whether entries differ in the pages of one size from the line that generating them now would give.

    Recovery entries hold only a part of the line, so they are looked at only where the line reserves nothing.
    """
    expected = line.counts(page_size)
    if expected:
        return not entries or entries[0].line.counts(page_size) != expected
    return any(entry.line.counts(page_size) for entry in entries)
