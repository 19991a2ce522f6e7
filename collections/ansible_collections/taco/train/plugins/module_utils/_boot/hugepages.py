# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan what the files of a boot configuration must say so that the kernel reserves hugepages. Texts in, texts out."""

import re
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    PREFIXES,
    KernelLine,
    Number,
    run_of,
    wanted_tokens,
    without_run,
)
from ansible_collections.taco.train.plugins.module_utils._boot.layout import DEFAULTS, DROP_INS, KERNEL_CMDLINE
from ansible_collections.taco.train.plugins.module_utils._boot.model import (
    KEYS,
    BootModel,
    given_number,
    parse,
    unreached,
)
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.shell_assignments import (
    Assignment,
    ShError,
    append_words,
    edit_words,
    evaluate,
    render,
    words,
)

PAGES = re.compile(r"(?<![A-Za-z0-9_.])(?:default_hugepagesz|hugepagesz|hugepages)=")
MOST_LETTERS = 200  # of a file's name
DROP_IN_NAME = "zz-taco-hugepages.cfg"
DROP_IN = """\
# Written by the module taco.train.hugepages. Its state "absent" removes this file, "restored" also undoes its other edits.
GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {arguments}"
"""
# Where there are no drop-ins, this tells that the arguments are of this collection, and where the history is.
NOTE = "# The module taco.train.hugepages added its arguments above. What was here before: {folder}/journal.json"
Edits = Callable[[List[str]], Dict[int, Optional[str]]]


class Plan(NamedTuple):
    """What the files should hold; a path that maps to None should not exist."""

    files: Dict[str, Optional[str]]
    line: KernelLine  # what the files give then, without arguments that only boot time adds
    arguments: List[str]  # ours


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


def _appended(text: str, found: List[Assignment], arguments: List[str]) -> str:
    """A file's text with its assignments, GRUB_CMDLINE_LINUX ending with arguments; a missing key is added at the end."""
    places = [index for index, one in enumerate(found) if one.key == KEYS[0]]
    # Another command behind it, such as one that reads a file, may give the variable another value.
    if places and found[places[-1]].certain and all(one.key for one in found[places[-1] :]):
        last = found[places[-1]]
        longer = last._replace(raw=append_words(last.raw, arguments, last.operator))
        return render(text, found[: places[-1]] + [longer] + found[places[-1] + 1 :])
    text = render(text, found)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else newline
    # What other commands of the file give the variable, where this can't see it, must stay.
    return f'{text}{gap}{KEYS[0]}="${KEYS[0]} {" ".join(arguments)}"{newline}'


def _edited(model: BootModel, path: str, keys: Sequence[str], change: Edits) -> List[Assignment]:
    """The assignments of a file, with the words of some keys changed."""
    edited = []
    for one in model.assignments.get(path, []):
        try:
            edited.append(one._replace(raw=edit_words(one.raw, change)) if one.key in keys else one)
        except ShError as error:
            raise ShError(f"{_place(model, path, one)}: {error}") from error
    return edited


def _place(model: BootModel, path: str, one: Assignment) -> str:
    return f"{path}, line {model.files[path].count(chr(10), 0, one.start) + 1}"


def _refuse_unfollowed(model: BootModel) -> None:
    """Refuse files in which the shell may reach pages on ways that are not followed here, or not at all."""
    for path, found in sorted(model.assignments.items()):
        for one in found:
            pages = len(PAGES.findall(one.raw))
            known = (
                [word for word in words(one.raw) if word.startswith(PREFIXES) and "}" not in word]
                if one.key in KEYS and one.certain
                else []
            )
            if pages != len(known):
                raise HugepagesError(
                    f"{_place(model, path, one)}: hugepage arguments stand where only a shell can tell whether they get onto the "
                    "kernel line (a condition, a function, a here-document, another variable, or glued to ${...}): write them with "
                    f'spaces around into a plain {KEYS[0]}="...", or take them out'
                )
        if "--" in evaluate(found, KEYS)[KEYS[0]].split():
            raise HugepagesError(
                f"{path}: {KEYS[0]} holds --, and what follows it goes to the first program instead of the kernel: move -- and what "
                f"follows it to {KEYS[1]}, which GRUB puts behind"
            )


def _refuse_unreached(planned: BootModel) -> None:
    """Refuse files that a shell may leave before it comes to the pages."""
    ending = unreached(planned, PAGES)
    if ending:
        raise HugepagesError(
            f"{_place(planned, *ending)}: {ending[1].ends} may end the reading before the line with the pages: take it out, or put what "
            f"follows it into a condition (if ...; then ...; fi), so that {KEYS[0]} at the end of the file counts"
        )


def _stripped(model: BootModel, path: str, page_size: str, keep_others: bool) -> List[Assignment]:
    """Return the assignments of a file without the pages that are replaced."""
    return _edited(model, path, KEYS, lambda words: KernelLine(words).edits(page_size, keep_others))


