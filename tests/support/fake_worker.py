# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A worker to switch arms on: a container engine whose containers are mount namespaces of this machine, and a Horovod
small enough to be built by a real pip within a second."""

import io
import json
import os
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

IMAGE = {"image": "registry.example/taco:0.3.2", "image_id": "sha256:" + "a" * 64}
DIGEST = "registry.example/taco@sha256:" + "b" * 64

# It answers what the real one answers: of one container, of its image, and by running commands with /mnt on another file
# system and the environment of the image.
ENGINE = """#!{python}
import json, os, sys
with open({facts!r}) as file:
    facts = json.load(file)
words = sys.argv[1:]
if words[0] == "inspect" and words[2] == "container" and words[-1] == "box":
    print(json.dumps(facts["container"]))
elif words[0] == "inspect" and words[2] == "image" and words[-1] == facts["container"]["image_id"]:
    print(json.dumps(facts["digests"]))
elif words[:3] == ["exec", "-i", "box"]:
    with open({facts!r} + ".log", "a") as log:
        log.write(" ".join(words[3:]) + "\\n")
    own = ["--map-root-user"] if os.geteuid() else []
    inside = ["sh", "-c", 'mount --bind "$1" /mnt && shift && exec "$@"', "sh", {mnt!r}] + words[3:]
    os.execvpe("unshare", ["unshare", "--mount"] + own + inside, dict(os.environ, **facts["environment"]))
else:
    sys.exit("Error: No such object: " + words[-1])
"""

# A build backend that needs nothing, and writes into the package with which environment it was called.
BACKEND = """
import json, os, zipfile

VERSION = {version!r}

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if os.environ.get("HOROVOD_BREAK"):
        raise SystemExit("CMake Error: could not find MPI")
    built_with = {{name: value for name, value in os.environ.items() if name.startswith("HOROVOD")}}
    name = "horovod-" + VERSION + "-py3-none-any.whl"
    info = "horovod-" + VERSION + ".dist-info/"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("horovod/__init__.py", "__version__ = %r\\nbuilt_with = %s\\n{imports}" % (VERSION, built_with))
        metadata = "Metadata-Version: 2.1\\nName: horovod\\nVersion: " + VERSION + "\\n{requires}"
        wheel.writestr(info + "METADATA", metadata)
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


def write_sdist(folder, version="0.21.3", requires="", imports=""):
    """Write an archive of the sources of a small Horovod, and return its path."""
    backend = BACKEND.format(version=version, requires=requires, imports=imports)
    project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    info = f"Metadata-Version: 2.1\nName: horovod\nVersion: {version}\n"
    path = Path(folder) / f"horovod-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {"backend.py": backend, "pyproject.toml": project, "PKG-INFO": info}.items():
            member = tarfile.TarInfo(f"horovod-{version}/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def write_wheel(folder, name, version):
    """Write a package of one empty module, and return its path."""
    path = Path(folder) / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info/"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")
    return path


class Worker:
    """A container called box: its image's Python packages, its library folder, and a /mnt on another file system."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.lib = self.folder / "lib"
        self.site = self.folder / "site"
        self.state = self.folder / "state"
        self.index = self.folder / "index"
        for made in (self.lib, self.site, self.index):
            made.mkdir()
        self.shared_memory = tempfile.TemporaryDirectory(dir="/dev/shm", prefix="taco-train-test-")
        self.mnt = Path(self.shared_memory.name)
        self.plugin = self.lib / "libnccl-net.so"
        self.facts = self.folder / "facts.json"
        self.engine = self.folder / "engine"
        self.container = dict(IMAGE, running=True, id="1" * 64)
        self.environment = {"PYTHONPATH": str(self.site)}
        self.write_facts()
        text = ENGINE.format(python=sys.executable, facts=str(self.facts), mnt=str(self.mnt))
        self.engine.write_text(text)
        self.engine.chmod(0o755)

    def write_facts(self):
        facts = {"container": self.container, "digests": [DIGEST], "environment": self.environment}
        self.facts.write_text(json.dumps(facts))

    def give_plugin(self, path=None, content=b"\x7fELF harp"):
        """Put a plugin there, with a mode and a time that a new file would not have."""
        path = path or self.plugin
        path.write_bytes(content)
        path.chmod(0o754)
        os.utime(path, ns=(1_600_000_000_123_456_789, 1_600_000_000_987_654_321))
        return path

    def give_lightcc(self, name="light_horovod", version="0.3.2"):
        """Install LightCC, which brings the package horovod under another distribution's name."""
        (self.site / "horovod").mkdir()
        (self.site / "horovod/__init__.py").write_text('__version__ = "LightCC"\n')
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    def commands(self):
        """The commands that ran in the container, oldest first."""
        log = Path(str(self.facts) + ".log")
        return log.read_text().splitlines() if log.exists() else []

    def close(self):
        self.shared_memory.cleanup()


def facts_of(path):
    """Return all that must stay as it was: bytes or the link's target, mode, owner, time."""
    found = os.lstat(path)
    content = os.readlink(path) if path.is_symlink() else path.read_bytes()
    return content, found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns


def tree_of(*folders):
    """Return {path: facts} of every file below the folders."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()]
    return {str(path): facts_of(path) for path in files}


def worker_options(worker, **options):
    """The input of the worker's part of the module, for tests that run it in their own process."""
    common = {
        "state": "present",
        "plugin": "keep",
        "plugin_path": str(worker.plugin),
        "horovod": "image",
        "horovod_version": "0.21.3",
        "horovod_build_env": {},
        "horovod_source": None,
        "pip_args": ["--no-index", "--find-links", str(worker.index)],
        "prefix_dir": str(worker.state / "horovod"),
        "build_timeout": 300,
        "requires": [],
        "container": "box",
        "interrupt_running_work": False,
        "state_dir": str(worker.state),
        "image_id": None,
        "check_mode": False,
    }
    return dict(common, **options)
