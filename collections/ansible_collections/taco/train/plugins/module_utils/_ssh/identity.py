# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The keys by which a host is known to its peers: made once, and published without their private halves."""

import contextlib
import json
import os
from typing import Any, Dict, Iterator, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import replace_file
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.module_utils._process.place import Place
from ansible_collections.taco.train.plugins.module_utils._ssh import folder as ssh_folder
from ansible_collections.taco.train.plugins.module_utils._ssh import server

LOCK_SECONDS = 60
PRIVATE = 0o600
PUBLIC = 0o644
NO_KEYS = "the host has no keys of this collection"
KEYS = {"public_key": "id_ed25519", "host_key": "ssh_host_ed25519_key"}


@contextlib.contextmanager
def alone(folder: str, check_mode: bool) -> Iterator[None]:
    """Let no other run change the folder. Check mode changes nothing, and a folder that is missing has nothing to change."""
    needed = not check_mode and os.path.isdir(folder)
    with CreatedFolders(os.path.dirname(folder)).locked(LOCK_SECONDS, needed):
        yield


def read(path: str) -> Optional[str]:
    """Return the text of a file, None when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(path: str, text: str, mode: int) -> None:
    replace_file(path, text.encode("utf-8"), mode=mode)


def find_identity(folder: str) -> Optional[Dict[str, str]]:
    """Return the public halves of the keys in a folder, None when a key is missing."""
    found = {}
    for option, name in KEYS.items():
        public = read(os.path.join(folder, name + ".pub"))
        if public is None or not os.path.exists(os.path.join(folder, name)):
            return None
        found[option] = public.strip()
    return found


def make_identity(folder: str, place: Place) -> Optional[Dict[str, str]]:
    """Make the keys that are missing and return the public halves of all."""
    CreatedFolders(os.path.dirname(folder)).make(folder, 0o700)
    os.chmod(folder, 0o700)
    host = os.uname().nodename
    with alone(folder, check_mode=False):
        for name in KEYS.values():
            path = os.path.join(folder, name)
            # Another run may have made them meanwhile.
            if read(path) is not None and read(path + ".pub") is not None:
                continue
            private, public = server.make_key(place, ssh_folder.KEY_COMMENT + host, folder)
            # First the half that carries our mark: what a killed run leaves is known as ours.
            write(path + ".pub", public + "\n", PUBLIC)
            write(path, private, PRIVATE)
        return find_identity(folder)


def identity_text(identity: Dict[str, str], port: int) -> str:
    return json.dumps(dict(identity, port=port), indent=1, sort_keys=True) + "\n"


def key_place(options: Dict[str, Any]) -> Place:
    """Return where ssh-keygen is: on the host, or when it has none in the container."""
    has_keygen = any(
        os.access(os.path.join(folder, "ssh-keygen"), os.X_OK)
        for folder in os.environ.get("PATH", "").split(os.pathsep) + ["/usr/bin", "/usr/local/bin"]
    )
    return Place("" if has_keygen else options["container"], options["engine_command"])


def ensure_identity(options: Dict[str, Any], folder: str, check_mode: bool) -> Dict[str, Any]:
    """Make what is missing of the keys and of the file that publishes them."""
    identity = find_identity(folder)
    changed = identity is None
    if changed and not check_mode:
        place = key_place(options)
        place.check()
        identity = make_identity(folder, place)
    path = os.path.join(folder, ssh_folder.IDENTITY)
    reason = NO_KEYS if changed else "the published keys differ"
    answer: Dict[str, Any] = dict(changed=changed, reason=reason, files=[], server="left alone", proven=[], diff=[])
    if identity is None:
        return dict(answer, files=[path])
    text = identity_text(identity, options["port"])
    if read(path) != text:
        answer.update(changed=True, files=[path])
        if not check_mode:
            with alone(folder, check_mode):
                write(path, text, PUBLIC)
    return dict(answer, identity=dict(identity, port=options["port"]))
