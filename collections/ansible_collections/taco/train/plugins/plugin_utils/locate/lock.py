# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lock of a search: one playbook at a time runs its rounds.

The lock is a file with the identity of the playbook. It is released when the process of the playbook ends, however
it ends. After a reboot of the controller, or in another container, nothing tells that it has ended: then the file must be deleted.
"""

import fcntl
import json
import os

from ansible_collections.taco.train.plugins.plugin_utils.locate.search import SearchError
from ansible_collections.taco.train.plugins.plugin_utils.run.owner import identity, is_of_another, parse

FILE = "locate.lock"


def acquire(run_dir: str, pid: int, write: bool = True) -> None:
    """Take the lock of a search for the process of a playbook, or raise who has it. Without write it is only checked."""
    path = os.path.join(run_dir, FILE)
    own = identity(pid)
    if not write and not os.path.exists(path):
        return
    try:
        with open(path, "a+" if write else "r", encoding="utf-8") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
            stream.seek(0)
            holder = parse(stream.read())
            if is_of_another(holder, own):
                raise SearchError(
                    f"The process {holder['pid']} on {holder['controller']} runs the search in {run_dir}. Wait until it has ended, or "
                    f"begin another search with locate_fresh: true. If it has ended and this message stays, delete {path}."
                )
            if write:
                stream.truncate(0)
                stream.write(json.dumps(own))
    except OSError as error:
        raise SearchError(
            f"{path} can't be locked: {error}. Check the permissions of the folder, or set taco_results_dir."
        ) from error
