# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Add records to those of a run.

What the schema refuses, docs/schemas/record-1.json in the collection, is not kept: a file that nobody can trust is worse than none.
"""

import fcntl
import json
import os
import re
import stat
from contextlib import contextmanager
from typing import Any, BinaryIO, Iterator, Mapping, Sequence

from ansible_collections.taco.train.plugins.module_utils._files.atomic import sync_folder
from ansible_collections.taco.train.plugins.plugin_utils.run import json_schema
from ansible_collections.taco.train.plugins.plugin_utils.run.record_check import RECORD, record_problems
from ansible_collections.taco.train.plugins.plugin_utils.run.store import (
    ELSEWHERE,
    OWNER_ONLY,
    RecordError,
    make_directory,
    write_bytes,
    write_text,
)


def record_id(time: str, arm: str, suffix: str) -> str:
    """Return an id that sorts by time and can be a file's name."""
    return "{}-{}-{}".format(re.sub(r"[-:]|\.\d+", "", time), arm, suffix)


def _value(node: Mapping[str, Any], part: str, name: str) -> Any:
    """A value of a part of a node's facts, None where either is absent."""
    return (node.get(part) or {}).get(name)


def system_of(node: Any, worker: Mapping[str, Any] | None = None, image: str | None = None) -> dict[str, Any] | None:
    """Return of a node's facts, and of what the module acceleration saw in its container, what a number must be read with.

    image is that of a pod, whose cluster knows it.
    """
    if not isinstance(node, dict):
        return None
    seen = (worker or {}).get("after") or {}
    container = seen.get("container") or {}
    gpus = node.get("gpus") or {}
    engine = node.get("container_engine") or {}
    pools = _value(node, "hugepages", "pools") or []
    return {
        "hostname": node.get("hostname"),
        "os": _value(node, "os", "name"),
        "instance_type": _value(node, "metadata", "instance_type"),
        "kernel": _value(node, "kernel", "release"),
        "kernel_line": _value(node, "kernel", "cmdline"),
        "cpus": _value(node, "cpu", "count"),
        "memory_bytes": _value(node, "memory", "total_bytes"),
        "hugepages": [{"size_bytes": pool.get("size_bytes"), "total": pool.get("total")} for pool in pools],
        "gpus": gpus.get("count"),
        "gpu_names": sorted({gpu["name"] for gpu in gpus.get("devices") or [] if gpu.get("name")}),
        "driver": gpus.get("driver_version"),
        "engine": " ".join(str(engine[key]) for key in ("name", "version") if engine.get(key)) or None,
        "interfaces": [nic["name"] for nic in node.get("nics") or [] if nic.get("kind") == "physical"],
        # A digest tells an image from another one of the same name; an image that was never in a registry has its id alone.
        "image": image or (container.get("repo_digests") or [container.get("image_id")])[0],
        "packages": seen.get("packages") or {},
    }


def require_valid(problems: Sequence[str], path: str, kept: str = "nothing was written") -> None:
    """Raise for a document that its schema refuses: a file that nobody can trust is worse than none."""
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise RecordError(
            f"{path}: {kept}, because what is to be kept is not valid: {problems[0]}{more}. The logs are in the "
            "folder logs beside it; report this as a bug of taco.train."
        )


def require_valid_record(run_dir: str, path: str, record: Mapping[str, Any]) -> None:
    """Raise for a record that its schema refuses, after it was written to a file of its own: its run took half an hour."""
    problems = record_problems(record)
    try:
        json.dumps(record, allow_nan=False)
    except (TypeError, ValueError) as error:
        problems = [*problems, str(error)]
    if problems:
        other = os.path.join(run_dir, "logs", f"{record.get('id')}.refused.json")
        write_text(other, json.dumps(record, ensure_ascii=False, default=str) + "\n", OWNER_ONLY)
        require_valid(problems, path, f"the record was written to {other} instead")


def require_schema() -> None:
    """Raise where the schema of records can't be read: better before a run than after it."""
    try:
        json_schema.load(RECORD)
    except (OSError, ValueError) as error:
        raise RecordError(
            f"The schema of records can't be read on the controller: {error}. Install it again: ansible-galaxy collection install "
            "--force taco.train"
        ) from error


@contextmanager
def _locked(path: str) -> Iterator[BinaryIO]:
    """The file, opened to append, with its lock. While a process waits for the lock, another one may replace the file."""
    while True:
        with open(path, "a+b") as stream:
            # Runs of groups of hosts end at the same time.
            fcntl.flock(stream, fcntl.LOCK_EX)
            if os.path.exists(path) and os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
                yield stream
                return


def _line(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")


def append(run_dir: str, record: Mapping[str, Any]) -> None:
    """Add one line to the run's records, and be sure that it is on the disk."""
    path = os.path.join(run_dir, "records.jsonl")
    require_valid_record(run_dir, path, record)
    make_directory(run_dir)
    try:
        with _locked(path) as stream:
            # A line cut by a crash must not swallow this one.
            cut = stream.tell() and not ends_with_newline(stream)
            stream.write((b"\n" if cut else b"") + _line(record))
            stream.flush()
            os.fsync(stream.fileno())
        sync_folder(run_dir)
    except OSError as error:
        raise RecordError(f"{path} can't be written on the controller: {error.strerror}; {ELSEWHERE}.") from error


def _id_of(line: bytes) -> Any:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found.get("id") if isinstance(found, dict) else None


def replace(run_dir: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Replace the lines of records that are there already, by their id. All other lines and the mode of the file stay as they are."""
    path = os.path.join(run_dir, "records.jsonl")
    for record in records:
        require_valid_record(run_dir, path, record)
    new = {record["id"]: _line(record) for record in records}
    try:
        with _locked(path) as stream:
            stream.seek(0)
            lines = stream.read().splitlines(keepends=True)
            content = b"".join(new.get(_id_of(line), line) for line in lines)
            write_bytes(path, content, stat.S_IMODE(os.fstat(stream.fileno()).st_mode))
    except OSError as error:
        raise RecordError(f"{path} can't be written on the controller: {error.strerror}; {ELSEWHERE}.") from error


def ends_with_newline(stream: BinaryIO) -> bool:
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) == b"\n"
