# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small ELF file of 64 bits, as elf(5) has it, for tests of what is read in libraries."""

import struct


def elf(exported, texts=b"\0", undefined=()):
    """Return a library that defines some symbols and needs others, with texts in its read-only data."""
    names, symbols = b"\0", b"\0" * 24
    for section, group in ((4, exported), (0, undefined)):
        for name in group:
            symbols += struct.pack("<IBBHQQ", len(names), 0x11, 0, section, 0, 0)
            names += name.encode() + b"\0"
    titles = b"\0.dynsym\0.dynstr\0.rodata\0.shstrtab\0"
    parts = [
        (b".dynsym", 11, symbols, 2),
        (b".dynstr", 3, names, 0),
        (b".rodata", 1, texts, 0),
        (b".shstrtab", 3, titles, 0),
    ]
    data, table = b"", b"\0" * 64
    for title, kind, content, link in parts:
        table += struct.pack(
            "<IIQQQQIIQQ", titles.index(title), kind, 0, 0, 64 + len(data), len(content), link, 0, 1, 0
        )
        data += content
    head = struct.pack("<6s10xHHIQQQIHHHHHH", b"\x7fELF\x02\x01", 3, 62, 1, 0, 0, 64 + len(data), 0, 64, 0, 0, 64, 5, 4)
    return head + data + table
