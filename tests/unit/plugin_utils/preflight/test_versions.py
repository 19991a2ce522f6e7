# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Old versions, GPUs of another model and a controller without its dependencies are found before anything is changed."""

import os
import subprocess
import sys

import jmespath
import pytest
from observed import NODE, VARIABLES, node

from ansible_collections.taco.train.plugins.plugin_utils.preflight.controller import Controller, controller_checks, look
from ansible_collections.taco.train.plugins.plugin_utils.preflight.gpus import gpu_model
from ansible_collections.taco.train.plugins.plugin_utils.preflight.instance_types import INSTANCE_TYPES
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import Host, judge
from ansible_collections.taco.train.plugins.plugin_utils.preflight.version_numbers import parts
from ansible_collections.taco.train.plugins.plugin_utils.preflight.versions import docker, driver, toolkit

ENGINE = NODE["container_engine"]
GOOD = Controller({"community.docker": "3.13.0", "kubernetes.core": "3.0.0"}, {"community.docker": "4.0.0"}, "")


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("1.13.1", "fail"),
        ("18.09.9-ce", "fail"),
        ("19.03.0", "pass"),
        ("19.03.5-ce", "pass"),
        ("20.10.7", "pass"),
        ("29.0.0~ubuntu", "pass"),
        (None, "skip"),
        ("unknown", "skip"),
    ],
)
def test_docker_has_gpus(version, status):
    check = docker(node("container_engine", dict(ENGINE, version=version)), VARIABLES)
    assert check.status == status and (status != "fail" or (version in check.found and "19.03" in check.expected))


@pytest.mark.parametrize(
    ("version", "status"), [("1.10.0", "fail"), ("1.11.0", "pass"), ("1.18.1", "pass"), (None, "skip")]
)
def test_the_toolkit_can_configure_docker(version, status):
    check = toolkit(node("container_engine", dict(ENGINE, nvidia_toolkit=version)), VARIABLES)
    assert check.status == status and (status != "fail" or "1.11.0" in check.expected)


@pytest.mark.parametrize(
    ("version", "variables", "status"),
    [
        ("384.81", {}, "fail"),
        ("450.80.01", {}, "fail"),
        ("450.80.02", {}, "pass"),
        ("535.104.05", {}, "pass"),
        ("470.82.01", {"taco_image": "a/train:torch21-cu121"}, "fail"),
        ("525.60.13", {"taco_image": "a/train:torch21-cu121"}, "pass"),
        ("418.87.01", {"taco_platform": "ack", "mpijob_image": "a/train:1"}, "pass"),
        ("418.87.00", {"taco_platform": "ack", "mpijob_image": "a/train:1"}, "fail"),
        ("418.87.01", {"taco_platform": "tke"}, "fail"),
        (None, {}, "skip"),
    ],
)
def test_the_driver_supports_the_cuda_of_the_image(version, variables, status):
    check = driver(node("gpus.driver_version", version), dict(VARIABLES, **variables))
    assert check.status == status and (status != "fail" or (version == check.found and "newer" in check.fix))


def named(*names):
    devices = [{"index": n, "pci": f"0000:3b:0{n}.0", "name": name, "uuid": None} for n, name in enumerate(names)]
    return node("gpus", dict(NODE["gpus"], devices=devices, count=len(devices)))


