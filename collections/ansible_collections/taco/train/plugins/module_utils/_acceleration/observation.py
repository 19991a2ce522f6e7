# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe what the runs of arms need in a worker. Runs in the worker and changes nothing."""

import hashlib
import json
import os
import shutil
import sys
from typing import Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_prefix import (
    BUILD_FILE,
    FRAMEWORKS,
    HOROVODS,
    LOG,
    OWN_NAME,
    UNFINISHED,
    parse_info,
)
from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes
from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import find_renamed, undo_command

# Version 1.0 renamed the plugin, and kept this file until it had its first name again.
OLD_RECORD = "acceleration.json"


def sha256_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1024 * 1024), b""):
            digest.update(part)
    return digest.hexdigest()


def find_packages() -> Dict[str, str]:
    """Return {name: version} of what matters here and Python would import; the first on its path counts."""
    wanted = HOROVODS + FRAMEWORKS + ("pip",)
    found = {}  # type: Dict[str, str]
    for folder in sys.path:
        for entry in os.listdir(folder) if os.path.isdir(folder) else []:
            info = parse_info(entry)
            if info and info[0] in wanted:
                found.setdefault(info[0], info[1])
    return found


def own_builds(folder: str) -> List[str]:
    """Return everything in the folder that builds have made, with logs and what an interrupted build left."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if OWN_NAME.fullmatch(name)]


def text_of(path: str) -> Optional[str]:
    data = read_bytes(path)
    return None if data is None else data.decode("utf-8", "replace")


def find_builds(folder: str) -> Dict[str, Optional[str]]:
    """Return the completed builds, each with its description."""
    named = [path for path in own_builds(folder) if not path.endswith((UNFINISHED, LOG))]
    texts = {path: text_of(os.path.join(path, BUILD_FILE)) for path in named}
    return {path: text for path, text in texts.items() if text is not None}


def find_plugin(path: str) -> Dict[str, Optional[str]]:
    """Return the state of NCCL's network plugin, its path, and why NCCL does not load it."""
    if os.path.isfile(path):
        return {"state": "present", "path": path, "problem": None}
    renamed = find_renamed(path)
    if renamed:
        command = undo_command(renamed, path)
        problem = f"NCCL's plugin was renamed to {renamed}, where NCCL does not find it: run `{command}` in the worker"
        return {"state": "renamed", "path": renamed, "problem": problem}
    problem = f"there is no {path}, which is HARP's plugin for NCCL: use an image with HARP, or set plugin_path (benchmark_plugin_path)"
    return {"state": "missing", "path": None, "problem": problem}


def old_record_text(state_dir: str) -> Optional[str]:
    """Return the advice about a plugin that version 1.1 renamed and did not restore, None without one."""
    path = os.path.join(state_dir, OLD_RECORD)
    text = text_of(path)
    if text is None:
        return None
    try:
        known = json.loads(text)
        first, other = str(known["first"]), str(known["other"])
    except (ValueError, KeyError, TypeError):
        return f"an earlier version wrote {path}, which can't be read: check the name of NCCL's plugin, then remove the file"
    moved = os.path.lexists(other) and not os.path.lexists(first)
    command = (undo_command(other, first) + " && " if moved else "") + "rm " + path
    return f"an interrupted run of an earlier version renamed NCCL's plugin {first}: run `{command}` in the worker"


def find_required(name: str) -> Dict[str, Optional[str]]:
    """Return where a file, a folder or a program is, by its path or by PATH, and the checksum of a file given by its path."""
    path = name if "/" in name else shutil.which(name)
    if path is None or not os.path.exists(path):
        return {"path": None, "sha256": None}
    return {"path": path, "sha256": sha256_of(path) if "/" in name and os.path.isfile(path) else None}


def users_of(folders: List[str]) -> List[int]:
    """Return the processes that have one of the folders in their environment, as the ranks of an arm have."""
    wanted = [os.fsencode(folder) for folder in folders]
    found = []
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdecimal()):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue  # it has ended
        if any(folder in environment for folder in wanted):
            found.append(pid)
    return found
