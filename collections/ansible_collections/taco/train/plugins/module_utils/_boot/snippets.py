# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan what boot loader specification entries and GRUB's environment say of hugepages. Texts in, texts out.

The kernel arguments of an entry are its own line `options`, in which `$kernelopts` stands for a variable of GRUB's environment
(EL8) or, where the environment lacks it, of grub.cfg. The entries are edited here and not by grubby: its version of 2018 looks for a
key anywhere in the line, so it finds hugepagesz= within default_hugepagesz= and never adds it; it also leaves kernelopts and the files
that new kernels are set up from alone. Later versions rewrite GRUB_CMDLINE_LINUX_DEFAULT together with GRUB_CMDLINE_LINUX.
"""

import re
from typing import Callable, Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.entries import (
    bls_fields,
    grubenv,
    is_rescue,
    with_variable,
)
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import KernelLine, Number, without_run

VARIABLE = "kernelopts"
OPTIONS_LINE = re.compile(r"^(options[ \t]+)(.*)$", re.MULTILINE)
SET_LINE = re.compile(r'^(if \[ -z .*\]; *then\s+)?[ \t]*set (\w+)="(.*)"$', re.MULTILINE)
Edit = Callable[[List[str]], List[str]]


class Snippets(NamedTuple):
    """The boot loader specification entries of a host."""

    texts: Dict[str, str]  # path -> text
    environment_path: str
    environment: str  # text of grubenv, empty where there is none
    config: str  # text of grub.cfg


def variables(snippets: Snippets) -> Dict[str, str]:
    """Return the variables that an entry may name: those of grubenv, and what grub.cfg sets then, or only where one is empty."""
    found = grubenv(snippets.environment)
    for guarded, name, value in SET_LINE.findall(snippets.config):
        if not (guarded and found.get(name)):
            found[name] = value
    return found


def edited(snippets: Snippets, line: Edit, rest: Edit) -> Dict[str, Optional[str]]:
    """Return the new texts, by path, of entries and environment.

    line edits a whole kernel line; rest edits what an entry says beside kernelopts. Rescue entries stay as they are.
    """
    changes = {}  # type: Dict[str, Optional[str]]
    shared = False
    for path, text in snippets.texts.items():
        fields = bls_fields(text)
        words = fields.get("options", "").split()
        if is_rescue(path) or is_rescue(fields.get("linux", "")) or not words:
            continue
        named = "$" + VARIABLE in words
        shared = shared or named
        after = (rest if named else line)(words)
        if after != words:
            found = OPTIONS_LINE.search(text)
            changes[path] = text[: found.start(2)] + " ".join(after) + text[found.end(2) :] if found else text
    before = variables(snippets).get(VARIABLE)
    if shared and before is not None and line(before.split()) != before.split():
        value = " ".join(line(before.split()))
        changes[snippets.environment_path] = with_variable(snippets.environment, VARIABLE, value)
    return changes


def with_hugepages(snippets: Snippets, page_size: str, count: Number, keep_others: bool) -> Dict[str, Optional[str]]:
    """Return the new texts with which every entry reserves the pages once."""
    return edited(
        snippets,
        lambda words: KernelLine(words).corrected(page_size, count, keep_others),
        lambda words: KernelLine(words).without(page_size, keep_others),
    )


def _completed(words: List[str]) -> List[str]:
    """Return words with the hugepagesz= that grubby of 2018 left out."""
    found = []  # type: List[str]
    for word, following in zip(words, [*words[1:], ""]):
        found.append(word)
        if word.startswith("default_hugepagesz=") and following.startswith("hugepages="):
            found.append(word[len("default_") :])
    return found


def without_hugepages(snippets: Snippets, ours: Edit) -> Dict[str, Optional[str]]:
    """Return the new texts without the arguments that were added; ours returns those of a line."""

    def line(words: List[str]) -> List[str]:
        full = _completed(words)
        run = ours(full)
        return without_run(full, run) if run else words

    return edited(snippets, line, line)
