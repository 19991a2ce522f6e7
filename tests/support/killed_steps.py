# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Let code end before one of the calls that change a host, as when its process is killed there."""

import os
import shutil


class Killed(BaseException):
    """Stands for a kill: nothing in the code may catch it and go on."""


# The calls of the system by which anything on a host changes.
SYSTEM = [
    (os, "rename"), (os, "unlink"), (os, "mkdir"), (os, "makedirs"), (os, "rmdir"), (os, "fsync"), (os, "open"), (shutil, "rmtree"),
]  # fmt: skip


def killed_before(number, function, monkeypatch, steps=()):
    """Run a function that ends before its step of that number; return whether it reached that step."""
    done = [0]

    def counted(real):
        def step(*args, **kwargs):
            done[0] += 1
            # Nothing more happens on the host, whatever tidies up on the way out.
            if done[0] >= number:
                raise Killed()
            return real(*args, **kwargs)

        return step

    with monkeypatch.context() as patch:
        for owner, name in SYSTEM + list(steps):
            patch.setattr(owner, name, counted(getattr(owner, name)))
        try:
            function()
        except Killed:
            return True
    return False


def tree(root):
    """Return {path: what there is} of all below a folder; files with their content. No times."""
    found = {}
    for folder, folders, files in os.walk(str(root)):
        for path in [os.path.join(folder, name) for name in folders + files]:
            status = os.lstat(path)
            content = os.readlink(path) if os.path.islink(path) else None
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, str(root))] = (status.st_mode, status.st_uid, status.st_gid, content)
    return found
