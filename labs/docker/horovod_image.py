# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The image with upstream Horovod and TensorFlow, for Horovod's own benchmark in place of the lab's gradient exchange.

Python packages come from wherever pip on this machine gets its own; no index is known here. They are fetched on the machine,
so that its pip's settings hold as they are, and installed without a network. Horovod is compiled in a root file system that
is thrown away, so that the image holds no compiler.
"""

import hashlib
import os
import shutil
from pathlib import Path

import images
from shell import LabError, run, succeeds
from state import LAB, ROOT

NAME = "taco-lab/horovod:1"
SCRIPT = "tensorflow2_synthetic_benchmark.py"
EXAMPLES = "examples/tensorflow2"  # where it lies in Horovod's repository
REQUIREMENTS = "horovod/requirements.txt"
SETUP = "horovod/setup.sh"
WHEEL = "horovod/wheel.sh"
COMPILER = "g++ make cmake libopenmpi-dev python3-dev python3-setuptools python3-wheel".split()
FOLDER = LAB / "wheels"
KEPT = LAB / "horovod"  # the benchmark, which horovod/variables.yml delivers from here
# Wheels are made for one Python on one kind of processor; these are what the release and the versions were tried on.
SUITE, PYTHON, PROCESSOR = "bookworm", (3, 11), "x86_64"
DISK_GIB = 20
FETCH_SECONDS, COMPILE_SECONDS = 1800, 3600


def find_script(given):
    """Return Horovod's benchmark from its path, or from that of a copy of Horovod's repository."""
    where = f"{EXAMPLES}/{SCRIPT} of Horovod's repository, tag v0.28.1"
    if not given:
        raise LabError(
            f"the image horovod needs Horovod's own benchmark, which is no part of its package: give {where}, or a folder "
            "that holds that repository, with --horovod-script PATH (make demo-horovod HOROVOD_SCRIPT=PATH)"
        )
    path = Path(given).expanduser().resolve()
    if path.is_dir():
        path = path / EXAMPLES / SCRIPT
    if not path.is_file():
        raise LabError(f"--horovod-script: there is no file {path}; it is {where}")
    if b"import horovod.tensorflow" not in path.read_bytes():
        raise LabError(f"--horovod-script: {path} doesn't import horovod.tensorflow; wanted is {where}")
    return path


def keep_script(script):
    """Copy the benchmark to where horovod/variables.yml names it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(str(script), str(KEPT / SCRIPT))


def image():
    """The contents of the image. The benchmark is not part of it, because it is not part of Horovod's package."""
    return images.Image(
        NAME,
        images.RANK_PACKAGES,
        [(REQUIREMENTS, "wheels/requirements.txt", 0o644)],
        [images.RANK_SETUP, SETUP],
        ["sleep", "infinity"],
        ["horovod_image.py", WHEEL],
        wheels_hooks,
    )


def wheels_hooks(suite, options, sources):
    """Return the hook that brings the wheels into the image that is built."""
    return [f'sync-in "{wheels(suite, options, sources)}" /wheels']


def digest(suite, sources):
    """Return the hash of everything that decides what the wheels are."""
    parts = [repr((suite, sorted(sources), images.RANK_PACKAGES, COMPILER))]
    parts += [(images.HERE / name).read_text(encoding="utf-8") for name in (REQUIREMENTS, WHEEL)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def wheels(suite, options, sources):
    """Return the folder with the wheels of Horovod and all that it needs; fetches and compiles unless the same are kept."""
    folder = FOLDER / digest(suite, sources)
    if folder.exists():
        return folder
    require(suite, os.uname().machine)
    unfinished = folder.with_suffix(f".{os.getpid()}.part")
    if FOLDER.exists():
        shutil.rmtree(str(FOLDER))
    unfinished.mkdir(parents=True)
    print("lab: fetching TensorFlow and Horovod with pip", flush=True)
    fetch(interpreter(), unfinished)
    print("lab: compiling Horovod", flush=True)
    compile_wheel(suite, options, sources, unfinished)
    os.replace(str(unfinished), str(folder))
    return folder


def require(suite, processor):
    """Refuse a machine whose packages these wheels wouldn't fit."""
    if (suite, processor) != (SUITE, PROCESSOR):
        raise LabError(
            f"the image horovod is made from packages of {SUITE} (Debian 12) for {PROCESSOR}, and this machine is {suite} on "
            f"{processor}: use a machine of that kind, or the image training"
        )


def interpreter(candidates=None):
    """Return a Python with pip of the version in the image, for which pip then chooses wheels."""
    if candidates is None:
        candidates = [str(ROOT / ".venv/bin/python"), "/usr/bin/python3.11", shutil.which("python3.11")]
    fits = f"import pip, sys; sys.exit(sys.version_info[:2] != {PYTHON})"
    for candidate in filter(None, candidates):
        if succeeds([candidate, "-c", fits]):
            return candidate
    version = "%d.%d" % PYTHON
    raise LabError(
        f"no Python {version} with pip, to choose the packages of the image horovod, which has Python {version}: neither "
        f".venv nor the path has one; install python3-pip, or make .venv with it: make venv PYTHON=python{version}"
    )


def fetch(python, folder):
    """Fetch Horovod's source and the wheels of all that it needs, with the machine's own settings for pip."""
    command = [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    command += ["--only-binary", ":all:", "--no-binary", "horovod", "--requirement", str(images.HERE / REQUIREMENTS)]
    run(command, timeout=FETCH_SECONDS)


def compile_wheel(suite, options, sources, folder):
    """Add Horovod's wheel to a folder with its source, in place of that source."""
    hooks = ['mkdir "$1/wheels"', f'sync-in "{folder}" /wheels', f'upload "{images.HERE / WHEEL}" /wheel.sh']
    hooks += ['chroot "$1" sh /wheel.sh', f'sync-out /built "{folder}"']
    packages = images.RANK_PACKAGES + COMPILER
    images.bootstrap(suite, options, sources, packages, "/dev/null", hooks, form="null", timeout=COMPILE_SECONDS)
    for path in folder.glob("horovod-*.tar.gz"):
        path.unlink()
