# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ranks that keep the sampling process of a run alive."""

import os
import subprocess
import sys

from ansible_collections.taco.train.plugins.module_utils._process import ranks


def test_a_rank_is_known_by_a_variable_of_mpirun():
    assert ranks.is_rank(b"A=1\0PMIX_RANK=0\0") and ranks.is_rank(b"OMPI_COMM_WORLD_RANK=3\0B=")
    assert not ranks.is_rank(b"A=PMIX_RANK=0\0XPMIX_RANK=0\0") and not ranks.is_rank(b"")


def test_a_rank_and_the_holder_of_the_lock_are_active_runs(monkeypatch):
    # Tests beside this one have ranks, too.
    monkeypatch.setattr(ranks, "RANK_VARIABLES", (b"RANK_OF_THIS_TEST",))
    monkeypatch.setattr(ranks, "LOCK", "/lock-of-this-test")
    wait = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert not ranks.run_is_active()
    for command, environment in ((wait, dict(os.environ, RANK_OF_THIS_TEST="0")), (wait + [ranks.LOCK], None)):
        with subprocess.Popen(command, env=environment) as process:
            try:
                # Its environment is there once the program is.
                while not ranks.run_is_active() and process.poll() is None:
                    pass
                assert process.poll() is None
            finally:
                process.kill()
    assert not ranks.run_is_active()
