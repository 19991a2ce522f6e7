# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring the boot configuration of one host to the state that the options of the module hugepages describe."""

import os
from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.change import (
    apply,
    recover,
    require_own_files,
    require_same,
    require_understood,
    restore,
)
from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig, diffs
from ansible_collections.taco.train.plugins.module_utils._boot.decision import (
    Decision,
    Params,
    after_trial,
    decide,
    decide_restored,
    wanted_count,
    with_trial,
)
from ansible_collections.taco.train.plugins.module_utils._boot.entries import INSTALLED, Entry, entry_problems
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PREFIXES, KernelLine
from ansible_collections.taco.train.plugins.module_utils._boot.layout import detect
from ansible_collections.taco.train.plugins.module_utils._boot.numa import node_memory
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError, small_nodes
from ansible_collections.taco.train.plugins.module_utils._boot.running import needs_reboot, pool_total, reserve_now
from ansible_collections.taco.train.plugins.module_utils._boot.shell_assignments import ShError
from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.journal import Journal
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure

LOCK_SECONDS = 5
ERRORS = (HugepagesError, FoldersError, ShError, FileError, OSError)


def _reason(params: Params, line: KernelLine, count: Optional[int]) -> str:
    """Return what the boot configuration reserves now, and what is required."""
    reserved = [token for token in line.tokens if token.startswith(PREFIXES)]
    found = f"the boot configuration has {' '.join(reserved) or 'no hugepages'}"
    if count is None:
        return f"{found}; state is {params['state']}"
    gpus = "" if params["gpus"] is None else f" for {params['gpus']} GPUs"
    return f"{found}; {count} pages of {params['page_size']} are required{gpus}"


def _boot_diff(config: BootConfig, decision: Decision) -> List[Dict[str, str]]:
    """Return Ansible's diff of the kernel line of the boot entries. The generated file itself is the generator's business."""
    before, after = config.before.line.tokens, decision.line.tokens
    for entry in config.before.entries[:1]:
        # What the generator adds to what the files say stays.
        own = [one for one in entry.line.tokens if one not in before and not one.startswith(PREFIXES + INSTALLED)]
        before, after = entry.line.tokens, own + after
    if not decision.generate or not config.layout.command or sorted(before) == sorted(after):
        return []
    header = f"{config.layout.config} (the kernel line of its entries, by {' '.join(config.layout.command)})"
    lines = [" ".join(tokens) + "\n" for tokens in (before, after)]
    return [dict(before_header=header, after_header=header, before=lines[0], after=lines[1])]


def _write(config: BootConfig, journal: Journal, params: Params, decision: Decision, compared: bool) -> None:
    """Apply the decision, unless another process changed the files on which it is based."""
    page_size = params["page_size"]
    count = KernelLine(decision.arguments).count(page_size)
    with journal.folders.locked(LOCK_SECONDS) as config.lock:
        journal.folders.record(os.path.dirname(path) for path in decision.changes)
        if config.changed_since() or journal.unfinished():
            raise HugepagesError(
                "another run changed the boot configuration while this one looked at it; run this again"
            )
        if params["state"] == "restored":
            restore(config, journal, decision.changes, decision.generate, compared)
            return

        def problems_of(entries: List[Entry]) -> List[str]:
            # What others reserve is theirs; without a count of ours only the absence of ours could be read back.
            checked = count is not None or not decision.line.counts(page_size)
            return entry_problems(entries, page_size, count) if checked else []

        apply(config, journal, decision.changes, decision.arguments, decision.generate, problems_of, compared)


def _recover(module: Any, journal: Journal) -> List[str]:
    """Restore the files that an interrupted run changed, and return their paths. Check mode only names them."""
    if not module.check_mode:
        journal.folders.clear_unfinished()
    if not journal.unfinished():
        return []
    with journal.folders.locked(LOCK_SECONDS, needed=not module.check_mode):
        differing = sorted(journal.pending())
        if not module.check_mode and journal.unfinished():
            recover(module.params["sysroot"], journal)
    if module.check_mode:
        module.warn(
            f"an earlier run was cut off and left {', '.join(differing) or 'no file'} changed; without check mode they are restored "
            "first, so what is predicted here may differ"
        )
    return differing


