# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""See whether the pages that an earlier run reserved are in the boot configuration as that run left them. Writes nothing."""

import os
from typing import Any, Dict, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig
from ansible_collections.taco.train.plugins.module_utils._boot.decision import Decision, after_trial, decide
from ansible_collections.taco.train.plugins.module_utils._boot.guard import FOLDER, Guard
from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    PAGE_BYTES,
    KernelArgsError,
    KernelLine,
)
from ansible_collections.taco.train.plugins.module_utils._boot.layout import BootLayout, detect
from ansible_collections.taco.train.plugins.module_utils._boot.model import BootModel
from ansible_collections.taco.train.plugins.module_utils._boot.running import needs_reboot
from ansible_collections.taco.train.plugins.module_utils._boot.shell_assignments import ShError
from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.history import History, HistoryError

ERRORS = (HugepagesError, FoldersError, HistoryError, KernelArgsError, ShError, FileError, OSError)


def kept(root: str, state_dir: str) -> Tuple[History, Guard]:
    """The history and the guard in the state folder of a host; the guard keeps copies during a change."""
    folder = os.path.join(root, state_dir.lstrip("/"))
    return History(os.path.join(folder, "hugepages"), root), Guard(os.path.join(folder, FOLDER), root)


def answer(
    layout: BootLayout, page_size: str, model: BootModel, line: KernelLine, decision: Decision, reboot_required: bool
) -> Dict[str, Any]:
    """What the module returns of a decision, beside what it changed. line is the kernel line that is to be permanent."""
    return {
        "reboot_required": reboot_required,
        "layout": layout.layout,
        "page_size": page_size,
        "count": line.count(page_size) or 0,
        "said": line.counts(page_size),
        "kernel_args": {"before": model.line.tokens, "after": decision.line.tokens},
        "kept": decision.kept,
        "trial": decision.trial,
    }


def converged(root: str, state_dir: str) -> Optional[Dict[str, Any]]:
    """Return what the module answers when asked once more for the pages that it reserved; None when it would change anything."""
    try:
        return _converged(root, state_dir)
    except ERRORS:
        # Whoever asks for pages is told why by the module.
        return None


def _converged(root: str, state_dir: str) -> Optional[Dict[str, Any]]:
    layout = detect(root)
    if layout.layout == "unknown":
        return None
    config = BootConfig(root, layout, _no_command)
    history, guard = kept(root, state_dir)
    if guard.unfinished():
        return None
    model = config.read()
    ours = KernelLine(history.arguments_in(model.line.tokens)).reservations
    if len(ours) != 1 or ours[0].size not in PAGE_BYTES or not ours[0].number.isdecimal():
        return None
    page_size, count = ours[0].size, int(ours[0].number)
    asked = dict(page_size=page_size, max_memory_fraction=1.0, keep_other_sizes=True, regenerate=True)
    asked["state_dir"] = state_dir
    decision = after_trial(config, model, decide(config, history, asked, model, count))
    if decision.changed:
        return None
    reboot_required = needs_reboot(config, page_size, decision.line)
    return dict(answer(layout, page_size, model, decision.line, decision, reboot_required), state_dir=state_dir)


def _no_command(*_command: Any, **_options: Any) -> Tuple[int, str, str]:
    raise HugepagesError("to see whether anything is to be done runs nothing")