@pytest.mark.parametrize(
    ("kind", "name", "status"),
    [
        ("GT4.41XLARGE948", "Tesla P4", "fail"),
        ("GT4.41XLARGE948", "NVIDIA A10", "fail"),
        ("GT4.41XLARGE948", "NVIDIA A100-SXM4-80GB", "fail"),
        ("GT4.41XLARGE948", "NVIDIA A100-SXM4-40GB", "pass"),
        ("GT4.41XLARGE948", "A100-SXM4-40GB", "pass"),
        ("GN10Xp.20XLARGE320", "Tesla V100-SXM2-32GB", "pass"),
        ("GN10Xp.20XLARGE320", "Tesla V100-SXM2-16GB", "fail"),
        ("PNV4.56XLARGE932", "NVIDIA A10", "pass"),
        ("PNV4.56XLARGE932", "NVIDIA A100-PCIE-40GB", "fail"),
        ("GN7.20XLARGE320", "Tesla T4", "pass"),
        ("GN7.20XLARGE320", None, "skip"),
        ("NEW.1", "NVIDIA B200", "skip"),
    ],
)
def test_the_gpus_are_those_of_the_instance_type(kind, name, status):
    check = gpu_model(named(*[name] * 8), {"taco_instance_type": kind})
    assert check.status == status, check
    assert status != "fail" or (name in check.found and kind in check.expected and "taco_instance_type" in check.fix)


def test_one_gpu_of_another_model_is_found():
    check = gpu_model(named("NVIDIA A100-SXM4-40GB", "Tesla P4"), {"taco_instance_type": "GT4.41XLARGE948"})
    assert check.status == "fail" and "Tesla P4" in check.found
    assert all(one.gpu_model.split()[0].isalnum() for one in INSTANCE_TYPES.values())


@pytest.mark.parametrize(
    ("version", "numbers"), [("19.03.5-ce", (19, 3, 5)), ("", ()), ("v1", ()), ("1", (1,)), ("1.2~rc.1", (1, 2))]
)
def test_a_version_is_read_as_numbers(version, numbers):
    assert parts(version) == numbers


@pytest.mark.parametrize(
    ("platform", "collections", "status", "words"),
    [
        ("cvm", {"community.docker": "4.0.0", "kubernetes.core": None}, "pass", []),
        ("cvm", {"community.docker": None, "kubernetes.core": None}, "fail", ["'community.docker:>=3.13.0'"]),
        ("cvm", {"community.docker": "3.12.9", "kubernetes.core": None}, "fail", ["3.12.9", "--upgrade"]),
        ("cvm", {"community.docker": "", "kubernetes.core": None}, "pass", []),
        ("tke", {"community.docker": None, "kubernetes.core": "5.0.0"}, "pass", []),
        ("ack", {"community.docker": None, "kubernetes.core": None}, "fail", ["'kubernetes.core:>=3.0.0'"]),
    ],
)
def test_the_controller_has_the_collections_of_the_platform(platform, collections, status, words):
    check = controller_checks([{"taco_platform": platform}], GOOD._replace(collections=collections))[0]
    assert (check.id, check.status) == ("controller.collections", status)
    assert all(word in check.found + check.fix for word in words), check
    assert status == "pass" or "ansible-galaxy collection install" in check.fix


def test_a_controller_without_scipy_is_a_warning_with_the_command():
    check = controller_checks([], GOOD._replace(statistics="No module named 'scipy'"))[1]
    assert check.status == "warn" and "-m pip install 'scipy>=1.15'" in check.fix and "scipy" in check.found


def test_this_machine_has_what_its_own_galaxy_file_requires():
    found = look()
    assert found.required["community.docker"] == "3.13.0" and found.required["kubernetes.core"]
    assert [check.status for check in controller_checks([{}, {"taco_platform": "tke"}], found)] == ["pass", "pass"]


def test_what_is_missing_on_the_controller_stops_every_host():
    found = GOOD._replace(collections={})
    verdict = judge({"gpu1": Host(NODE, VARIABLES)}, jmespath.search, controller=found)
    assert verdict["status"] == "fail" and verdict["fleet"][0]["id"] == "controller.collections"


def test_the_process_of_a_play_does_not_import_scipy():
    modules = ", ".join(f"ansible_collections.taco.train.plugins.action.{action}" for action in ("plan", "preflight"))
    code = f"import sys, {modules}; sys.exit(any(name.partition('.')[0] in ('numpy', 'scipy') for name in sys.modules))"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
