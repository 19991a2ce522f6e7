# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stop the SSH server of a training container and remove its keys and files."""

import os
from functools import partial
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, remove_any
from ansible_collections.taco.train.plugins.module_utils._process.place import Place, PlaceError
from ansible_collections.taco.train.plugins.module_utils._ssh import files as ssh_files
from ansible_collections.taco.train.plugins.module_utils._ssh import folder as ssh_folder
from ansible_collections.taco.train.plugins.module_utils._ssh import server as ssh_server
from ansible_collections.taco.train.plugins.module_utils._ssh.identity import KEYS, alone, read
from ansible_collections.taco.train.plugins.module_utils._ssh.inspection import pid_file_of, runs
from ansible_collections.taco.train.plugins.module_utils._ssh.trust import write_files

Step = Tuple[str, Callable[[], None]]


def ensure_absence(options: Mapping[str, Any], folder: str, check_mode: bool) -> Dict[str, Any]:
    """Stop the server and remove the keys and files."""
    with alone(folder, check_mode):
        return _remove(options, folder, check_mode)


def _remove(options: Mapping[str, Any], folder: str, check_mode: bool) -> Dict[str, Any]:
    """Remove as much as possible, and name what can't be removed."""
    place = Place(options["container"], options["engine_command"])
    present = ssh_folder.own_files(folder)
    config = read(os.path.join(folder, "sshd_config")) if "sshd_config" in present else None
    running = runs(config)
    client = place.read(options["client_config"])
    kept = ssh_files.without_include(client, os.path.join(folder, "config"))
    # The folder itself stays: a container that runs would go on seeing the one that was removed.
    if not check_mode:
        steps: List[Step] = []
        if kept != client:
            steps.append(
                (options["client_config"], lambda: write_files(place, {}, folder, options["client_config"], kept))
            )
        if running:
            steps.append(("the SSH server", lambda: _stop(place, options["container"], folder, config or "")))
        problems = _attempts(steps)
        # The next run finds a server that goes on running by these, and the server can't answer without its key.
        staying = ("sshd_config", "sshd.pid", KEYS["host_key"]) if problems else ()
        names = ssh_folder.own_files(folder)
        # A file by which the others are known as ours goes last, and only if nothing else stays.
        last = [name for name in ("sshd_config", KEYS["public_key"] + ".pub") if name in names][:1]
        names = [name for name in names if name not in staying]
        problems += _attempts(_removals(folder, [name for name in names if name not in last]))
        problems += [] if problems else _attempts(_removals(folder, last))
        if problems:
            raise ssh_server.SshServerError(
                f"not all of it could be removed: {'; '.join(problems)}. Correct that and run this again: it goes on from there"
            )
    files = [os.path.join(folder, name) for name in present] + ([options["client_config"]] if kept != client else [])
    server = "stopped" if running else "left alone"
    header = "files of the SSH trust"
    diff = [dict(before="".join(file + "\n" for file in files), after="", before_header=header, after_header=header)]
    return dict(
        changed=bool(files) or running,
        reason="state is absent",
        interrupts=["the SSH server of the training container"] if running else [],
        files=files,
        server=server,
        proven=[],
        diff=diff if files else [],
    )


def _stop(place: Place, container: str, folder: str, config: str) -> None:
    path = os.path.join(folder, "sshd_config")
    ssh_server.stop(place, pid_file_of(container, folder), path, *ssh_files.listens_on(config))


def _removals(folder: str, names: Sequence[str]) -> List[Step]:
    return [(path, partial(remove_any, path)) for path in (os.path.join(folder, name) for name in names)]


def _attempts(steps: Sequence[Step]) -> List[str]:
    """Do every step, and describe those that failed. A step is a name and a function."""
    problems = []
    for name, act in steps:
        try:
            act()
        except (PlaceError, FileError, OSError) as error:
            problems.append(f"{name} ({error})")
    return problems
