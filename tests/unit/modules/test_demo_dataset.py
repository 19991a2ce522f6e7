# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data set of the TTF demos, downloaded by a double of the vendor's script: which data the real one downloads is not published."""

import hashlib

import pytest

from ansible_collections.taco.train.plugins.modules import demo_dataset

SCRIPT = "echo downloading\necho data >> data.csv\n"
CHECKSUM = hashlib.sha256(SCRIPT.encode()).hexdigest()
OTHER = hashlib.sha256(b"another script").hexdigest()


@pytest.fixture
def folder(tmp_path):
    """A folder of demos with a script that adds a line to a file."""
    (tmp_path / "download_dataset.sh").write_text(SCRIPT)
    return tmp_path


@pytest.fixture
def dataset(run, folder):
    return lambda check=False, **options: run(demo_dataset.main, check=check, **{"demo_dir": str(folder), **options})


def test_the_script_runs_once(dataset, folder):
    first, second = dataset(checksum=CHECKSUM), dataset(checksum=CHECKSUM)
    assert (first["changed"], first["checksum"]) == (True, CHECKSUM)
    assert (second["changed"], second["checksum"], second["msg"]) == (False, CHECKSUM, "the data set is there")
    assert (folder / "data.csv").read_text() == "data\n"


def test_check_mode_says_what_would_be_run_and_writes_nothing(dataset, folder):
    assert dataset(check=True, checksum=CHECKSUM)["changed"]
    assert [path.name for path in folder.iterdir()] == ["download_dataset.sh"]
    (folder / "download_dataset.sh").unlink()
    assert dataset(check=True, checksum=CHECKSUM)["checksum"] is None


def test_a_script_without_a_checksum_needs_an_explicit_waiver(dataset, folder):
    said = dataset()["msg"]
    assert "checksum is not set" in said and "benchmark_dataset_sha256" in said and CHECKSUM in said
    assert "allow_unverified: true (benchmark_dataset" in said and not (folder / "data.csv").exists()
    assert dataset(allow_unverified=True)["changed"]


def test_a_script_with_another_checksum_is_not_run(dataset, folder):
    said = dataset(checksum=OTHER, allow_unverified=True)["msg"]
    assert OTHER in said and f"found {CHECKSUM}" in said and not (folder / "data.csv").exists()
    assert dataset(checksum=f" {CHECKSUM.upper()}\n")["changed"]


def test_data_of_another_script_is_not_taken_for_that_of_this_one(dataset):
    dataset(allow_unverified=True)
    said = dataset(checksum=OTHER)["msg"]
    assert f"found one of the script with {CHECKSUM}" in said and ".taco-train-dataset" in said


def test_a_download_that_fails_is_tried_again(dataset, folder):
    script = "echo no route to host >&2\nexit 7\n"
    (folder / "download_dataset.sh").write_text(script)
    said = dataset(allow_unverified=True)["msg"]
    assert "found exit status 7: no route to host" in said and not (folder / ".taco-train-dataset").exists()
    (folder / "download_dataset.sh").write_text(SCRIPT)
    assert dataset(checksum=CHECKSUM)["changed"]


def test_a_download_that_takes_too_long_is_ended(dataset, folder):
    (folder / "download_dataset.sh").write_text("sleep 60\n")
    said = dataset(allow_unverified=True, timeout=1)["msg"]
    assert "no end within 1 s" in said and "benchmark_timeout" in said


def test_an_image_without_the_demos_names_the_variable(dataset, folder):
    (folder / "download_dataset.sh").unlink()
    assert "set demo_dir (of benchmark_options)" in dataset(checksum=CHECKSUM)["msg"]


def test_it_runs_in_the_training_container(dataset, folder):
    assert dataset(checksum=CHECKSUM, exec_prefix=["env", "INSIDE=1"])["changed"]
    assert (
        "no-such-engine is not installed" in dataset(checksum=CHECKSUM, exec_prefix=["no-such-engine", "exec"])["msg"]
    )
