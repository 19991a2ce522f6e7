# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the lab keeps its things, and the file that says which nodes are up."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / ".lab"
FILE = LAB / "state.json"
SCHEMA = 1


def write(path, text, mode=0o644):
    """Replace a file as a whole: a reader sees the old text or the new one, also after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    descriptor = os.open(str(unfinished), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(str(unfinished), str(path))
    folder = os.open(str(path.parent), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def save(engine, rate, nodes, path=FILE):
    """Write down the engine ("own" or "shared"), the rate of eth0 and the nodes."""
    content = {"schema": SCHEMA, "engine": engine, "rate": rate, "nodes": nodes}
    write(path, json.dumps(content, indent=1) + "\n")


def load(path=FILE):
    """The saved state, or None when no lab runs."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        return None  # written by something else; `up` replaces it, `down` removes it
    return content if isinstance(content, dict) and content.get("schema") == SCHEMA else None
