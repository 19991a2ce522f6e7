# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Move a file so that what it holds and what is known about it stay, also when the move is cut short."""

import errno
import os
import shutil
import stat

from ansible_collections.taco.train.plugins.module_utils._files.atomic import require_room, sync_folder


def unfinished_copy(target: str) -> str:
    """The name of a file or folder until it is whole, or while it is removed. One that a kill left may be removed."""
    return os.path.join(os.path.dirname(target), "." + os.path.basename(target) + ".taco-train.tmp")


def cleared_copy(target: str) -> str:
    """Return the name of an unfinished folder, after what a kill left there is removed."""
    unfinished = unfinished_copy(target)
    if os.path.lexists(unfinished):
        shutil.rmtree(unfinished)
    return unfinished


def _copy(source: str, unfinished: str, before: os.stat_result) -> None:
    if stat.S_ISLNK(before.st_mode):
        os.symlink(os.readlink(source), unfinished)
        os.lchown(unfinished, before.st_uid, before.st_gid)
        os.utime(unfinished, ns=(before.st_atime_ns, before.st_mtime_ns), follow_symlinks=False)
        return
    require_room(os.path.dirname(unfinished), before.st_size)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as target, open(source, "rb") as origin:
        shutil.copyfileobj(origin, target, 1024 * 1024)
        target.flush()
        # The owner first: a change of owner takes away set-user-id bits.
        os.fchown(target.fileno(), before.st_uid, before.st_gid)
        shutil.copystat(source, unfinished)
        os.fsync(target.fileno())


def move_file(source: str, target: str) -> None:
    """Give a file, or a link itself, another name, which must be free. Across file systems both may be there for a moment.

    A copy has the same bytes, mode, owner, modification time and extended attributes.
    """
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "is there already", target)
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        unfinished = unfinished_copy(target)
        if os.path.lexists(unfinished):
            os.unlink(unfinished)
        try:
            _copy(source, unfinished, os.lstat(source))
            os.rename(unfinished, target)
        except BaseException:
            if os.path.lexists(unfinished):
                os.unlink(unfinished)
            raise
        sync_folder(os.path.dirname(target))
        os.unlink(source)
    sync_folder(os.path.dirname(target))
    sync_folder(os.path.dirname(source))
