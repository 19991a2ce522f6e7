# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read an ELF file of 64 bits, little-endian: the symbols that it exports, and its read-only data.

The structures are those of elf(5). Anything else raises ElfError.
"""

import struct
from typing import BinaryIO, List, NamedTuple

HEADER = struct.Struct("<6s10xHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
MAGIC = b"\x7fELF\x02\x01"
DYNAMIC_SYMBOLS = 11
UNDEFINED = 0
# No section that is read here is larger in a real library, and no name is of interest beyond this length.
MOST_BYTES = 16 * 1024 * 1024
MOST_OF_A_NAME = 256


class Section(NamedTuple):
    name: int
    type: int
    offset: int
    size: int
    link: int


class ElfError(ValueError):
    """A file that is no such ELF file, or one that is cut."""


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    if size > MOST_BYTES or offset >= 1 << 63:
        raise ElfError("a section is too large")
    file.seek(offset)
    data = file.read(size)
    if len(data) != size:
        raise ElfError("the file is cut")
    return data


def _text(names: bytes, start: int) -> str:
    return names[start : start + MOST_OF_A_NAME].split(b"\0")[0].decode("utf-8", "replace")


def _sections(file: BinaryIO) -> List[Section]:
    header = HEADER.unpack(_read(file, 0, HEADER.size))
    magic, offset, (size, count) = header[0], header[6], header[11:13]
    if magic != MAGIC or size != SECTION.size:
        raise ElfError("the file is no ELF file of 64 bits with sections")
    table = SECTION.iter_unpack(_read(file, offset, size * count))
    return [Section(name, kind, start, length, link) for name, kind, _f, _a, start, length, link, _i, _l, _e in table]


def exported_symbols(file: BinaryIO) -> List[str]:
    """Return the names of the symbols that a library defines for others."""
    sections = _sections(file)
    found = []
    for section in sections:
        if section.type == DYNAMIC_SYMBOLS and section.link < len(sections):
            names = _read(file, sections[section.link].offset, sections[section.link].size)
            data = _read(file, section.offset, section.size - section.size % SYMBOL.size)
            symbols = SYMBOL.iter_unpack(data)
            found += [_text(names, name) for name, _i, _o, index, _v, _s in symbols if index != UNDEFINED]
    return found


def read_only_data(file: BinaryIO) -> bytes:
    """Return the section .rodata, which has the texts of a program."""
    header = HEADER.unpack(_read(file, 0, HEADER.size))
    sections = _sections(file)
    if header[13] >= len(sections):
        raise ElfError("the sections have no names")
    names = _read(file, sections[header[13]].offset, sections[header[13]].size)
    found = [section for section in sections if _text(names, section.name) == ".rodata"]
    if not found:
        raise ElfError("there is no section .rodata")
    return _read(file, found[0].offset, found[0].size)
