# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The folder of a run on the controller, and the records in it."""

import json
import os
import tempfile
import uuid
from typing import Any

from ansible_collections.taco.train.plugins.module_utils._files.atomic import sync_folder

SCHEMA = 1
OWNER_ONLY = 0o600
# What helps with a folder that is full, read-only or somebody else's.
ELSEWHERE = "make that possible, or set taco_results_dir to another folder"


class RecordError(Exception):
    """A record can't be kept or read."""


def make_directory(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise RecordError(
            f"{path}: the folder for results can't be made on the controller ({error.strerror}); "
            "set taco_results_dir to one that can."
        ) from error


def absolute(path: str) -> str:
    """A path on the controller, also of one below the home folder."""
    return os.path.abspath(os.path.expanduser(path))


def write_text(path: str, text: str, mode: int = 0o644) -> None:
    """Replace a file with a text, whole or not at all."""
    write_bytes(path, text.encode("utf-8", "replace"), mode)


def write_bytes(path: str, content: bytes, mode: int) -> None:
    """Replace a file, whole or not at all."""
    folder = os.path.dirname(path)
    make_directory(folder)
    try:
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fchmod(stream.fileno(), mode)
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        sync_folder(folder)
    except OSError as error:
        raise RecordError(f"{path} can't be written on the controller: {error.strerror}; {ELSEWHERE}.") from error


def read(run_dir: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the run's records and a sentence for each line that isn't one."""
    path = os.path.join(run_dir, "records.jsonl")
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            lines = stream.read().split("\n")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise RecordError(f"{path} can't be read on the controller: {error.strerror}; {ELSEWHERE}.") from error
    records, problems = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if isinstance(record, dict) and record.get("schema") == SCHEMA:
            records.append(record)
        else:
            problems.append(f"Line {number} of records.jsonl is not a record of schema {SCHEMA}.")
    return records, problems


def point_latest(run_dir: str) -> None:
    """Let `latest`, beside the run's folder, point to it."""
    results, run = os.path.split(os.path.abspath(run_dir))
    link = os.path.join(results, "latest")
    if os.path.exists(link) and not os.path.islink(link):
        raise RecordError(f"{link} is in the way of the link to the newest results: move it away.")
    # A link can only be replaced by a rename. A process that was killed here may have had the number of this one.
    temporary = os.path.join(results, f".latest-{uuid.uuid4().hex}")
    try:
        os.symlink(run, temporary)
        os.replace(temporary, link)
        sync_folder(results)
    except OSError as error:
        raise RecordError(f"{link} can't be made on the controller: {error.strerror}; {ELSEWHERE}.") from error
