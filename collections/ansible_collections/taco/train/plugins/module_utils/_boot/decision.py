# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what the boot configuration must say, from what it says and what is asked for. Reads, and writes nothing."""

import difflib
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._boot import trial as boot_trial
from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig, Changes, decode
from ansible_collections.taco.train.plugins.module_utils._boot.contradictions import contradicting, in_words, remedy
from ansible_collections.taco.train.plugins.module_utils._boot.entries import (
    Entry,
    entry_problems,
    grubenv,
    is_stale,
    with_variable,
)
from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import is_drop_in, marked, plan
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    PAGE_BYTES,
    PREFIXES,
    KernelLine,
    pages_of,
    without_run,
)
from ansible_collections.taco.train.plugins.module_utils._boot.layout import DEFAULTS, ENTRIES
from ansible_collections.taco.train.plugins.module_utils._boot.model import parse
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import (
    HugepagesError,
    page_support,
    pages_for,
    require_fit,
)
from ansible_collections.taco.train.plugins.module_utils._boot.other_settings import other_settings
from ansible_collections.taco.train.plugins.module_utils._boot.snippets import (
    VARIABLE,
    with_hugepages,
    without_hugepages,
)
from ansible_collections.taco.train.plugins.module_utils._files.journal import Journal, JournalError
from ansible_collections.taco.train.plugins.module_utils._node.meminfo import cpu, memory

Params = Dict[str, Any]  # the options of the module hugepages
MOST_BYTES = 2047  # of a kernel line: COMMAND_LINE_SIZE of x86-64 and arm64 without the closing zero


class Decision(NamedTuple):
    """What is to be done, before anything of it is."""

    changes: Changes
    arguments: List[str]  # ours
    kept: List[str]  # reservations of other sizes
    line: KernelLine  # what the files give then
    changed: bool
    generate: bool = False
    trial: bool = False


def wanted_count(config: BootConfig, params: Params) -> Optional[int]:
    """Return the number of pages asked for, None when none shall be there; refuse what would not boot."""
    if params["state"] != "present":
        return None
    page_size, gpus = params["page_size"], params["gpus"]
    count = pages_for(gpus, page_size) if gpus is not None else params["count"]
    _require_room(config, params, count)
    return count


def _require_room(config: BootConfig, params: Params, count: int, line: Optional[KernelLine] = None) -> None:
    """Refuse pages that leave the host too little memory beside those of other sizes that a kernel line reserves."""
    page_size = params["page_size"]
    supported, flag = page_support(cpu(config.text("/proc/cpuinfo")), page_size)
    total = memory(config.text("/proc/meminfo"))["total_bytes"]
    others = [found for found in line.others(page_size) if found.size in PAGE_BYTES] if line else []
    taken = sum(PAGE_BYTES[found.size] * (pages_of(found.number) or 0) for found in others)
    require_fit(page_size, count, total, params["max_memory_fraction"], supported, flag, taken)


def _require_short(config: BootConfig, params: Params, count: int) -> None:
    """Refuse a kernel line of which the kernel would cut off the end."""
    booted = [word for word in config.text("/proc/cmdline").split() if word.startswith("BOOT_IMAGE=")]
    for entry in config.before.entries:
        tokens = entry.line.corrected(params["page_size"], count, params["keep_other_sizes"])
        image = max([f"BOOT_IMAGE={entry.kernel}"] + booted, key=len)
        size = len(" ".join([image] + tokens).encode("utf-8", "surrogateescape"))
        if size > MOST_BYTES:
            raise HugepagesError(
                f"the kernel line of entry {entry.name!r} would have {size} bytes, and the kernel reads only the first {MOST_BYTES}: "
                "take arguments out of it, or merge them (a range as in isolcpus=2-255 is shorter than a list); nothing was written"
            )


def _entries_after(config: BootConfig, changes: Changes) -> List[Entry]:
    """Return the entries that changes of snippets and environment give."""
    snippets = config.before.snippets
    texts = {path: changes.get(path) or text for path, text in snippets.texts.items()}
    environment = changes.get(snippets.environment_path) or snippets.environment
    return config.entries(snippets._replace(texts=texts, environment=environment))


