# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The root file system that all hosts share: built once from the machine's own packages, as the lab's nodes are."""

import os
import shutil
import sys
from pathlib import Path

import images
import machine
import mirrors
from state import LAB

HERE = Path(__file__).resolve().parent
FOLDER = LAB / "bench"
PACKAGES = "openssh-server python3 python3-apt python3-requests iproute2 procps kmod grub-common grub2-common docker.io".split()
HOST = images.Image(
    "taco-bench/host:1",
    PACKAGES,
    [
        ("node/grub", "etc/default/grub", 0o644),
        ("node/grub-probe", "usr/local/lib/taco-lab/grub-probe", 0o755),
    ],
    [str(HERE / "host/setup.sh")],
    [],
)


def ensure(image=HOST, kind="root"):
    """Return the folder with the root file system of an image, building it unless the same one is kept."""
    machine.require(["mmdebstrap"])
    suite, options, sources = mirrors.arguments()
    kept = FOLDER / f"{kind}-{images.digest(image, suite, sources)}"
    if kept.is_dir():
        return kept
    print(f"bench: building the root file system of the hosts from {suite} packages", file=sys.stderr, flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    part, files = (FOLDER / f"{name}.{os.getpid()}.part" for name in (kind, "files"))
    try:
        images.files_tar(image, files)
        setup = [f'chroot "$1" sh /setup/{number}.sh' for number in range(len(image.setup))]
        hooks = [f'tar-in "{files}" /', *setup, 'rm -r "$1/setup"']
        images.bootstrap(suite, options, sources, image.packages, part, hooks, form="directory")
        os.rename(part, kept)
    finally:
        files.unlink(missing_ok=True)
        shutil.rmtree(part, ignore_errors=True)
    for older in FOLDER.glob(f"{kind}-*"):
        if older != kept:
            shutil.rmtree(older)
    return kept
