# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the lab's images from the machine's own packages, and keep them.

An image is kept as the archive that `docker load` reads, under the hash of everything it was made from. Its content alone
decides its id, so all nodes have the same one.
"""

import hashlib
import io
import json
import os
import tarfile
import threading
from pathlib import Path
from typing import Callable, List, NamedTuple, Optional

import machine
import mirrors
from shell import run
from state import LAB

HERE = Path(__file__).resolve().parent
FOLDER = LAB / "images"
EPOCH = "2026-01-01T00:00:00Z"
# Nobody reads manuals in a lab; leaving them out makes the images a third smaller.
LEFT_OUT = (
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/doc/*",
    "/usr/share/bug/*",
    "/usr/share/lintian/*",
)
FORGET = (
    'cd "$1/etc" && rm -f apt/apt.conf.d/99mmdebstrap apt/sources.list.d/* resolv.conf hostname && : > apt/sources.list'
)


class Image(NamedTuple):
    """What an image is made of: packages, files for its root, and its setup scripts that run inside."""

    name: str
    packages: List[str]
    files: List[tuple]  # (file below HERE or with its whole path, path in the image, mode)
    setup: List[str]  # files below HERE, run in this order
    command: List[str]
    inputs: List[str] = []
    """Further files below HERE that decide what is in it."""
    prepare: Optional[Callable] = None
    """Called as prepare(suite, options, sources) before it is built, and returns hooks of mmdebstrap that run before setup."""


NODE = Image(
    "taco-lab/node:1",
    "systemd-sysv dbus openssh-server python3 python3-requests iproute2 procps kmod grub-common grub2-common docker.io".split(),
    [("node/grub", "etc/default/grub", 0o644), ("node/grub-probe", "usr/local/lib/taco-lab/grub-probe", 0o755)],
    ["node/setup.sh"],
    ["/sbin/init"],
)
# What the training workload imports, installed in the image as a framework is. benchmark_options.script delivers the workload.
PACKAGES = "usr/lib/python3/dist-packages"
WORKLOAD_MODULES = "collectives exchange_plan exchange_settings gradients model_tensors topk traffic".split()
# What ranks of mpirun need in a container, whatever they compute.
RANK_PACKAGES = "openmpi-bin openssh-server openssh-client python3 python3-pip iproute2 procps".split()
RANK_SETUP = "training/openmpi.sh"
TRAINING = Image(
    "taco-lab/training:1",
    RANK_PACKAGES + ["python3-mpi4py", "python3-numpy"],
    [(f"training/{module}.py", f"{PACKAGES}/{module}.py", 0o644) for module in WORKLOAD_MODULES],
    [RANK_SETUP, "training/setup.sh"],
    ["sleep", "infinity"],
)


def digest(image, suite, sources):
    """Return the hash of everything that decides what is in an image."""
    # Where a file lies on the machine decides nothing; what it holds does.
    targets = [(target, mode) for _name, target, mode in image.files]
    parts = [repr((suite, sorted(sources), image.name, image.packages, targets, image.command, LEFT_OUT)).encode()]
    for name in [name for name, _path, _mode in image.files] + image.setup + image.inputs + ["images.py"]:
        parts.append((HERE / name).read_bytes())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def files_tar(image, path):
    """Write the tar of an image's own files, owned by root whoever builds it."""
    with tarfile.open(str(path), "w") as tar:
        setup = [(name, f"setup/{number}.sh", 0o755) for number, name in enumerate(image.setup)]
        for name, target, mode in image.files + setup:
            content = (HERE / name).read_bytes()
            member = tarfile.TarInfo(target)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))