def _line_of_entries(config: BootConfig, changes: Changes, line: KernelLine) -> KernelLine:
    """Return the line that boots after changes: that of the entries where they are edited here, else the one of the files."""
    before = config.before
    if config.layout.command or not before.entries:
        return line
    names = [entry.name for entry in before.entries if entry.line.tokens == before.line.tokens]
    after = {entry.name: entry.line for entry in _entries_after(config, changes)}
    return after.get(names[0], line) if names else line


def _require_right(config: BootConfig, changes: Changes, page_size: str, count: int) -> None:
    """Refuse changes after which an entry that is edited here would not reserve the pages once."""
    problems = entry_problems(_entries_after(config, changes), page_size, count)
    if problems:
        raise HugepagesError(
            f"{ENTRIES} would come out wrong: {'; '.join(problems)}. Look at the options of these entries and the variables of "
            f"{config.before.snippets.environment_path} and {config.layout.config} that they name; nothing was written"
        )


def _refuse_another_size(ours: Sequence[str], page_size: str) -> None:
    """Refuse a second size beside the one that an earlier run reserved: nobody would give those pages back."""
    others = KernelLine(ours).others(page_size)
    if others:
        raise HugepagesError(
            f"an earlier run reserved {others[0].number} pages of {others[0].size} here and now {page_size} is asked for "
            "(hugepages_page_size): take those back first, with hugepages_state: absent, or with restored, which also undoes "
            "what else was changed"
        )


def _refuse_without_history(config: BootConfig, history: Journal) -> None:
    """Refuse to change or restore what an earlier run wrote when its history is elsewhere or gone."""
    files = config.before.files
    found = [path for path in files if is_drop_in(path)]
    found += [f"{path} ({line})" for path, text in files.items() for line in [marked(text)] if line]
    found = sorted([*found, *boot_trial.end(config)])
    if not found or not history.empty():
        return
    foreign = [path for path in found if is_drop_in(path) and "taco.train" not in files[path]]
    if foreign:
        raise HugepagesError(
            f"{foreign[0]} has the name of this collection's file and no line of it, so it stays: move it away, or rm {foreign[0]}, and "
            "run this again"
        )
    command = " ".join(config.layout.command)
    removal = " and ".join(
        f"rm {path}" if is_drop_in(path) else f"remove this collection's lines from {path}" for path in found
    )
    edit = (
        " and GRUB_CMDLINE_LINUX's default_hugepagesz, hugepagesz and hugepages" if DEFAULTS in " ".join(found) else ""
    )
    more = f", then run {command}" if command else ", also the arguments in every entry below /boot/loader/entries"
    raise HugepagesError(
        f"{', '.join(found)} is from an earlier run, and {history.folder} does not say what was there before: set "
        f"taco_state_dir (state_dir) to the folder of that run; or, if it is lost, {removal}{edit}{more}, and run this again"
    )


def _originals(config: BootConfig, history: Journal, params: Params) -> Changes:
    """Return the changes that restore what was there before the first one; refuse when somebody edited since."""
    changes, edited = {}, []  # type: Changes, List[str]
    for path in history.paths():
        original = decode(history.original(path) or b"")
        if path in config.outputs() and (
            history.edited(path) or not params["regenerate"] or history.arguments_in(original.split())
        ):
            continue  # others, or 1.0, which kept no copy, generated it since, so it is generated once more
        if history.edited(path) and history.entry(path)["generated"]:
            continue  # a new kernel or a boot changed it, and it loses our arguments only
        if history.edited(path):
            lines = original.splitlines(), config.text(path).splitlines()
            edited += difflib.unified_diff(*lines, path + " before the first change", path + " now", lineterm="")
        changes[path] = None if history.original(path) is None else original
    if edited and not params["force"]:
        raise JournalError(
            "somebody edited what was changed here, and restoring it would undo that too; look at the difference and set "
            "hugepages_force: true (force) to restore it all the same:\n" + "\n".join(edited)
        )
    return changes


def _environment_restored(config: BootConfig, history: Journal) -> Changes:
    """Return GRUB's environment with its variables of ours as before; the others change at every boot."""
    path, now = config.before.snippets.environment_path, config.before.snippets.environment
    if path not in history.paths():
        return {}
    after, original = now, decode(history.original(path) or b"")
    words, old = (grubenv(text).get(VARIABLE, "").split() for text in (now, original))
    if history.arguments_in(words):
        # With what others added since; without that also what was there of other pages.
        others = [[word for word in line if not word.startswith(PREFIXES)] for line in (words, old)]
        kept = " ".join(old if others[0] == others[1] else without_run(words, history.arguments_in(words)))
        after = with_variable(after, VARIABLE, kept if kept or VARIABLE in grubenv(original) else None)
    after = boot_trial.end(config, after).get(path) or after
    return {path: after} if after != now else {}


