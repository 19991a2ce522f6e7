# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images are kept under the hash of their inputs, and their content alone decides their id."""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import images
import pytest

SOURCES = ["deb http://a/debian bookworm main", "deb http://a/debian bookworm-updates main"]


@pytest.fixture
def layer(tmp_path):
    path = tmp_path / "root.tar"
    content = tmp_path / "file"
    content.write_text("content")
    with tarfile.open(path, "w") as tar:
        tar.add(content, "etc/file")
    return path


def test_the_hash_follows_what_goes_in():
    base = images.digest(images.NODE, "bookworm", SOURCES)
    assert base == images.digest(images.NODE, "bookworm", SOURCES[::-1])
    assert base != images.digest(images.NODE, "trixie", SOURCES)
    assert base != images.digest(images.NODE, "bookworm", SOURCES[:1])
    assert base != images.digest(images.NODE._replace(packages=["more"]), "bookworm", SOURCES)
    assert base != images.digest(images.TRAINING, "bookworm", SOURCES)
    assert base != images.digest(images.NODE._replace(inputs=["training/topk.py"]), "bookworm", SOURCES)


def test_the_hash_follows_what_a_file_holds_and_not_where_it_lies(tmp_path):
    def digest(folder, text):
        path = tmp_path / folder / "file"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return images.digest(images.NODE._replace(files=[(str(path), "etc/file", 0o644)]), "bookworm", SOURCES)

    base = digest("one", "text")
    assert base == digest("two", "text")
    assert base != digest("two", "another text")


def test_an_archive_is_what_docker_load_reads(layer, tmp_path):
    archive = tmp_path / "image.tar"
    images.write_archive(images.TRAINING, layer, archive)
    with tarfile.open(archive) as tar:
        (manifest,) = json.load(tar.extractfile("manifest.json"))
        text = tar.extractfile(manifest["Config"]).read()
        assert tar.extractfile("layer.tar").read() == layer.read_bytes()
    config = json.loads(text)
    assert manifest["RepoTags"] == ["taco-lab/training:1"]
    assert config["config"]["Cmd"] == ["sleep", "infinity"]
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer.read_bytes()).hexdigest()]
    assert images.identity(archive) == "sha256:" + hashlib.sha256(text).hexdigest()
    assert not archive.with_suffix(".part").exists()


def test_two_archives_of_one_content_have_one_id(layer, tmp_path):
    ids = set()
    for name in ("one.tar", "two.tar"):
        images.write_archive(images.NODE, layer, tmp_path / name)
        ids.add(images.identity(tmp_path / name))
    assert len(ids) == 1


@pytest.mark.parametrize("image", [images.NODE, images.TRAINING], ids=lambda image: image.name)
def test_files_of_an_image_belong_to_root_and_keep_their_modes(image, tmp_path):
    path = tmp_path / "files.tar"
    images.files_tar(image, path)
    with tarfile.open(path) as tar:
        members = {member.name: member for member in tar}
    scripts = {f"setup/{number}.sh": name for number, name in enumerate(image.setup)}
    assert set(members) == {target for _name, target, _mode in image.files} | set(scripts)
    assert {(member.uid, member.gid) for member in members.values()} == {(0, 0)}
    for _name, target, mode in image.files:
        assert members[target].mode == mode
    for target, name in scripts.items():
        assert members[target].size == (images.HERE / name).stat().st_size


def test_setup_scripts_run_in_their_order_after_what_was_prepared(monkeypatch, tmp_path):
    monkeypatch.setattr(images, "FOLDER", tmp_path / "images")
    monkeypatch.setattr(images, "LAB", tmp_path)
    asked = []

    def bootstrap(suite, options, sources, packages, target, hooks):
        asked.extend(hooks)
        with tarfile.open(target, "w"):
            pass

    monkeypatch.setattr(images, "bootstrap", bootstrap)
    image = images.TRAINING._replace(prepare=lambda suite, options, sources: [f"prepared for {suite}"])
    archive = images.build(image, "bookworm", [], SOURCES)
    assert asked[0].startswith("tar-in ")
    assert asked[1:] == [
        "prepared for bookworm",
        'chroot "$1" sh /setup/0.sh',
        'chroot "$1" sh /setup/1.sh',
        'rm -r "$1/setup"',
    ]
    assert images.build(image, "bookworm", [], SOURCES) == archive
    assert len(asked) == 5
    assert list((tmp_path / "build").iterdir()) == []


def test_older_builds_of_the_same_images_are_forgotten_and_other_images_kept(monkeypatch, layer, tmp_path):
    monkeypatch.setattr(images, "FOLDER", tmp_path / "images")
    images.FOLDER.mkdir()
    older, newer, node, other = (images.FOLDER / f"{name}.tar" for name in ("older", "newer", "node", "other"))
    for archive, image in ((older, images.TRAINING), (newer, images.TRAINING), (node, images.NODE)):
        images.write_archive(image, layer, archive)
    images.write_archive(images.TRAINING._replace(name="taco-lab/other:1"), layer, other)
    (images.FOLDER / "killed.part").write_bytes(b"half an arch")
    images.forget_older({images.TRAINING.name: newer, images.NODE.name: node})
    assert set(images.FOLDER.iterdir()) == {newer, node, other}


def test_the_training_image_has_no_script_that_a_real_image_lacks():
    assert {str(Path(target).parent) for _name, target, _mode in images.TRAINING.files} == {images.PACKAGES}
    assert "gradient_exchange" not in images.WORKLOAD_MODULES


def test_the_training_workload_starts_from_what_is_in_its_image(tmp_path):
    images.files_tar(images.TRAINING, tmp_path / "files.tar")
    with tarfile.open(tmp_path / "files.tar") as tar:
        tar.extractall(tmp_path)
    script = tmp_path / "state/gradient_exchange.py"
    script.parent.mkdir()
    script.write_bytes((images.HERE / "training/gradient_exchange.py").read_bytes())
    environment = dict(os.environ, PYTHONPATH=str(tmp_path / images.PACKAGES))
    command = [sys.executable, "-S", str(script), "--help"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    assert b"transformerxl" in done.stdout
    here = {path.stem for path in (images.HERE / "training").glob("*.py")}
    assert here == set(images.WORKLOAD_MODULES) | {"gradient_exchange"}


def test_no_mirror_and_no_proxy_stays_in_an_image(monkeypatch, tmp_path):
    commands = []
    monkeypatch.setattr(images, "run", lambda command, timeout: commands.append(command))
    options = ['--aptopt=Acquire::http::Proxy "http://user:secret@proxy.example"']
    images.bootstrap("bookworm", options, SOURCES, ["dbus"], tmp_path / "x.tar", ["first"])
    (command,) = commands
    hooks = [word for word in command if word.startswith("--customize-hook=")]
    assert hooks[0] == "--customize-hook=first"
    assert "apt.conf.d/99mmdebstrap" in hooks[-1] and "sources.list" in hooks[-1]
    assert command[-3:] == [str(tmp_path / "x.tar")] + SOURCES
    assert options[0] in command