def _defaults(
    model: BootModel, page_size: str, number: Optional[Number], ours: List[str], keep_others: bool, state_dir: str
) -> str:
    """Return /etc/default/grub with the pages, and without those of an earlier run where number is None."""
    text = model.files.get(DEFAULTS, "")
    if number is None:
        found = _edited(model, DEFAULTS, KEYS[:1], lambda words: dict.fromkeys(run_of(words, ours)))
        return _with_note(render(text, found), "")
    arguments = wanted_tokens(page_size, number)
    if _says_exactly(model, page_size, arguments, keep_others):
        return text
    return _with_note(_appended(text, _stripped(model, DEFAULTS, page_size, keep_others), arguments), state_dir)


def _with_defaults(
    layout: str,
    model: BootModel,
    files: Mapping[str, str],
    page_size: str,
    number: Optional[Number],
    ours: List[str],
    keep_others: bool,
    state_dir: str,
) -> Dict[str, str]:
    """Return the files with /etc/default/grub and /etc/kernel/cmdline as they have to be."""
    after = dict(files)
    if KERNEL_CMDLINE in after:
        after[KERNEL_CMDLINE] = _kernel_cmdline(after[KERNEL_CMDLINE], page_size, number, ours, keep_others)
    if layout == "bls" and number is not None and not model.assignments.get(DEFAULTS):
        # Nothing is generated from it, so it only tells where the history of the entries is.
        lines = [entry.line for entry in model.entries]
        right = all(line.corrected(page_size, number, keep_others) == line.tokens for line in lines)
        text = after.get(DEFAULTS, "")
        text = text if right and after == model.files else _with_note(text, state_dir)
    else:
        text = _defaults(model, page_size, number, ours, keep_others, state_dir)
    if text or not model.files.get(DEFAULTS):
        return {**after, DEFAULTS: text}
    # It held nothing but ours.
    return {path: content for path, content in after.items() if path != DEFAULTS}


def plan(
    layout: str,
    model: BootModel,
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
    files = model.files
    if count is not None:
        _refuse_unfollowed(model)
    after = {path: text for path, text in files.items() if not is_drop_in(path)}
    number = None if count is None else given_number(model, page_size, count)
    arguments = [] if number is None else wanted_tokens(page_size, number)
    if layout == "grub-d":
        if count is not None:
            after = {path: render(text, _stripped(model, path, page_size, keep_others)) for path, text in after.items()}
            names = [path.rsplit("/", 1)[1] for path in after if path.startswith(DROP_INS + "/")]
            after[drop_in_path(names)] = DROP_IN.format(arguments=" ".join(arguments))
    elif layout in ("grub-default", "bls"):
        after = _with_defaults(layout, model, after, page_size, number, ours, keep_others, state_dir)
    else:
        raise HugepagesError(f"a boot configuration of layout {layout} can't be planned by files")
    changed = {path: after.get(path) for path in set(files) | set(after) if files.get(path) != after.get(path)}
    if DEFAULTS in changed and not changed[DEFAULTS] and DEFAULTS not in files:
        del changed[DEFAULTS]
    planned = parse(after)
    if count is not None:
        _refuse_unreached(planned)
    if count is not None and keep_others:
        _refuse_another_meaning(model.sourced, planned.sourced, page_size)
    return Plan(changed, planned.sourced, arguments)


def _refuse_another_meaning(before: KernelLine, after: KernelLine, page_size: str) -> None:
    """Refuse to part what belongs together: a size in one assignment and its count in another."""
    lines = (before, after)
    old, new = (sorted((one.size, one.number) for one in line.others(page_size)) for line in lines)
    twice = [len(line.sizes) - len(set(line.sizes.values())) for line in lines]
    if old != new or (twice[1] and not twice[0]):
        raise HugepagesError(
            "a page size and its count stand in different assignments of the kernel line, so neither can be changed alone: put "
            f"them side by side by hand. Now: {' '.join(before.tokens)}. It would become: {' '.join(after.tokens)}"
        )


def _kernel_cmdline(text: str, page_size: str, count: Optional[Number], ours: List[str], keep_others: bool) -> str:
    """Return the text of /etc/kernel/cmdline, the line that new kernels get, with our arguments or without them."""
    before = after = text.split()
    if count is None:
        after = without_run(before, ours)
    elif before:  # a line of ours alone would be one without a root
        after = KernelLine(before).corrected(page_size, count, keep_others)
    return text if after == before else " ".join(after) + ("\n" if text.endswith("\n") else "")


def _says_exactly(model: BootModel, page_size: str, arguments: List[str], keep_others: bool) -> bool:
    """Say whether GRUB_CMDLINE_LINUX alone holds the arguments, once and next to each other."""
    own = evaluate(model.assignments.get(DEFAULTS, []), KEYS)[KEYS[0]].split()
    rest = KernelLine(without_run(model.sourced.tokens, arguments))
    return bool(run_of(own, arguments)) and not rest.edits(page_size, keep_others)
