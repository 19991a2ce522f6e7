# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build a Horovod into a folder that is there as a whole or not at all. Runs in the worker."""

import json
import os
import shutil
import sys
import time
from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_prefix import (
    BUILD_FILE,
    LOG,
    UNFINISHED,
    failure_words,
    missing_requirements,
    pip_install,
    python_path,
    requirement,
)
from ansible_collections.taco.train.plugins.module_utils._files.atomic import replace_file, sync_folder
from ansible_collections.taco.train.plugins.module_utils._process.shortened import read_shortened
from ansible_collections.taco.train.plugins.module_utils._process.supervised import JobError, Stopped, run
from ansible_collections.taco.train.plugins.module_utils._process.timed import Output, run_timed

# Where the documents' build line has Open MPI, of which the build runs the compiler.
OPEN_MPI = "/usr/local/openmpi/bin"
GRACE_SECONDS = 10
CHECK_SECONDS = 120
LOG_BYTES = 1024 * 1024
IMPORT = "import horovod; print(horovod.__version__); print(horovod.__file__)"


class BuildError(Exception):
    """Horovod was not built; nothing of it is left but the log."""


class Builder:
    """One build: its folders, its log and the seconds it has left."""

    def __init__(self, prefix: str, options: Dict[str, Any], seen: Dict[str, Any]) -> None:
        self.prefix = prefix
        self.unfinished = prefix + UNFINISHED
        self.log = prefix + LOG
        self.options = options
        self.pip_version = seen["packages"]["pip"]
        self.own_path = seen["pythonpath"]
        self.end = time.monotonic() + options["build_timeout"]

    def _fail(self, what: str) -> BuildError:
        said = failure_words(read_shortened(self.log, LOG_BYTES))
        return BuildError(f"{what}. It said: {said}. All of it is in {self.log} in the worker")

    def pip(self, log: Any, what: List[str], whole: bool) -> None:
        """Install into the unfinished folder, or raise with the end of the log."""
        words = pip_install(self.pip_version, self.unfinished, what, self.options["pip_args"], whole)
        environment = dict(self.options["horovod_build_env"], LC_ALL="C.UTF-8")
        environment["PATH"] = os.pathsep.join([OPEN_MPI, os.environ.get("PATH", os.defpath)])
        seconds = max(1, self.end - time.monotonic())
        folder = os.path.dirname(self.prefix)
        try:
            done = run([sys.executable, "-m", "pip"] + words, seconds, GRACE_SECONDS, log, folder, environment)
        except Stopped as error:
            raise BuildError(f"the build of {' '.join(what)} was ended by {error}; its log is {self.log}") from error
        except JobError as error:
            raise BuildError(str(error)) from error
        if done.timed_out:
            limit = self.options["build_timeout"]
            raise self._fail(f"pip did not end within {limit} s: set build_timeout to more")
        if done.rc != 0:
            raise self._fail(f"pip could not install {' '.join(what)} (exit status {done.rc})")

    def python(self, *words: str) -> Output:
        """Run Python with the unfinished folder before everything else.

        Python looks into the current folder first, and the image's may be a checkout of Horovod.
        """
        path = "PYTHONPATH=" + python_path(self.unfinished, self.own_path)
        return run_timed(["env", path, sys.executable] + list(words), CHECK_SECONDS, folder=self.unfinished)

    def prove(self) -> Dict[str, str]:
        """Return the version and the file of the Horovod that a run would import; raise when that isn't this one."""
        done = self.python("-c", IMPORT)
        lines = done.stdout.strip().splitlines()[-2:]
        if done.status != 0 or len(lines) != 2:
            said = " ".join((done.stderr or done.stdout).split())[-500:]
            raise BuildError(f"the Horovod that was built can't be imported: {said}; the build's log is {self.log}")
        version, file = lines
        inside = os.path.realpath(file).startswith(os.path.realpath(self.unfinished) + os.sep)
        if not inside:
            raise BuildError(f"a run would import Horovod {version} from {file}, not the one built: is it in pip_args?")
        if version != self.options["horovod_version"]:
            wanted = self.options["horovod_version"]
            raise BuildError(
                f"Horovod {version} was built and horovod_version is {wanted}: set it to what the source is"
            )
        return {"version": version, "file": os.path.relpath(file, self.unfinished)}

    def build(self, key: str) -> None:
        """Build, prove, and give it its name. The folder that has the name is complete."""
        folder = os.path.dirname(self.prefix)
        os.makedirs(folder, exist_ok=True)
        for stale in (self.unfinished, self.prefix):
            if os.path.lexists(stale):
                shutil.rmtree(stale)
        what = [requirement(self.options["horovod_version"], self.options["horovod_source"])]
        try:
            # What a build prints can hold what its environment holds: nobody else reads it.
            with os.fdopen(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as log:
                self.pip(log, what, whole=False)
                missing = missing_requirements(self.python("-m", "pip", "check").stdout)
                if missing:
                    # Only those: what the image has stays what every arm runs with.
                    self.pip(log, missing, whole=True)
            told = {"key": key, "requirement": what[0], "added": missing, "horovod": self.prove()}
            text = json.dumps(told, indent=1, sort_keys=True) + "\n"
            replace_file(os.path.join(self.unfinished, BUILD_FILE), text.encode("utf-8"))
            os.sync()  # every file of it before its name
            os.rename(self.unfinished, self.prefix)
            sync_folder(folder)
        finally:
            if os.path.lexists(self.unfinished):
                shutil.rmtree(self.unfinished)
