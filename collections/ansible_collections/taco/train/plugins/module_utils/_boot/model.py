# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The boot configuration of one host, parsed once. Texts in, values out."""

from typing import Dict, List, NamedTuple, Optional, Pattern, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.entries import Entry
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import KernelLine, Number, by_node
from ansible_collections.taco.train.plugins.module_utils._boot.layout import DEFAULTS, DROP_INS
from ansible_collections.taco.train.plugins.module_utils._boot.shell_assignments import (
    Assignment,
    ShError,
    assignments,
    evaluate,
)
from ansible_collections.taco.train.plugins.module_utils._boot.snippets import Snippets

KEYS = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")


class BootModel(NamedTuple):
    """What a host boots with, and the files from which that comes."""

    files: Dict[str, str]  # path -> text
    assignments: Dict[str, List[Assignment]]  # of each file that grub-mkconfig sources, in its order
    line: KernelLine  # what boots: what grub-mkconfig puts on a normal entry, or what an entry that is no generated one says
    sourced: KernelLine  # what the files that grub-mkconfig sources say
    entries: Sequence[Entry] = ()
    snippets: Snippets = Snippets({}, "", "", "")


def given_number(model: BootModel, page_size: str, count: int) -> Number:
    """The number of pages as somebody gave it for each NUMA node, such as V(0:25,1:25), where that adds up to count."""
    lines = [model.line, *(entry.line for entry in model.entries)]
    given = [line.counts(page_size)[0] for line in lines if line.count(page_size) == count]
    return given[0] if given and by_node(given[0]) else count


def unreached(model: BootModel, words: Pattern[str]) -> Optional[Tuple[str, Assignment]]:
    """The path and the command that may end the reading of the files before an assignment with these words; None without one."""
    ended = None  # type: Optional[Tuple[str, Assignment]]
    for path, found in model.assignments.items():
        for one in found:
            if ended and words.search(one.raw):
                return ended
            ended = ended or ((path, one) if one.ends else None)
        ended = None if ended and ended[1].ends == "return" else ended
    return None


def parse(files: Dict[str, str]) -> BootModel:
    """The model of some files: grub-mkconfig sources /etc/default/grub, then the drop-ins by name."""
    sourced = [DEFAULTS] if DEFAULTS in files else []
    sourced += sorted(path for path in files if path.startswith(DROP_INS + "/"))
    parsed = {}  # type: Dict[str, List[Assignment]]
    for path in sourced:
        try:
            parsed[path] = assignments(files[path])
        except ShError as error:
            raise ShError(f"{path}, {error}") from error
    values = evaluate([one for path in sourced for one in parsed[path]], KEYS)
    line = KernelLine(" ".join(values[key] for key in KEYS).split())
    return BootModel(files, parsed, line, line)
