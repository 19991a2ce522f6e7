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
            plain = words(one.raw) if one.key in KEYS and one.certain else []
            known = [word for word in plain if word.startswith(PREFIXES) and "}" not in word]
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


class _Edits(NamedTuple):
    """The edits of one plan. Without a number they remove what an earlier run added."""

    model: BootModel
    page_size: str
    number: Optional[Number]
    ours: List[str]
    keep_others: bool

    def of_line(self, text: str) -> str:
        """Return the text of a whole kernel line. One of ours alone would be one without a root."""
        before = text.split()
        if self.number is None or not before:
            after = without_run(before, self.ours)
        else:
            after = KernelLine(before).corrected(self.page_size, self.number, self.keep_others)
        return text if after == before else " ".join(after) + ("\n" if text.endswith("\n") else "")

    def stripped(self, path: str) -> List[Assignment]:
        """Return the assignments of a file without the pages that are replaced."""
        return _edited(self.model, path, KEYS, lambda words: KernelLine(words).edits(self.page_size, self.keep_others))

    def defaults(self, is_source: bool, right: bool, state_dir: str) -> str:
        """Return /etc/default/grub. Where it is no source of entries, it tells where their history is, once one is not right."""
        text = self.model.files.get(DEFAULTS, "")
        if self.number is None:
            found = _edited(self.model, DEFAULTS, KEYS[:1], lambda words: dict.fromkeys(run_of(words, self.ours)))
            return _with_note(render(text, found), "")
        if not is_source:
            return text if right else _with_note(text, state_dir)
        arguments = wanted_tokens(self.page_size, self.number)
        if self._says_exactly(arguments):
            return text
        return _with_note(_appended(text, self.stripped(DEFAULTS), arguments), state_dir)

    def _says_exactly(self, arguments: List[str]) -> bool:
        """Say whether GRUB_CMDLINE_LINUX alone holds the arguments, once and next to each other."""
        own = evaluate(self.model.assignments.get(DEFAULTS, []), KEYS)[KEYS[0]].split()
        rest = KernelLine(without_run(self.model.sourced.tokens, arguments))
        return bool(run_of(own, arguments)) and not rest.edits(self.page_size, self.keep_others)

    def with_defaults(self, layout: str, files: Mapping[str, str], state_dir: str) -> Dict[str, str]:
        """Return the files with /etc/default/grub and /etc/kernel/cmdline as they have to be."""
        after = {path: self.of_line(text) if path == KERNEL_CMDLINE else text for path, text in files.items()}
        lines = [" ".join(entry.line.tokens) for entry in self.model.entries]
        right = after == files and all(self.of_line(line) == line for line in lines)
        is_source = layout != "bls" or bool(self.model.assignments.get(DEFAULTS))
        text = self.defaults(is_source, right, state_dir)
        # It is missing, or held nothing but ours.
        without = {path: content for path, content in after.items() if path != DEFAULTS}
        return {**after, DEFAULTS: text} if text or self.model.files.get(DEFAULTS) == "" else without


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
    edits = _Edits(model, page_size, number, ours, keep_others)
    if layout == "grub-d":
        if count is not None:
            after = {path: render(text, edits.stripped(path)) for path, text in after.items()}
            names = [path.rsplit("/", 1)[1] for path in after if path.startswith(DROP_INS + "/")]
            after[drop_in_path(names)] = DROP_IN.format(arguments=" ".join(arguments))
    elif layout in ("grub-default", "bls"):
        after = edits.with_defaults(layout, after, state_dir)
    else:
        raise HugepagesError(f"a boot configuration of layout {layout} can't be planned by files")
    changed = {path: after.get(path) for path in set(files) | set(after) if files.get(path) != after.get(path)}
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
