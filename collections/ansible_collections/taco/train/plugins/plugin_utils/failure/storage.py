# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes in the file systems of a host, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import NODE, cause

# PyTorch's writer of checkpoints has no word for why the system did not write.
CHECKPOINT = (
    "disk",
    r"(?P<what>PytorchStreamWriter failed (?:writing|closing).{0,80}|inline_container\.cc\S* ?\.? unexpected pos.{0,60})",
)
STORAGE = [
    cause(
        "storage",
        r"(?P<what>Stale (?:NFS )?file handle|\[Errno 116\].{0,40})(?:: '?(?P<path>/[^']{1,300}))?",
        "a file of a network file system was removed or replaced on the server while a rank had it open, or its export changed: "
        "{what} {path}",
        "mount the folder again on this host (umount -l, then mount; findmnt shows it), and see that no other run or host removes files "
        "there; put caches that every rank writes, such as those of data sets, on a local disk",
    ),
    cause(
        "storage",
        r"\[Errno (?:5|107)\] |nfs: server \S+ not responding|(?:EXT4-fs|XFS|BTRFS)\S* error|"
        r"^(?!.*(?:UCX|ucx|NCCL|NET/|libfabric|fi_|ibv_|mlx5)).*(?:Input/output error|Transport endpoint is not connected|Remote I/O error|"
        r"Cannot send after transport endpoint shutdown|Read-only file system)|LustreError: ",
        "a file system failed",
        "look at the mounts and at dmesg of the host",
    ),
    cause(
        "disk",
        r"(?P<what>Disk quota exceeded(?:: '[^']{1,200}')?|EDQUOT)",
        "a user's or a project's quota of a file system is used up ({what})",
        "see the quota (quota -s, lfs quota) and remove files or have it raised; the disk itself may have space: else set "
        "benchmark_options.chdir to a folder on another file system",
        fields=NODE,
    ),
    cause(
        "disk",
        r"[Nn]o space left on device|ENOSPC|disk is full|write error: no space",
        "a disk is full",
        "free space on the hosts (df -h, docker system df), or set benchmark_options.chdir to a folder on another disk",
        fields=NODE,
    ),
    cause(
        *CHECKPOINT,
        "a checkpoint can't be written, as the file system at {mount} is full ({what})",
        "free space at {mount}, keep fewer checkpoints, or write them to another file system",
        # A row of df. Images of snap are always full.
        context=r"^(?!/dev/loop|overlay |squashfs )\S+ +\S+ +\S+ +\S+ +100% +(?P<mount>/(?!snap)\S*)",
    ),
    cause(
        *CHECKPOINT,
        "a checkpoint can't be written: its file system is most likely full, or its quota is used up ({what})",
        "see df -h and quota -s for the folder of the checkpoints; keep fewer of them, or write them to another file system",
    ),
]