def decide_restored(config: BootConfig, history: Journal, params: Params) -> Decision:
    """Decide to restore what was there before the first change; on a host that was never changed, nothing."""
    _refuse_without_history(config, history)
    files = config.before.files
    changes = without_hugepages(config.before.snippets, history.arguments_in)
    changes.update(_environment_restored(config, history))
    changes.update(_originals(config, history, params))
    after = parse({path: content for path, content in dict(files, **changes).items() if content is not None})
    line = _line_of_entries(config, changes, after.line)
    sources = any(config.is_source(path) and files.get(path) != text for path, text in changes.items())
    whole = any(path in changes for path in config.outputs())
    generate = params["regenerate"] and not whole and (sources or _holds(config, history))
    return Decision(changes, [], [], line, bool(history.paths()) or bool(changes) or generate, generate)


def _holds(config: BootConfig, history: Journal) -> bool:
    """Return whether any entry holds arguments of ours."""
    return any(history.arguments_in(entry.line.tokens) for entry in config.before.entries)


def _refuse_other_settings(config: BootConfig, page_size: str, count: int) -> None:
    """Refuse pages beside a setting of others that changes their number after each boot, or what /dev/hugepages shows."""
    found = contradicting(other_settings(config.root), page_size, count)
    if found:
        raise HugepagesError(
            f"{in_words(found)}. After each boot that contradicts the {count} pages of {page_size}, which is the default size then: "
            f"{remedy(found, page_size, count)}; nothing was written"
        )


def _number(arguments: Sequence[str], page_size: str) -> str:
    """Return the number of pages in our arguments, of the whole host or for each NUMA node."""
    return KernelLine(arguments).counts(page_size)[0]


def decide(config: BootConfig, history: Journal, params: Params, count: Optional[int]) -> Decision:
    """Decide what the files must say; count None removes what an earlier run added, and nothing where none did."""
    model, page_size, keep_others = config.before, params["page_size"], params["keep_other_sizes"]
    ours = history.arguments_in(model.sourced.tokens) or history.arguments_in(model.line.tokens)
    if count is None:
        _refuse_without_history(config, history)
        if history.empty():
            return Decision({}, [], [], model.line, False)
    else:
        _refuse_another_size(ours, page_size)
        _refuse_other_settings(config, page_size, count)
        _require_short(config, params, count)
    planned = plan(config.layout.layout, model, page_size, count, ours, keep_others, params["state_dir"])
    # An earlier run may have ended between writing the files and generating the entries.
    stale = _holds(config, history) if count is None else is_stale(model.entries, planned.line, page_size)
    generate = params["regenerate"] and (any(map(config.is_source, planned.files)) or stale)
    changes = dict(planned.files)
    if not config.layout.command and params["regenerate"]:
        changes.update(
            without_hugepages(model.snippets, history.arguments_in)
            if count is None
            else with_hugepages(model.snippets, page_size, _number(planned.arguments, page_size), keep_others)
        )
        generate = bool(changes)
    if count is not None and (changes or generate):
        _refuse_without_history(config, history)
    line = _line_of_entries(config, changes, planned.line)
    if count is not None:
        _require_room(config, params, count, line)
        if not config.layout.command and params["regenerate"]:
            _require_right(config, changes, page_size, count)
    kept = [found.in_words() for found in line.others(page_size)]
    return Decision(changes, planned.arguments, kept, line, bool(changes) or generate, generate)


def with_trial(config: BootConfig, params: Params, decision: Decision) -> Decision:
    """Return the decision to boot the pages once instead."""
    number = _number(decision.arguments, params["page_size"])
    wanted = boot_trial.begin(config, params["page_size"], number, params["keep_other_sizes"])
    changes = {path: text for path, text in wanted.items() if config.text(path) != text}
    return Decision(changes, decision.arguments, [], config.before.line, bool(changes), trial=True)


def after_trial(config: BootConfig, decision: Decision) -> Decision:
    """Return the decision with what is left of a trial taken away."""
    left = boot_trial.end(config, decision.changes.get(config.before.snippets.environment_path))
    return decision._replace(changes=dict(decision.changes, **left), changed=decision.changed or bool(left))