def bootstrap(suite, options, sources, packages, target, hooks=(), form="tar", timeout=1200):
    """Write the tar of a root file system with these packages; form "null" leaves nothing but what the hooks took out."""
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=" + ",".join(packages)] + options
    command += ['--aptopt=Acquire::Languages "none"', '--aptopt=APT::Install-Recommends "false"']
    command += [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    command += [f"--customize-hook={hook}" for hook in hooks]
    # Nothing of this machine stays in the image: neither mirrors nor proxies, neither its name nor its resolver.
    command += [f"--customize-hook={FORGET}"]
    # What a setup script makes there has to be there: in a container nothing else makes it.
    command += ["--skip=cleanup/run"]
    run(command + [f"--format={form}", suite, str(target)] + sources, timeout=timeout)


def config(image, layer_digest):
    """Return the text of an image's configuration; its hash is the image's id."""
    return json.dumps(
        {
            "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine),
            "os": "linux",
            "created": EPOCH,
            "config": {
                "Cmd": image.command,
                "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
                "Labels": {"org.opencontainers.image.description": "Part of the taco.train lab; not for training"},
            },
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + layer_digest]},
            "history": [{"created": EPOCH, "created_by": "taco.train lab"}],
        },
        sort_keys=True,
    )


def write_archive(image, root_tar, archive):
    """Write what `docker load` reads from the tar of a root file system."""
    layer_digest = hashlib.sha256()
    with open(root_tar, "rb") as handle:
        for block in iter(lambda: handle.read(1 << 20), b""):
            layer_digest.update(block)
    text = config(image, layer_digest.hexdigest()).encode()
    identity = hashlib.sha256(text).hexdigest()
    manifest = json.dumps([{"Config": identity + ".json", "RepoTags": [image.name], "Layers": ["layer.tar"]}]).encode()
    unfinished = archive.with_suffix(".part")
    with tarfile.open(str(unfinished), "w") as tar:
        # The small members first: the id of an image can be read without its layer.
        for name, content in (("manifest.json", manifest), (identity + ".json", text)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        tar.add(str(root_tar), "layer.tar")
    os.replace(str(unfinished), str(archive))


def manifest_of(archive):
    """Return the entry of an archive's only image, as `docker load` reads it."""
    with tarfile.open(str(archive)) as tar:
        (entry,) = json.load(tar.extractfile(tar.next()))
    return entry


def identity(archive):
    """Return the id that the image in an archive has in every engine."""
    return "sha256:" + manifest_of(archive)["Config"].split(".")[0]


def name_in(archive):
    """Return the name of the image in an archive."""
    return manifest_of(archive)["RepoTags"][0]


def build(image, suite, options, sources):
    """Return the archive of an image, building it unless the same one is kept."""
    archive = FOLDER / (digest(image, suite, sources) + ".tar")
    if archive.exists():
        return archive
    print(f"lab: building {image.name} from {suite} packages", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    scratch = LAB / "build"
    scratch.mkdir(parents=True, exist_ok=True)
    # Names of this process alone: if the lab is killed, mmdebstrap works on for a while and must not write into ours.
    files, root_tar = (scratch / f"{archive.stem}.{os.getpid()}.{kind}.tar" for kind in ("files", "root"))
    files_tar(image, files)
    hooks = [f'tar-in "{files}" /'] + (image.prepare(suite, options, sources) if image.prepare else [])
    hooks += [f'chroot "$1" sh /setup/{number}.sh' for number in range(len(image.setup))] + ['rm -r "$1/setup"']
    bootstrap(suite, options, sources, image.packages, root_tar, hooks)
    write_archive(image, root_tar, archive)
    for path in (files, root_tar):
        path.unlink()
    return archive


def forget_older(archives):
    """Remove earlier builds of these images, given as {image name: archive}, and what a killed build left."""
    for path in FOLDER.iterdir():
        if path not in archives.values() and (path.suffix != ".tar" or name_in(path) in archives):
            path.unlink()


def build_all(wanted):
    """Return {image name: archive} of these images, building side by side what isn't kept, and forget older ones."""
    machine.require(["mmdebstrap"])
    machine.require_unshare()
    suite, options, sources = mirrors.arguments()
    archives, failures = {}, []

    def work(image):
        try:
            archives[image.name] = build(image, suite, options, sources)
        except Exception as error:  # raised again below, in the thread that asked
            failures.append(error)

    threads = [threading.Thread(target=work, args=(image,)) for image in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    forget_older(archives)
    return archives
