# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A world for the bench that ends with it: its own mounts, network and processes.

The kernel takes all of it down when the first process in there ends, however that happens: hosts, engine, bridge, mounts
and files. The network has no way out, so no host of the bench can be reached from elsewhere.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

INSIDE = "TACO_BENCH_FOLDER"
MEMORY = "75%"


def refuse_without_root():
    if os.geteuid() != 0:
        raise SystemExit(
            "bench: root is needed, to make hosts of namespaces and overlays: run it as root (sudo make bench)"
        )
    missing = [
        name for name in ("unshare", "nsenter", "ip", "pivot_root", "ssh", "ssh-keygen") if not shutil.which(name)
    ]
    if missing:
        raise SystemExit(
            f"bench: missing: {', '.join(missing)}; install with: apt-get install util-linux iproute2 openssh-client"
        )


def folder():
    """Return the folder of the run when this process is inside, None when it is not."""
    found = os.environ.get(INSIDE)
    return Path(found) if found else None


def enter(arguments):
    """Run the bench again, inside, and return its exit status; leave nothing behind."""
    refuse_without_root()
    work = tempfile.mkdtemp(prefix="taco-bench-")
    command = [
        "unshare",
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
        "--propagation",
        "private",
    ]
    child = None
    # A second Ctrl-C must not stop the cleaning up after the first.
    previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        child = subprocess.Popen(
            [*command, sys.executable, "-m", "bench", *arguments], env=dict(os.environ, **{INSIDE: work})
        )
        return child.wait()
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if child is not None and child.poll() is None:
            child.kill()
        if child is not None:
            child.wait()
        # The mounts went with the namespace; what is left is the empty folder.
        os.rmdir(work)
        signal.signal(signal.SIGTERM, previous)


def furnish(work):
    """Make the folder of the run a file system in memory that nobody outside sees."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=700,size={MEMORY}", "tmpfs", str(work)], check=True)
