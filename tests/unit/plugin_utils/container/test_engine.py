# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each distribution gets where it lacks everything; the role's tests have what hosts lack."""

import pytest
import yaml
from guides import COLLECTION

from ansible_collections.taco.train.plugins.plugin_utils.container.engine import engine_needs

DEFAULTS = yaml.safe_load((COLLECTION / "roles/container_engine/defaults/main.yml").read_text())
OPTIONS = {name[len("container_engine_") :]: value for name, value in DEFAULTS.items()}
DOCKER = "download.docker.com/linux"


def needs(system, version, id_like=(), **options):
    host = {"id": system, "id_like": list(id_like), "version_id": version, "name": system}
    node = {"os": host, "container_engine": None, "python": {"requests": False}}
    return engine_needs(node, dict(OPTIONS, **options))


@pytest.mark.parametrize(
    ("system", "version", "id_like", "entry", "python"),
    [
        ("ubuntu", "22.04", ["debian"], f"{DOCKER}/ubuntu jammy stable", "python3-requests"),
        ("debian", "12", [], f"{DOCKER}/debian bookworm stable", "python3-requests"),
        ("centos", "7", ["rhel"], f"{DOCKER}/centos/7/$basearch/stable", "python36-requests"),
        ("tencentos", "3.1", ["rhel"], f"{DOCKER}/centos/8/$basearch/stable", "python3-requests"),
        ("tlinux", "2.4", ["rhel"], f"{DOCKER}/centos/7/$basearch/stable", "python36-requests"),
        ("rocky", "9.4", ["rhel"], f"{DOCKER}/centos/9/$basearch/stable", "python3-requests"),
    ],
)
def test_each_distribution_gets_the_repository_and_packages_that_fit_it(system, version, id_like, entry, python):
    found = needs(system, version, id_like)
    docker, nvidia = found["repositories"]
    assert entry in docker["content"] and docker["problem"] == "" and nvidia["wanted"]
    assert found["python_packages"] == [python] and found["packages"][0] == "docker-ce"
    assert ("EPEL" in found["python_hint"]) == (python == "python36-requests")


@pytest.mark.parametrize(
    ("options", "packages"),
    [({"source": "distribution"}, ["docker.io"]), ({"packages": []}, []), ({"packages": "a,b"}, ["a", "b"])],
)
def test_packages_are_those_that_are_asked_for(options, packages):
    assert needs("ubuntu", "22.04", **options)["packages"] == packages


def test_a_release_without_a_known_suite_has_a_problem_that_names_the_variable():
    docker, _nvidia = needs("ubuntu", "16.04")["repositories"]
    assert "set container_engine_deb_suite" in docker["problem"]
    assert needs("ubuntu", "16.04", deb_suite="xenial")["repositories"][0]["problem"] == ""
