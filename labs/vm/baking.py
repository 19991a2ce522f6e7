# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Put an image into the store of an engine that doesn't run yet.

Loading it inside an emulated machine takes minutes; an engine of this machine does it in seconds on the mounted disk.
"""

import shutil
import subprocess
import time

from shell import LabError, run, succeeds

START_SECONDS = 60


def bake(data_root, archive, scratch):
    """Load the archive of an image into data_root with an engine that lives only for that."""
    scratch.mkdir(parents=True, exist_ok=True)
    address = "unix://%s" % (scratch / "d.sock")
    command = ["dockerd", "--data-root", str(data_root), "--exec-root", str(scratch / "x"), "--host", address]
    command += ["--pidfile", str(scratch / "d.pid"), "--bridge=none", "--iptables=false", "--ip-forward=false"]
    command += ["--storage-driver=overlay2"]
    with open(scratch / "d.log", "ab") as log:
        daemon = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/"
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not succeeds(["docker", "--host", address, "info"]):
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise LabError("dockerd didn't start; see %s" % (scratch / "d.log"))
            time.sleep(0.2)
        run(["docker", "--host", address, "load", "--quiet", "--input", str(archive)])
    finally:
        # It ends its containerd itself, and only then is the file system free to be unmounted.
        daemon.terminate()
        daemon.wait(60)
    shutil.rmtree(str(scratch))
