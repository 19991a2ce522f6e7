# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan what the files of a boot configuration must say so that the kernel reserves hugepages. Texts in, texts out."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    PAGE_BYTES,
    canonical_size,
    edits,
    line_problems,
    reservations,
    wanted_tokens,
    with_pages,
)
from ansible_collections.taco.train.plugins.module_utils._boot.layout import DEFAULTS, DROP_INS, KERNEL_CMDLINE
from ansible_collections.taco.train.plugins.module_utils._boot.shell_assignments import (
    append_words,
    assignments,
    edit_words,
    evaluate,
    replace_value,
)

KEYS = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")
MOST_LETTERS = 200  # of a file's name
DROP_IN_NAME = "zz-taco-hugepages.cfg"
DROP_IN = """\
# Written by the module taco.train.hugepages. Its state "absent" removes this file, "restored" also undoes its other edits.
GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {arguments}"
"""
# Where there are no drop-ins, this tells that the arguments are of this collection, and where the history is.
NOTE = "# The module taco.train.hugepages added its arguments above. What was here before: {folder}/hugepages"


class HugepagesError(Exception):
    """The pages can't be reserved as asked; nothing was written."""


class Plan(NamedTuple):
    """What the files should hold; a path that maps to None should not exist."""

    files: Dict[str, Optional[str]]
    before: List[str]  # the kernel arguments that the files give now, without those that only boot time adds
    after: List[str]
    kept: List[str]  # reservations of other sizes, left as they are
    arguments: List[str]  # ours


