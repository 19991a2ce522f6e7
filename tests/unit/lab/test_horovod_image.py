# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The image with upstream Horovod: what it is made of, and what it refuses before anything is fetched."""

import shutil

import horovod_image
import images
import lab
import pytest
import yaml
from shell import LabError

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm, arm_of
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import PROFILES
from ansible_collections.taco.train.plugins.plugin_utils.workloads import horovod

SOURCES = ["deb http://a/debian bookworm main", "deb http://a/debian bookworm-updates main"]
BENCHMARK = "import horovod.tensorflow as hvd\nhvd.init()\n"


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "horovod/examples/tensorflow2/tensorflow2_synthetic_benchmark.py"
    path.parent.mkdir(parents=True)
    path.write_text(BENCHMARK)
    return path


@pytest.fixture
def recipe(monkeypatch, tmp_path):
    """A copy of the lab's files, for tests that change them."""
    here = tmp_path / "lab"
    shutil.copytree(images.HERE, here, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(images, "HERE", here)
    return here


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Where wheels are kept, with steps that only leave what the real ones would and note their order."""
    steps = []

    def fetch(python, target):
        steps.append("fetch")
        (target / "horovod-0.28.1.tar.gz").write_bytes(b"source")

    def compile_wheel(suite, options, sources, target):
        steps.append("compile")
        (target / "horovod-0.28.1-cp311-cp311-linux_x86_64.whl").write_bytes(b"wheel")

    monkeypatch.setattr(horovod_image, "FOLDER", tmp_path / "wheels")
    monkeypatch.setattr(horovod_image, "require", lambda suite, processor: None)
    monkeypatch.setattr(horovod_image, "interpreter", lambda: "python3.11")
    monkeypatch.setattr(horovod_image, "fetch", fetch)
    monkeypatch.setattr(horovod_image, "compile_wheel", compile_wheel)
    return horovod_image.FOLDER, steps


def executable(path, status):
    path.write_text(f"#!/bin/sh\nexit {status}\n")
    path.chmod(0o755)
    return str(path)


def test_the_benchmark_is_found_by_its_path_and_in_a_copy_of_horovods_repository(script):
    assert horovod_image.find_script(str(script)) == script
    assert horovod_image.find_script(str(script.parents[2])) == script


@pytest.mark.parametrize("given", [None, ""])
def test_without_a_benchmark_it_is_said_where_to_get_it(given):
    with pytest.raises(LabError, match=r"examples/tensorflow2/.*v0\.28\.1.* --horovod-script PATH"):
        horovod_image.find_script(given)


def test_what_is_not_horovods_benchmark_is_refused(tmp_path):
    with pytest.raises(LabError, match="there is no file .*/none.py"):
        horovod_image.find_script(str(tmp_path / "none.py"))
    with pytest.raises(LabError, match="there is no file .*/examples/tensorflow2/"):
        horovod_image.find_script(str(tmp_path))
    (tmp_path / "other.py").write_text("import torch\n")
    with pytest.raises(LabError, match="other.py doesn't import horovod.tensorflow"):
        horovod_image.find_script(str(tmp_path / "other.py"))


def test_the_image_holds_no_benchmark_and_no_stand_in():
    image = horovod_image.image()
    assert image.name == "taco-lab/horovod:1"
    assert [target for _name, target, _mode in image.files] == ["wheels/requirements.txt"]
    assert image.setup == ["training/openmpi.sh", "horovod/setup.sh"]
    text = "".join((images.HERE / name).read_text() for name in image.setup)
    assert "/usr/local/openmpi/bin" in text
    assert "libnccl" not in text and "light" not in text
    assert not set(horovod_image.COMPILER) & set(image.packages)


def test_what_is_installed_has_one_version():
    lines = (images.HERE / horovod_image.REQUIREMENTS).read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["horovod==0.28.1", "tensorflow-cpu==2.12.1"]


def test_the_hash_of_the_image_follows_the_recipe(recipe):
    def digest():
        return images.digest(horovod_image.image(), "bookworm", SOURCES)

    found = [digest()]
    for path in [recipe / name for name in ("horovod/wheel.sh", "horovod/setup.sh", "training/openmpi.sh")]:
        path.write_text(path.read_text() + "# changed\n")
        found.append(digest())
    assert len(set(found)) == 4


def test_the_hash_of_the_wheels_follows_what_they_are_made_from_and_not_the_benchmark(script, recipe):
    base = horovod_image.digest("bookworm", SOURCES)
    script.write_text(BENCHMARK + "# changed\n")
    (recipe / "horovod/setup.sh").write_text("# changed\n")
    assert base == horovod_image.digest("bookworm", SOURCES[::-1])
    assert base != horovod_image.digest("trixie", SOURCES)
    assert base != horovod_image.digest("bookworm", SOURCES[:1])
    found = [base]
    for name in ("horovod/requirements.txt", "horovod/wheel.sh"):
        (recipe / name).write_text((recipe / name).read_text() + "# changed\n")
        found.append(horovod_image.digest("bookworm", SOURCES))
    assert len(set(found)) == 3


def test_wheels_are_made_once_and_brought_into_the_image(folder):
    kept, steps = folder
    kept.mkdir()
    (kept / "older").mkdir()
    hooks = horovod_image.wheels_hooks("bookworm", [], SOURCES)
    made = kept / horovod_image.digest("bookworm", SOURCES)
    assert hooks == [f'sync-in "{made}" /wheels']
    assert horovod_image.wheels("bookworm", [], SOURCES) == made
    assert steps == ["fetch", "compile"]
    assert list(kept.iterdir()) == [made]


def test_wheels_that_could_not_be_made_are_not_taken_for_made(folder, monkeypatch):
    kept, steps = folder
    work = horovod_image.compile_wheel

    def fails(suite, options, sources, target):
        raise LabError("the compiler said no")

    monkeypatch.setattr(horovod_image, "compile_wheel", fails)
    with pytest.raises(LabError, match="the compiler said no"):
        horovod_image.wheels("bookworm", [], SOURCES)
    monkeypatch.setattr(horovod_image, "compile_wheel", work)
    made = horovod_image.wheels("bookworm", [], SOURCES)
    assert (made / "horovod-0.28.1-cp311-cp311-linux_x86_64.whl").exists()
    assert steps == ["fetch", "fetch", "compile"]
    assert list(kept.iterdir()) == [made]


def test_pip_is_asked_with_the_machines_own_settings(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(horovod_image, "run", lambda command, timeout: asked.append(command))
    horovod_image.fetch("python3.11", tmp_path)
    (command,) = asked
    assert command[:4] == ["python3.11", "-m", "pip", "download"]
    assert command[command.index("--dest") + 1] == str(tmp_path)
    assert command[-1] == str(images.HERE / "horovod/requirements.txt")
    # Only Horovod comes as source, and nothing here says where anything comes from.
    assert command[command.index("--only-binary") + 1] == ":all:"
    assert command[command.index("--no-binary") + 1] == "horovod"
    assert not [word for word in command if "://" in word or "index" in word or word == "--isolated"]


def test_horovod_is_compiled_in_a_root_that_is_thrown_away(monkeypatch, tmp_path):
    asked = []

    def bootstrap(suite, options, sources, packages, target, hooks, form, timeout):
        asked.append((packages, target, form))
        assert hooks == [
            'mkdir "$1/wheels"',
            f'sync-in "{tmp_path}" /wheels',
            f'upload "{images.HERE}/horovod/wheel.sh" /wheel.sh',
            'chroot "$1" sh /wheel.sh',
            f'sync-out /built "{tmp_path}"',
        ]
        (tmp_path / "horovod-0.28.1-cp311-cp311-linux_x86_64.whl").write_bytes(b"wheel")

    monkeypatch.setattr(images, "bootstrap", bootstrap)
    for name in ("horovod-0.28.1.tar.gz", "tensorflow_cpu-2.12.1-cp311-cp311-manylinux_2_17_x86_64.whl"):
        (tmp_path / name).write_bytes(b"")
    horovod_image.compile_wheel("bookworm", [], SOURCES, tmp_path)
    ((packages, target, form),) = asked
    assert (target, form) == ("/dev/null", "null")
    assert {"g++", "cmake", "libopenmpi-dev", "openmpi-bin"} <= set(packages)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "horovod-0.28.1-cp311-cp311-linux_x86_64.whl",
        "tensorflow_cpu-2.12.1-cp311-cp311-manylinux_2_17_x86_64.whl",
    ]


@pytest.mark.parametrize(("suite", "processor"), [("trixie", "x86_64"), ("bookworm", "aarch64"), ("noble", "x86_64")])
def test_a_machine_that_the_wheels_do_not_fit_is_refused(suite, processor):
    with pytest.raises(LabError, match=f"this machine is {suite} on {processor}"):
        horovod_image.require(suite, processor)
    horovod_image.require("bookworm", "x86_64")


def test_the_first_python_of_the_right_version_is_taken(tmp_path):
    other, right = executable(tmp_path / "other", 1), executable(tmp_path / "right", 0)
    missing = str(tmp_path / "missing")
    assert horovod_image.interpreter([missing, other, None, right, other]) == right
    with pytest.raises(LabError, match=r"no Python 3\.11 with pip"):
        horovod_image.interpreter([missing, other, None])


def test_the_lab_is_asked_for_the_image_by_name_and_keeps_its_benchmark(script, monkeypatch, tmp_path):
    monkeypatch.setattr(horovod_image, "KEPT", tmp_path / "kept")
    training, disk_gib = lab.training_image(lab.parse(["up"]))
    assert (training, disk_gib) == (images.TRAINING, 6)
    asked = lab.parse(["up", "--image", "horovod", "--horovod-script", str(script)])
    training, disk_gib = lab.training_image(asked)
    assert (training, disk_gib) == (horovod_image.image(), horovod_image.DISK_GIB)
    assert (tmp_path / "kept/tensorflow2_synthetic_benchmark.py").read_text() == BENCHMARK
    with pytest.raises(LabError, match="add: --image horovod"):
        lab.training_image(lab.parse(["up", "--horovod-script", str(script)]))


def test_a_lab_without_a_benchmark_is_refused_before_anything_starts(monkeypatch):
    monkeypatch.setattr(lab.engine, "get", lambda: pytest.fail("an engine was started"))
    with pytest.raises(LabError, match="--horovod-script PATH"):
        lab.up(lab.parse(["up", "--image", "horovod"]))


def test_the_playbooks_run_its_own_benchmark_and_nothing_of_harp():
    values = yaml.safe_load((images.HERE / "horovod/variables.yml").read_text())
    assert values["taco_image"] == horovod_image.NAME
    assert "mounts" not in PROFILES[values["training_container_profile"]]
    arm = arm_of(values["benchmark_arm"])
    assert arm == Arm("upstream", "upstream Horovod over kernel TCP", {}, "keep", "image")
    options = values["benchmark_options"]
    assert options["script"] == "{{ inventory_dir }}/../../.lab/horovod/" + horovod_image.SCRIPT
    workload = horovod.build(dict(options, arm=arm, device="CPU", interface="eth0"), [2, 2])
    assert workload.command == [
        *["python3", options["script"], "--model=MobileNetV2", "--batch-size=2"],
        *["--num-warmup-batches=1", "--num-batches-per-iter=2", "--num-iters=3", "--no-cuda"],
    ]
