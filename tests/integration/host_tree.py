# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print all files and folders of a host as JSON: path -> type and mode, owner, and the content's checksum or the link's target.

Runs on the host, by its own Python. No times: whatever is restored has new ones.
"""

import hashlib
import json
import os
import stat

# What is not the collection's, and changes by itself or stays as the documentation says.
LEFT_OUT = {
    "/var/log": "logs",
    "/var/lib/systemd": "the state of systemd, such as its seed of random numbers",
    "/var/lib/docker": "the engine's own storage: images stay",
    "/var/lib/containerd": "the engine's own storage: images stay",
    "/var/lib/apt": "packages stay",
    "/var/cache": "packages stay, and what programs compute anew",
    "/root/.ansible": "Ansible's own folder for every module it runs",
    "/proc": "the kernel's",
    "/sys": "the kernel's",
    "/dev": "the kernel's",
    "/run": "gone after a reboot",
}
# A module that is killed leaves the folder into which Ansible unpacked it.
ANSIBLES_OWN = "/tmp/ansible_"


def described(path):
    status = os.lstat(path)
    content = None
    if stat.S_ISLNK(status.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
    return [oct(status.st_mode), status.st_uid, status.st_gid, content]


def tree():
    found = {}
    for folder, folders, files in os.walk("/"):
        # Python's compiled copies of what it imported.
        folders[:] = [name for name in folders if os.path.join(folder, name) not in LEFT_OUT and name != "__pycache__"]
        folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(ANSIBLES_OWN)]
        for path in [os.path.join(folder, name) for name in folders + files]:
            try:
                found[path] = described(path)
            except FileNotFoundError:
                continue
    return found


if __name__ == "__main__":
    print(json.dumps(tree()))
