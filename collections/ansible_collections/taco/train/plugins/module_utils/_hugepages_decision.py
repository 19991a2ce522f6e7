# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Decide what the boot configuration must say, from what it says and what is asked for. Reads, and writes nothing."""

import difflib
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils import _boot_trial as boot_trial
from ansible_collections.taco.train.plugins.module_utils._boot_config import BootConfig, EntryEdit, decode
from ansible_collections.taco.train.plugins.module_utils._boot_entries import any_lacks, is_stale
from ansible_collections.taco.train.plugins.module_utils._file_history import History, HistoryError
from ansible_collections.taco.train.plugins.module_utils._hugepages import (
    HugepagesError,
    kernel_line,
    page_support,
    pages_for,
    plan,
    require_fit,
)
from ansible_collections.taco.train.plugins.module_utils._kernel_args import PAGE_BYTES, reservations, without
from ansible_collections.taco.train.plugins.module_utils._meminfo import cpu, memory

Files = Dict[str, str]  # path -> text
Params = Dict[str, Any]  # the options of the module hugepages


class Decision(NamedTuple):
    """What is to be done, before anything of it is."""

    changes: Dict[str, Optional[str]]  # path -> text, None for no file
    arguments: List[str]  # ours
    kept: List[str]  # reservations of other sizes
    line: List[str]  # the kernel arguments that the files give then
    changed: bool
    trial: bool = False


def wanted_count(config: BootConfig, params: Params) -> Optional[int]:
    """Return the number of pages asked for, None when none shall be there; refuse what would not boot."""
    if params["state"] != "present":
        return None
    page_size, gpus = params["page_size"], params["gpus"]
    count = pages_for(gpus, page_size) if gpus is not None else params["count"]
    _require_room(config, params, count)
    return count


def _require_room(config: BootConfig, params: Params, count: int, line: Sequence[str] = ()) -> None:
    """Refuse pages that leave the host too little memory beside those of other sizes that a kernel line reserves."""
    page_size = params["page_size"]
    supported, flag = page_support(cpu(config.text("/proc/cpuinfo")), page_size)
    total = memory(config.text("/proc/meminfo"))["total_bytes"]
    others = [found for found in reservations(line) if found.size in PAGE_BYTES and found.size != page_size]
    taken = sum(PAGE_BYTES[found.size] * int(found.number) for found in others if found.number.isdigit())
    require_fit(page_size, count, total, params["max_memory_fraction"], supported, flag, taken)


def _refuse_another_size(ours: Sequence[str], page_size: str) -> None:
    """Refuse a second size beside the one that an earlier run reserved: nobody would give those pages back."""
    others = [found for found in reservations(ours) if found.size != page_size]
    if others:
        raise HugepagesError(
            f"an earlier run reserved {others[0].number} pages of {others[0].size} here and now {page_size} is asked for "
            "(hugepages_page_size): take those back first, with hugepages_state: absent, or with restored, which also undoes "
            "what else was changed"
        )


def _originals(config: BootConfig, history: History, force: bool) -> Dict[str, Optional[str]]:
    """Return the changes that put back what was there before the first one; refuse when somebody edited since."""
    changes = {}  # type: Dict[str, Optional[str]]
    edited = []  # type: List[str]
    generated = history.generated()
    for path in history.paths():
        original = decode(history.original(path).content or b"")
        if history.edited(path) and path in generated:
            continue  # a new kernel or a boot changed it, and it loses our arguments only
        if history.edited(path):
            lines = original.splitlines(), config.text(path).splitlines()
            edited += difflib.unified_diff(*lines, path + " before the first change", path + " now", lineterm="")
        changes[path] = None if history.original(path).content is None else original
    if edited and not force:
        raise HistoryError(
            "somebody edited what was changed here, and putting it back would undo that too; look at the difference and set "
            "hugepages_force: true (force) to put it back all the same:\n" + "\n".join(edited)
        )
    return changes


def decide_restored(config: BootConfig, history: History, params: Params, files: Files) -> Decision:
    """Decide to put back what was there before the first change."""
    changes = _originals(config, history, params["force"])
    after = {path: content for path, content in dict(files, **changes).items() if content is not None}
    line = kernel_line(after)
    # On a host of snippets the history alone says what was changed in them.
    stale = config.layout.layout != "bls" and is_stale(config.entries(), line, params["page_size"])
    return Decision(changes, [], [], line, bool(history.paths()) or (params["regenerate"] and stale))


def decide(config: BootConfig, history: History, params: Params, files: Files, count: Optional[int]) -> Decision:
    """Decide what the files must say; count None takes back what an earlier run added."""
    ours = history.arguments_in(kernel_line(files))
    if count is not None:
        _refuse_another_size(ours, params["page_size"])
    planned = plan(config.layout.layout, files, params["page_size"], count, ours, params["keep_other_sizes"])
    if count is not None:
        _require_room(config, params, count, planned.after)
    # An earlier run may have ended between writing the files and generating the entries.
    entries = config.entries()
    if config.layout.layout != "bls":
        stale = is_stale(entries, planned.after, params["page_size"])
    elif count is not None:
        stale = any_lacks(entries, planned.after, params["page_size"])
    else:
        stale = any(history.arguments_in(entry.tokens) for entry in entries)
    changed = bool(planned.files) or (params["regenerate"] and stale)
    return Decision(planned.files, planned.arguments, planned.kept, planned.after, changed)


def _boot_files(config: BootConfig) -> Tuple[boot_trial.BootFiles, Dict[str, str]]:
    """Return what a trial boot is made from, and its two files by name."""
    layout = config.layout
    environment = layout.environment or ""  # none only where the layout is unknown, which was refused before
    paths = {"custom.cfg": boot_trial.custom_path(layout.config or environment), "grubenv": environment}
    files = boot_trial.BootFiles(
        config=config.text(layout.config),
        custom=config.text(paths["custom.cfg"]),
        environment=config.text(paths["grubenv"]),
        mounts=config.text("/proc/mounts"),
        folder=os.path.dirname(paths["custom.cfg"]),
        release=config.text("/proc/sys/kernel/osrelease").strip(),
        snippets={path: config.text(path) for path in config.snippets()} if layout.layout == "bls" else {},
    )
    return files, paths


def with_trial(config: BootConfig, params: Params, decision: Decision, count: int, before: List[str]) -> Decision:
    """Return the decision to boot the pages once instead."""
    files, paths = _boot_files(config)
    wanted = boot_trial.begin(files, params["page_size"], count, params["keep_other_sizes"])
    changes = {paths[name]: content for name, content in wanted.items() if config.text(paths[name]) != content}
    return Decision(changes, decision.arguments, [], before, bool(changes), trial=True)


def after_trial(config: BootConfig, decision: Decision) -> Decision:
    """Return the decision with what is left of a trial taken away."""
    files, paths = _boot_files(config)
    left = {paths[name]: content for name, content in boot_trial.end(files).items()}
    return decision._replace(changes=dict(decision.changes, **left), changed=decision.changed or bool(left))


def edit_of(config: BootConfig, params: Params, arguments: List[str], ours: List[str]) -> EntryEdit:
    """Return what a tool that edits entries must be told; reservations of other sizes are told anew, or it merges them."""
    if params["state"] != "present":
        return EntryEdit(ours, [])
    page_size, entries = params["page_size"], config.entries() if params["keep_other_sizes"] else []
    others = reservations(without(entries[0].tokens, page_size)) if entries else []
    kept = [token for found in others for token in (f"hugepagesz={found.size}", f"hugepages={found.number}")]
    return EntryEdit([], kept + arguments)