def _warn_of_small_nodes(module: Any, decision: Decision) -> None:
    """Name the NUMA nodes that can't give their share of the pages, which the kernel then takes from the other nodes."""
    page_size, nodes = module.params["page_size"], node_memory(module.params["sysroot"])
    for number in KernelLine(decision.arguments).counts(page_size):
        small = small_nodes(nodes, page_size, number, module.params["max_memory_fraction"])
        if small:
            module.warn(
                f"{'; '.join(small)}: other nodes have to give more, or pages will be missing. Lower hugepages_count, or give the number "
                "of each node on the kernel line yourself (hugepages=0:PAGES,1:PAGES, kernel 5.16 and newer), which stays if it adds up"
            )


def _require_changeable(config: BootConfig, params: Params, journal: Journal) -> None:
    """Raise why the options can't be applied to the boot configuration."""
    layout = config.layout
    # To restore files needs no layout, and on a host that was never changed nothing is removed.
    needed = params["state"] == "present" or (params["state"] == "absent" and not journal.empty())
    if layout.layout == "unknown" and needed:
        raise HugepagesError(
            f"the boot configuration can't be changed safely: its layout is {layout.layout} ({layout.reason}); nothing was written. "
            "Change that, or reserve the pages yourself and leave out the role hugepages"
        )
    if params["trial"] and params["runtime"]:
        raise HugepagesError(
            "trial and runtime exclude each other: with the pages reserved now there is nothing to be booted for"
        )


def _compare(module: Any, config: BootConfig) -> bool:
    """Refuse to generate what would change more than the pages. False where that can't be seen without writing anything."""
    try:
        generated = config.regenerated(protected=True) if config.layout.command else None
    except (HugepagesError, OSError) as error:
        if module.check_mode:
            module.warn(
                f"{config.layout.config} is not compared with what {' '.join(config.layout.command)} makes of the files, because "
                f"that can't run here without writing beside it ({failure(error)}): without check mode they are compared first, and "
                "the module fails if they differ in more than the pages"
            )
        return False
    try:
        if generated is not None:
            require_same(config, generated)
            if module.params["state"] == "present":
                require_understood(config, generated)
    except HugepagesError as error:
        raise HugepagesError(f"{error}; nothing was written") from error
    return True


def run(module: Any) -> Dict[str, Any]:
    """Bring the boot configuration to the state of the module's options, and return the module's result."""
    params = module.params
    root, page_size = params["sysroot"], params["page_size"]
    journal = Journal("hugepages", CreatedFolders(params["state_dir"], root))
    restored = _recover(module, journal)
    config = BootConfig(root, detect(root), module.run_command)
    # A file that no shell can read may be why nothing was generated, and says so.
    before = config.before.line
    _require_changeable(config, params, journal)
    count = wanted_count(config, params)
    restoring = params["state"] == "restored"
    decision = decide_restored(config, journal, params) if restoring else decide(config, journal, params, count)
    _warn_of_small_nodes(module, decision)
    line = decision.line  # the one that is to be permanent
    reboot_required = needs_reboot(config, page_size, line)
    if count is not None and params["trial"] and decision.changed and reboot_required:
        decision = with_trial(config, params, decision)
    elif not restoring:
        decision = after_trial(config, decision)
    generated = config.written() if decision.generate else []
    require_own_files(config, [*decision.changes, *generated])
    compared = decision.generate and _compare(module, config)
    changed = decision.changed or bool(restored)
    diff = diffs(config, decision.changes) + _boot_diff(config, decision)
    if decision.changed and not module.check_mode:
        _write(config, journal, params, decision, compared)
    if params["runtime"] and count is not None:
        reboot_required = False
        if pool_total(root, page_size) != count:
            changed = True
            if not module.check_mode:
                reserve_now(root, page_size, count)
    return {
        "changed": changed,
        "reason": _reason(params, before, count),
        "reboot_required": reboot_required,
        "layout": config.layout.layout,
        "page_size": page_size,
        "count": line.count(page_size) or 0,
        "said": line.counts(page_size),
        "kernel_args": {"before": before.tokens, "after": decision.line.tokens},
        "kept": decision.kept,
        "trial": decision.trial,
        "files": sorted({*decision.changes, *restored, *generated[:1]}),
        "diff": diff,
    }
