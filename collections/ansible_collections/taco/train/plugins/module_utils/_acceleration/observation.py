# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Look at all that decides about a worker's acceleration. Runs in the worker and changes nothing."""

import hashlib
import os
import shutil
import stat
import sys
from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._acceleration.decision import root_layer
from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_prefix import (
    BUILD_FILE,
    FRAMEWORKS,
    HOROVODS,
    LOG,
    OWN_NAME,
    UNFINISHED,
    is_path,
    parse_info,
)
from ansible_collections.taco.train.plugins.module_utils._acceleration.nccl_plugin import renamed_paths
from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes
from ansible_collections.taco.train.plugins.module_utils._process.timed import run_timed

RECORD = "acceleration.json"
# Where dlopen looks without being told.
LIBRARY_FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
LDCONFIG_SECONDS = 30


def sha256_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1024 * 1024), b""):
            digest.update(part)
    return digest.hexdigest()


def look_at(path: str) -> Optional[Dict[str, Any]]:
    """Return what lstat says of a file, None when there is none."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    kind = "link" if stat.S_ISLNK(found.st_mode) else "file" if stat.S_ISREG(found.st_mode) else "other"
    return {
        "path": path,
        "kind": kind,
        "target": os.readlink(path) if kind == "link" else None,
        "loads": os.path.isfile(path),
        "size": found.st_size,
        "mode": stat.S_IMODE(found.st_mode),
        "uid": found.st_uid,
        "gid": found.st_gid,
        "mtime_ns": found.st_mtime_ns,
        "sha256": None,
    }


def find_files(path: str) -> List[Dict[str, Any]]:
    """Return the plugin, and all that it can be under another name, with checksums where there are several."""
    files = [file for file in map(look_at, [path] + renamed_paths(path)) if file is not None]
    for file in files if len(files) > 1 else []:
        if file["kind"] == "file":
            file["sha256"] = sha256_of(file["path"])
    return files


def find_elsewhere(path: str) -> List[str]:
    """Return other files of the plugin's name that dlopen would find when the plugin is off."""
    own, name = os.path.realpath(os.path.dirname(path)), os.path.basename(path)
    listed = run_timed(["ldconfig", "-p"], LDCONFIG_SECONDS).stdout.splitlines()
    cached = [line.split(" => ")[1].strip() for line in listed if line.strip().startswith(name + " (")]
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) + [os.path.dirname(file) for file in cached]
    found = []
    for folder in folders + list(LIBRARY_FOLDERS):
        file = os.path.join(os.path.realpath(folder), name)
        # A link to the plugin leads nowhere once that is off.
        next_one = os.path.join(os.path.dirname(file), os.readlink(file)) if os.path.islink(file) else file
        ours = os.path.basename(next_one) == name and os.path.realpath(os.path.dirname(next_one)) == own
        if folder and os.path.isfile(file) and not ours and file not in found:
            found.append(file)
    return found


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


def find_builds(folder: str) -> Dict[str, List[str]]:
    """Return what earlier calls built, and all of theirs in the folder, with logs and what a kill left of a build."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    own = [os.path.join(folder, name) for name in names if OWN_NAME.fullmatch(name)]
    named = [path for path in own if not path.endswith((UNFINISHED, LOG))]
    return {"built": [path for path in named if os.path.isfile(os.path.join(path, BUILD_FILE))], "own": own}


def text_of(path: str) -> Optional[str]:
    data = read_bytes(path)
    return None if data is None else data.decode("utf-8", "replace")


def find_required(name: str) -> Dict[str, Optional[str]]:
    """Return where a file, a folder or a program is, by its path or by PATH, and the checksum of a file given by its path."""
    path = name if "/" in name else shutil.which(name)
    if path is None or not os.path.exists(path):
        return {"path": None, "sha256": None}
    return {"path": path, "sha256": sha256_of(path) if "/" in name and os.path.isfile(path) else None}


def observe(options: Dict[str, Any]) -> Dict[str, Any]:
    """Return all that is decided on. Changes nothing."""
    source, record_path = options["horovod_source"], os.path.join(options["state_dir"], RECORD)
    builds = find_builds(options["prefix_dir"])
    has_source = is_path(source) and os.path.isfile(source)
    return {
        "python": {"version": ".".join(map(str, sys.version_info[:3])), "executable": sys.executable},
        "packages": find_packages(),
        "pythonpath": os.environ.get("PYTHONPATH", ""),
        "files": find_files(options["plugin_path"]),
        "elsewhere": find_elsewhere(options["plugin_path"]),
        "record_path": record_path,
        "record": text_of(record_path),
        "root_layer": root_layer(text_of("/proc/self/mountinfo") or ""),
        "source_sha256": sha256_of(source) if has_source else None,
        "builds": {path: text_of(os.path.join(path, BUILD_FILE)) for path in builds["built"]},
        "leftovers": builds["own"],
        "requires": {name: find_required(name) for name in options["requires"]},
    }
