# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Replace files so that a reader, or a host that loses power, sees the old content or the new one and nothing between."""

import contextlib
import errno
import fcntl
import glob
import hashlib
import os
import shutil
import stat
from typing import Dict, Iterator, Optional, Sequence, Tuple

MARGIN = 64 * 1024  # bytes that must stay free beside the new content
ACL = "system.posix_acl_access"
OF_CONTENT = ("security.ima", "security.evm")  # signatures: another content has others
WAYS_OUT = {
    errno.EROFS: "mount its file system writable (mount -o remount,rw)",
    errno.EBUSY: "it is a mount point, so unmount it (findmnt shows it)",
}


class FileError(Exception):
    """A file can't be replaced; nothing was written."""


def read_bytes(path: str) -> Optional[bytes]:
    """Return the content of a file, or None where there is none."""
    try:
        with open(path, "rb") as handle:
            return handle.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def digest(content: Optional[bytes]) -> Optional[str]:
    return None if content is None else hashlib.sha256(content).hexdigest()


def extended_attributes(path: str) -> Dict[str, bytes]:
    """Return the extended attributes of a file, such as its SELinux label and its ACL; none where its file system has none."""
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError:
        return {}


def set_extended_attributes(path: str, wanted: Dict[str, bytes]) -> None:
    """Give a file the extended attributes that it lacks, and take the ACL away that it only has from its folder."""
    known = extended_attributes(path)
    if ACL in known and ACL not in wanted:
        os.removexattr(path, ACL)
    for name, value in sorted(wanted.items()):
        if known.get(name) != value:
            os.setxattr(path, name, value)


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Name the file and the way out in the error of a file that may not be changed."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES, *WAYS_OUT):
            error.filename, error.filename2 = path, None
            raise
        attributes = f"look at lsattr -d {path} {os.path.dirname(path)}; an i or a there goes with chattr -ia"
        way_out = WAYS_OUT.get(error.errno, attributes)
        raise FileError(f"{path} can't be changed: {error.strerror}: {way_out}, and run this again") from error


def sync_folder(folder: str) -> None:
    """Make the names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def require_room(folder: str, size: int) -> None:
    """Refuse a file system that has no room for size bytes more."""
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < size + MARGIN:
        raise FileError(f"{folder}: {free} bytes are free and {size + MARGIN} are needed; make room and run it again")


def sweep(target: str) -> None:
    """Remove what a killed run had begun to write beside a file. Who still writes holds a lock."""
    folder, name = os.path.split(target)
    for left in glob.glob(os.path.join(glob.escape(folder), "." + glob.escape(name) + ".[0-9]*.tmp")):
        try:
            descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(left)
        except OSError:
            continue
        finally:
            os.close(descriptor)


def require_rooms(needs: Sequence[Tuple[str, int]]) -> None:
    """Refuse when a file system has no room for all that is to be written to it; needs are (path, bytes)."""
    sums: Dict[int, Tuple[str, int]] = {}
    for path, size in needs:
        folder = os.path.dirname(os.path.realpath(path))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        device = os.stat(folder).st_dev
        sums[device] = (folder, sums.get(device, ("", 0))[1] + size)
    for folder, size in sums.values():
        require_room(folder, size)


def replace_file(
    path: str,
    data: bytes,
    mode: Optional[int] = None,
    uid: Optional[int] = None,
    gid: Optional[int] = None,
    margin: bool = True,
    attributes: Optional[Dict[str, bytes]] = None,
) -> None:
    """Give a file new content as one step; a link is followed to its target.

    Mode, owner and extended attributes not given stay what they were; a new file gets 0644. The folder must exist. Without the
    margin the content may take the last bytes of the file system, as an undo must.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    try:
        before = os.stat(target)
    except FileNotFoundError:
        before = None
    if before is not None:
        mode = stat.S_IMODE(before.st_mode) if mode is None else mode
        uid = before.st_uid if uid is None else uid
        gid = before.st_gid if gid is None else gid
        if attributes is None:
            known = extended_attributes(target)
            attributes = {name: value for name, value in known.items() if name not in OF_CONTENT}
    sweep(target)
    if margin:
        require_room(folder, len(data))
    around = os.stat(folder)
    unfinished = os.path.join(folder, f".{os.path.basename(target)}.{os.getpid()}.tmp")
    with naming(target):
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX)
                handle.write(data)
                if uid is not None or gid is not None:
                    os.fchown(handle.fileno(), -1 if uid is None else uid, -1 if gid is None else gid)
                os.fchmod(handle.fileno(), 0o644 if mode is None else mode)
                if attributes is not None:
                    set_extended_attributes(unfinished, attributes)
                handle.flush()
                os.fsync(handle.fileno())
            os.rename(unfinished, target)
        except BaseException:
            if os.path.exists(unfinished):
                os.unlink(unfinished)
                os.utime(folder, ns=(around.st_atime_ns, around.st_mtime_ns))
            raise
    sync_folder(folder)


def remove_file(path: str) -> None:
    """Remove a file for good; one that isn't there is no error."""
    sweep(path)
    try:
        with naming(path):
            os.unlink(path)
    except FileNotFoundError:
        return
    sync_folder(os.path.dirname(path))


def remove_any(path: str) -> None:
    """Remove a file, a link or a folder with all in it."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        remove_file(path)


def overwrite_file(path: str, data: bytes) -> None:
    """Write over the content of a file, where a second file has no room; killed meanwhile, it leaves neither old nor new.

    The blocks are reserved first, so that a full file system is an error before anything is lost.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        size = os.fstat(handle.fileno()).st_size
        if len(data) > size:
            try:
                os.posix_fallocate(handle.fileno(), 0, len(data))
            except OSError:
                handle.truncate(size)
                raise
        handle.write(data)
        handle.flush()
        handle.truncate(len(data))
        os.fsync(handle.fileno())
