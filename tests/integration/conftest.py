# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the integration tests share: real commands, run as a user runs them."""

import os
import subprocess

import pytest
from integration.paths import COLLECTION, ROOT


@pytest.fixture(scope="session")
def command():
    """Return a function that runs a command of .venv and returns what became of it, stdout and stderr in one."""

    def run(*arguments, cwd=ROOT, timeout=300, **environment):
        known = {"HOME", "LANG", "SSH_AUTH_SOCK", "TMPDIR", "PIP_CERT", "SSL_CERT_FILE", "GIT_SSL_CAINFO"}
        known |= {"NO_COLOR", "ANSIBLE_NOCOLOR", "TERM"}
        base = {name: value for name, value in os.environ.items() if name in known}
        base["PATH"] = str(ROOT / ".venv/bin") + os.pathsep + os.environ["PATH"]
        base.update(PWD=str(cwd), PYTHONDONTWRITEBYTECODE="1", **environment)
        return subprocess.run(
            [str(argument) for argument in arguments],
            cwd=str(cwd),
            env=base,
            timeout=timeout,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    return run


@pytest.fixture(scope="session")
def tarballs(command, tmp_path_factory):
    """Return the artifacts of a build at the repository's root and of one in the collection's folder."""
    built = {}
    for name, source in {"root": ROOT, "folder": COLLECTION}.items():
        target = tmp_path_factory.mktemp("build-" + name)
        done = command("ansible-galaxy", "collection", "build", source, "--output-path", target)
        assert done.returncode == 0, done.stdout
        built[name] = next(target.glob("taco-train-*.tar.gz"))
    return built
