# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the kernel lines of generated boot entries. Text in, values out."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import KernelLine

GRUBENV_HEADER = "# GRUB Environment Block"
GRUBENV_BLOCK = 1024  # bytes


MENU_LINE = re.compile(r"\s*menuentry\s+(['\"])(?P<title>.*?)\1")
# Every script of /etc/grub.d has a section of its own; these write entries of others.
SECTION_LINE = re.compile(r"### (?P<edge>BEGIN|END) \S*/(?P<script>\S+) ###")
FOREIGN = re.compile("os-prober|memtest|custom")
# An entry or a folder of the first menu, and the one of them that starts by default.
TOP_LINE = re.compile(
    r"(?:menuentry|submenu)\s+(['\"])(?P<title>.*?)\1(?:.*(?:--id[ =]|\$\{?menuentry_id_option\}? )['\"]?(?P<id>[^'\"\s]+))?"
)
DEFAULT_LINE = re.compile(r"^[ \t]*set default=[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE)
LINUX_LINE = re.compile(r"\s*linux(?:16|efi)?\s+(?P<kernel>\S+)\s*(?P<arguments>.*)$")


# What EL7 gives an entry beside the files when a kernel is installed; the system reads its language from /etc/locale.conf.
INSTALLED = ("LANG=",)


class Entry(NamedTuple):
    """One boot entry: what names it in a message, its kernel line, and the kernel of a generated one."""

    name: str
    line: KernelLine
    kernel: str = ""


def config_lines(text: str) -> List[Tuple[str, bool]]:
    """Return the lines of a grub.cfg as GRUB reads them, and whether each stands in a section with entries of others.

    Carriage returns do not count, and only a newline ends a line.
    """
    found, foreign = [], False
    for line in text.replace("\r", "").split("\n"):
        section = SECTION_LINE.match(line)
        if section:
            foreign = section.group("edge") == "BEGIN" and FOREIGN.search(section.group("script")) is not None
        found.append((line, foreign))
    return found


def menu_entry(lines: Sequence[Tuple[str, bool]], first: int) -> List[str]:
    """Return the lines of the menu entry that begins at a line of a grub.cfg and ends with its closing brace; none if none begins there."""
    start = lines[first][0]
    closing = start[: len(start) - len(start.lstrip())] + "}"
    end = next((index for index in range(first + 1, len(lines)) if lines[index][0].rstrip() == closing), first)
    return [line for line, _foreign in lines[first : end + 1]] if end > first and MENU_LINE.match(start) else []


def grub_entries(text: str, variables: Optional[Dict[str, str]] = None) -> List[Entry]:
    """Return the entries of a grub.cfg that boot this system, with GRUB's variables put in.

    Rescue images, memory tests, others' systems and users' own entries are left out.
    """
    found = []
    title = ""
    for line, foreign in config_lines(text):
        menu = MENU_LINE.match(line)
        if menu:
            title = menu.group("title")
        linux = LINUX_LINE.match(line)
        if linux and not foreign and not is_rescue(linux.group("kernel")):
            kernel = linux.group("kernel")
            tokens = with_variables(linux.group("arguments"), variables or {})
            found.append(Entry(title or kernel, KernelLine(tokens), kernel))
    return found


def grub_kernels(text: str) -> Set[str]:
    """Return the kernels that the entries of a grub.cfg start, whosever they are."""
    found = [LINUX_LINE.match(line) for line, _foreign in config_lines(text)]
    return {linux.group("kernel") for linux in found if linux}


def chosen_of_others(text: str, variables: Dict[str, str]) -> Optional[str]:
    """Return the title of the entry that a grub.cfg starts by default where others wrote it, None where the generator did."""
    menu = []
    for line, foreign in config_lines(text):
        found = TOP_LINE.match(line)
        if found:
            menu.append((found.group("title"), found.group("id"), foreign))
    given = [value for value in DEFAULT_LINE.findall(text) if "next_entry" not in value]
    chosen = "".join(" ".join(with_variables(given[-1], variables)).split(">")[:1]) if given else ""
    place = int(chosen) if chosen.isdigit() and int(chosen) < len(menu) else 0
    named = [entry for entry in menu if chosen and chosen in entry[:2]] or menu[place : place + 1]
    return named[0][0] if named and named[0][2] else None


def is_rescue(name: str) -> bool:
    """Say whether a kernel or an entry is a rescue image or a memory test by its name; those are left as they are."""
    return re.search("rescue|memtest", name) is not None


def bls_fields(text: str) -> Dict[str, str]:
    """Return the fields of a snippet in /boot/loader/entries. Of a repeated one GRUB takes the first."""
    return dict(reversed(re.findall(r"^(\w+)[ \t]+(.*)$", text, re.MULTILINE)))


def bls_initrds(text: str) -> List[str]:
    """Return the images that a snippet in /boot/loader/entries loads before the kernel starts, in order."""
    return re.findall(r"^initrd[ \t]+(.*)$", text, re.MULTILINE)


def with_variables(options: str, variables: Dict[str, str]) -> List[str]:
    """Return the kernel arguments of an entry, with GRUB's variables put in."""
    return re.sub(r"\$\{?(\w+)\}?", lambda match: variables.get(match.group(1), ""), options).split()


def bls_entry(name: str, text: str, variables: Dict[str, str]) -> Optional[Entry]:
    """Return the entry of a snippet in /boot/loader/entries, with GRUB's variables put in; None for a rescue image."""
    fields = bls_fields(text)
    if is_rescue(name) or is_rescue(fields.get("linux", "")):
        return None
    tokens = with_variables(fields.get("options", ""), variables)
    return Entry(fields.get("title", name), KernelLine(tokens), fields.get("linux", ""))


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


def is_stale(entries: Sequence[Entry], line: KernelLine, page_size: str) -> bool:
    """Say whether entries differ in the pages of one size from the line that generating them now would give.

    Recovery entries hold only a part of the line, so they are looked at only where the line reserves nothing.
    """
    expected = line.counts(page_size)
    if expected:
        return not entries or entries[0].line.counts(page_size) != expected
    return any(entry.line.counts(page_size) for entry in entries)