def pages_for(gpus: int, page_size: str = "1G") -> int:
    """Return how many pages HARP needs on a host with this many GPUs (the vendor's rule: GPUs x 5 + 10 pages of 1 GiB)."""
    if gpus < 1:
        raise HugepagesError(f"a host with {gpus} GPUs needs no pages: set taco_gpus_per_node or hugepages_count")
    return (gpus * 5 + 10) * (PAGE_BYTES["1G"] // PAGE_BYTES[page_size])


def page_support(cpu: Mapping[str, Any], page_size: str) -> Tuple[bool, str]:
    """Return whether a processor has pages of a size, and the flag by which it says so."""
    return (cpu["page_1g"], "pdpe1gb") if page_size == "1G" else (cpu["page_2m"], "pse")


def require_fraction(fraction: float) -> None:
    """Refuse what can't be a part of the memory."""
    if not 0 < fraction <= 1:
        raise HugepagesError(f"hugepages_max_memory_fraction is {fraction}; it must be more than 0 and at most 1")


def fitting(page_size: str, memory_bytes: int, fraction: float, others_bytes: int = 0) -> int:
    """The number of pages that leave a host enough memory. others_bytes is what pages of other sizes take."""
    return int((memory_bytes * fraction - others_bytes) // PAGE_BYTES[page_size])


def require_fit(
    page_size: str,
    count: int,
    memory_bytes: Optional[int],
    fraction: float,
    supported: bool,
    flag: str,
    others_bytes: int = 0,
) -> None:
    """Refuse what would not boot, or boot into a host without memory. others_bytes is what pages of other sizes take."""
    require_fraction(fraction)
    if count < 0:
        raise HugepagesError(f"the number of pages is {count}; it must not be negative: correct hugepages_count")
    if count and not supported:
        raise HugepagesError(
            f"the CPU has no pages of {page_size}: /proc/cpuinfo lacks the flag {flag}; choose another hugepages_page_size or host"
        )
    size = PAGE_BYTES[page_size] * count
    if memory_bytes is not None and count > fitting(page_size, memory_bytes, fraction, others_bytes):
        others = f" and others take {others_bytes / 1024.0**3:.1f} GiB, together" if others_bytes else ","
        raise HugepagesError(
            f"{count} pages of {page_size} are {size / 1024.0**3:.1f} GiB{others} more than {fraction:.0%} of the host's "
            f"{memory_bytes / 1024.0**3:.1f} GiB: lower hugepages_count (or taco_gpus_per_node), "
            "or raise hugepages_max_memory_fraction"
        )


def drop_in_path(names: List[str]) -> str:
    """Return a path in /etc/default/grub.d that is sourced after every other one there."""
    others = [name for name in names if name.endswith(".cfg") and not name.endswith(DROP_IN_NAME)]
    name = DROP_IN_NAME
    while others and name <= max(others):
        if len(name) > MOST_LETTERS:
            raise HugepagesError(
                f"{DROP_INS}/{max(others)} is sourced after any name that could be chosen here; rename it"
            )
        name = "z" + name
    return f"{DROP_INS}/{name}"


def is_drop_in(path: str) -> bool:
    return path.startswith(DROP_INS + "/") and path.endswith(DROP_IN_NAME)


def marked(text: str) -> Optional[str]:
    """Return the line by which a file says that this collection changed it, None where it doesn't."""
    return next((line for line in text.splitlines() if line.startswith(NOTE.split("{", maxsplit=1)[0])), None)


def _with_note(text: str, folder: str) -> str:
    """Return a file's text with the line that says who changed it, or without it where the folder is empty."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [line for line in text.splitlines(True) if not marked(line)]
    if folder:
        gap = "" if not lines or lines[-1].endswith("\n") else newline
        lines += [gap + NOTE.format(folder=folder) + newline]
    return "".join(lines)


def kernel_line(files: Dict[str, str]) -> List[str]:
    """Return the arguments that grub-mkconfig puts on a normal entry from the files, in the order of sourcing."""
    values = evaluate([files[path] for path in source_order(files)], KEYS)
    return " ".join(values[key] for key in KEYS).split()


def sourced(files: Dict[str, str]) -> Dict[str, str]:
    """Return those of some files that grub-mkconfig sources."""
    return {path: text for path, text in files.items() if path == DEFAULTS or path.startswith(DROP_INS + "/")}


def source_order(files: Dict[str, str]) -> List[str]:
    """Return the files that grub-mkconfig sources, in its order: /etc/default/grub, then the drop-ins by name."""
    return sorted(sourced(files), key=lambda path: (path != DEFAULTS, path))


def stripped(text: str, page_size: str, keep_others: bool = True) -> str:
    """Return a file's text whose assignments of the kernel line say nothing of one page size, or of any, any more."""
    for index in range(len(assignments(text))):
        found = assignments(text)[index]
        if found.key in KEYS:
            text = replace_value(text, found, edit_words(found.raw, lambda words: edits(words, page_size, keep_others)))
    return text


def appended(text: str, arguments: List[str]) -> str:
    """Return a file's text whose GRUB_CMDLINE_LINUX ends with arguments; a missing key is added at the end."""
    mine = [found for found in assignments(text) if found.key == KEYS[0]]
    if mine:
        return replace_value(text, mine[-1], append_words(mine[-1].raw, arguments, mine[-1].operator))
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else newline
    # What other commands of the file give the variable, where this can't see it, must stay.
    return f'{text}{gap}{KEYS[0]}="${KEYS[0]} {" ".join(arguments)}"{newline}'


def _without_drop_ins(files: Dict[str, str]) -> Dict[str, str]:
    return {path: text for path, text in files.items() if not is_drop_in(path)}


def plan(
    layout: str,
    files: Dict[str, str],
    page_size: str,
    count: Optional[int],
    ours: List[str],
    keep_others: bool = True,
    state_dir: str = "",
) -> Plan:
    """Plan the files of a host; count None removes what was added.

    ours are the arguments that an earlier run added, as the history says. Removal takes those and nothing else.
    Without keep_others the pages of other sizes go, whoever reserved them. state_dir is where the history is.
    """
    before = kernel_line(files)
    after = _without_drop_ins(files)
    arguments = [] if count is None else wanted_tokens(page_size, count)
    if layout == "grub-d":
        if count is not None:
            after = {path: stripped(text, page_size, keep_others) for path, text in after.items()}
            names = [path.rsplit("/", 1)[1] for path in after if path.startswith(DROP_INS + "/")]
            after[drop_in_path(names)] = DROP_IN.format(arguments=" ".join(arguments))
    elif layout in ("grub-default", "bls"):
        text = after.get(DEFAULTS, "")
        if count is None:
            text = _with_note(_without_arguments(text, ours), "")
        elif _says_exactly(after, page_size, arguments, keep_others):
            pass
        else:
            text = _with_note(appended(stripped(text, page_size, keep_others), arguments), state_dir)
        after[DEFAULTS] = text
        if KERNEL_CMDLINE in after:
            after[KERNEL_CMDLINE] = _kernel_cmdline(after[KERNEL_CMDLINE], page_size, count, ours, keep_others)
    else:
        raise HugepagesError(f"a boot configuration of layout {layout} can't be planned by files")
    changed = {path: after.get(path) for path in set(files) | set(after) if files.get(path) != after.get(path)}
    if DEFAULTS in changed and not changed[DEFAULTS] and DEFAULTS not in files:
        del changed[DEFAULTS]
    line = kernel_line(after)
    kept = [
        f"hugepagesz={found.size} hugepages={found.number}" for found in reservations(line) if found.size != page_size
    ]
    if count is not None and keep_others:
        _refuse_another_meaning(before, line, page_size)
    return Plan(changed, before, line, kept, arguments)


def _refuse_another_meaning(before: List[str], after: List[str], page_size: str) -> None:
    """Refuse to part what belongs together: a size in one assignment and its count in another."""
    lines = (before, after)
    old, new = (sorted((one.size, one.number) for one in reservations(line) if one.size != page_size) for line in lines)
    twice = [len(sizes) - len(set(sizes)) for sizes in (_named_sizes(line) for line in lines)]
    if old != new or (twice[1] and not twice[0]):
        raise HugepagesError(
            "a page size and its count stand in different assignments of the kernel line, so neither can be changed alone: put "
            f"them side by side by hand. Now: {' '.join(before)}. It would become: {' '.join(after)}"
        )


def _named_sizes(line: List[str]) -> List[str]:
    return [canonical_size(token.split("=", 1)[1]) for token in line if token.startswith("hugepagesz=")]


def _kernel_cmdline(text: str, page_size: str, count: Optional[int], ours: List[str], keep_others: bool) -> str:
    """Return the text of /etc/kernel/cmdline, the line that new kernels get, with our arguments or without them."""
    tokens = text.split()
    if count is None:
        for index in _run_of(tokens, ours):
            tokens[index] = ""
        tokens = [token for token in tokens if token]
    elif not tokens:
        return text  # a line of ours alone would be one without a root
    elif not line_problems(tokens, page_size, count) and (keep_others or len(reservations(tokens)) == 1):
        return text
    else:
        tokens = with_pages(tokens, page_size, count, keep_others)
    if tokens == text.split():
        return text
    return " ".join(tokens) + ("\n" if text.endswith("\n") or not text else "")


def _run_of(words: List[str], ours: List[str]) -> List[int]:
    """Return where the run of arguments that was added stands, empty where it doesn't."""
    for index in range(len(words) if ours else 0):
        if words[index : index + len(ours)] == ours:
            return list(range(index, index + len(ours)))
    return []


def _says_exactly(files: Dict[str, str], page_size: str, arguments: List[str], keep_others: bool) -> bool:
    """Say whether GRUB_CMDLINE_LINUX alone holds the arguments, once and next to each other."""
    text = files.get(DEFAULTS, "")
    values = evaluate([text], KEYS)
    tokens = values[KEYS[0]].split()
    size = len(arguments)
    places = [index for index in range(len(tokens)) if tokens[index : index + size] == arguments]
    rest = tokens[: places[0]] + tokens[places[0] + size :] if len(places) == 1 else []
    untouched = len(places) == 1 and not edits(rest + values[KEYS[1]].split(), page_size, keep_others)
    return untouched


def _without_arguments(text: str, ours: List[str]) -> str:
    """Return the text without the run of arguments that was added, wherever it stands in GRUB_CMDLINE_LINUX."""
    for index in range(len(assignments(text))):
        found = assignments(text)[index]
        if found.key == KEYS[0]:
            text = replace_value(text, found, edit_words(found.raw, lambda words: dict.fromkeys(_run_of(words, ours))))
    return text
