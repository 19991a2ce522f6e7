# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Have the data set of the TTF demos downloaded, by the script beside them.

Where the data comes from, and the names of its files, are in the script alone: the vendor publishes neither. So the script is
checked by its checksum before it runs, and the data is not checked at all.
"""

import re
from typing import Any, Callable, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._process.timed import Output, run_timed

FOLDER = "/opt/dynamic-embedding-demo"
SCRIPT = "download_dataset.sh"
# Written beside the script once it has succeeded, with the script's checksum.
MARKER = ".taco-train-dataset"
KILL_AFTER = 10
# For the commands that only read or write a line.
SHORT_SECONDS = 60
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_LINES = 5

Run = Callable[..., Output]


class DatasetError(Exception):
    """The data set can't be had; the text says what was expected, what was found, and what to set."""


def _checksum_in(text: str) -> Optional[str]:
    match = SHA256.match(text.strip().lower())
    return match.group() if match else None


def refusal(wanted: Optional[str], found: str, allow_unverified: bool, path: str) -> Optional[str]:
    """Return why a script with the checksum found must not run, or None."""
    if wanted:
        wanted = wanted.strip().lower()
        if wanted == found:
            return None
        return (
            f"expected {path} with the SHA-256 {wanted}, found {found}: read the script, and set "
            "checksum (benchmark_dataset_sha256) to the output of sha256sum for it"
        )
    if allow_unverified:
        return None
    return (
        f"expected a checksum for {path}, which downloads data as root in the training container; checksum is not set. Read "
        f"the script, and set checksum (benchmark_dataset_sha256) to its SHA-256 ({found}), or set allow_unverified: true "
        "(benchmark_dataset_allow_unverified)"
    )


def _last_lines(done: Output) -> str:
    lines = [line.strip() for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
    return " / ".join(lines[-MOST_LINES:]) or "it printed nothing"


def _present(recorded: str, wanted: Optional[str], marker: str) -> Dict[str, Any]:
    """Return the answer where the script has succeeded before."""
    if wanted and recorded != wanted.strip().lower():
        raise DatasetError(
            f"expected a data set downloaded by the script with the SHA-256 {wanted.strip().lower()}, "
            f"found one of the script with {recorded}: remove {marker} in the training container to download it again, or "
            "correct checksum (benchmark_dataset_sha256)"
        )
    return {"changed": False, "checksum": recorded, "msg": "the data set is there"}


def download(options: Dict[str, Any], check_mode: bool = False, run: Run = run_timed) -> Dict[str, Any]:
    """Return whether the data set was downloaded now, and the checksum of the script; raise DatasetError for all else."""
    prefix: List[str] = list(options["exec_prefix"])
    folder = options["demo_dir"].rstrip("/") or "/"
    marker, script = f"{folder}/{MARKER}", f"{folder}/{SCRIPT}"
    recorded = _checksum_in(run(prefix + ["cat", marker], SHORT_SECONDS).stdout)
    if recorded:
        return _present(recorded, options["checksum"], marker)
    summed = run(prefix + ["sha256sum", script], SHORT_SECONDS)
    found = _checksum_in(summed.stdout) if summed.status == 0 else None
    if found is None and check_mode:
        # There may be no container yet.
        return {"changed": True, "checksum": None, "msg": f"{script} would be run"}
    if found is None:
        raise DatasetError(
            f"expected the script {script} of the TTF demos, found none ({_last_lines(summed)}): set demo_dir (of benchmark_options) to "
            "their folder in the training image, or use an image that has them (taco_image)"
        )
    refused = refusal(options["checksum"], found, options["allow_unverified"], script)
    if refused:
        raise DatasetError(refused)
    if check_mode:
        return {"changed": True, "checksum": found, "msg": f"{script} would be run"}
    limit = options["timeout"]
    words = ["timeout", "-k", str(KILL_AFTER), str(limit), "sh", "-c", f'cd "$1" && exec bash {SCRIPT}', "sh", folder]
    done = run(prefix + words, limit + KILL_AFTER + SHORT_SECONDS)
    if done.status != 0:
        why = f"exit status {done.status}" if done.status not in (None, 124, 137) else f"no end within {limit} s"
        raise DatasetError(
            f"expected {script} to succeed, found {why}: {_last_lines(done)}. Give the training container a way to the network, or "
            "raise timeout (benchmark_timeout)"
        )
    kept = run(prefix + ["sh", "-c", 'printf "%s\\n" "$2" > "$1"', "sh", marker, found], SHORT_SECONDS)
    if kept.status != 0:
        raise DatasetError(
            f"{script} has succeeded, and {marker} can't be written: {_last_lines(kept)}. Make room for it"
        )
    return {"changed": True, "checksum": found, "msg": f"{script} has downloaded the data set"}
