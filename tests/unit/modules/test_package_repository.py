# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A repository is added where the host has none with its URL, by a real apt on a root of its own."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.module_utils._node import repositories
from ansible_collections.taco.train.plugins.modules import package_repository

URL = "https://download.example.com/linux/debian"


@pytest.fixture
def host(tmp_path, run):
    """A function that runs the module below a root of its own, with a real apt-get unless told otherwise."""
    (tmp_path / "etc/apt/sources.list.d").mkdir(parents=True)
    (tmp_path / "etc/yum.repos.d").mkdir(parents=True)
    (tmp_path / "gpg").write_text("a key")
    for folder in ("var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/lib/dpkg"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text("")

    def act(url=URL, check=False, update=None, **options):
        common = {"name": "taco-train-docker", "family": "debian", "suite": "bookworm", "components": ["stable"]}
        command = ["apt-get", "-o", f"Dir={tmp_path}", "-o", "Debug::NoLocking=1", "update"]
        common.update(root=str(tmp_path), url=url, key_url=f"file://{tmp_path}/gpg", update_command=update or command)
        return run(package_repository.main, check=check, **{**common, **options})

    act.root = tmp_path
    act.files = lambda: sorted(
        str(path.relative_to(tmp_path)) for path in (tmp_path / "etc").rglob("*") if path.is_file()
    )
    return act


LISTED = {
    "sources.list": f"deb [arch=amd64 signed-by=/usr/share/keyrings/other.gpg] {URL} bookworm stable\n",
    "sources.list.d/docker.list": f"  deb {URL}/ bookworm nightly stable # mine\n",
    "sources.list.d/docker.sources": (
        f"# mine\nTypes: deb deb-src\nURIs: https://example.org/other\n {URL}\nSuites: bullseye bookworm\n"
        "Components: stable\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQ\n"
    ),
}
NOT_LISTED = {
    "commented out": ("sources.list", f"# deb {URL} bookworm stable\n"),
    "source packages only": ("sources.list", f"deb-src {URL} bookworm stable\n"),
    "another suite": ("sources.list.d/docker.list", f"deb {URL} bullseye stable\n"),
    "another component": ("sources.list.d/docker.list", f"deb {URL} bookworm test\n"),
    "disabled": (
        "sources.list.d/d.sources",
        f"Types: deb\nURIs: {URL}\nSuites: bookworm\nComponents: stable\nEnabled: no\n",
    ),
    "a file that apt does not read": ("sources.list.d/docker.list.save", f"deb {URL} bookworm stable\n"),
}


@pytest.mark.parametrize("name", LISTED)
def test_a_repository_that_is_listed_with_another_key_is_used_as_it_is(host, name):
    (host.root / "etc/apt" / name).write_text(LISTED[name])
    before = host.files()
    result = host()
    assert (result["changed"], result["file"]) == (False, str(host.root / "etc/apt" / name))
    assert host.files() == before


@pytest.mark.parametrize("case", NOT_LISTED)
def test_entries_that_apt_does_not_use_do_not_count(host, case):
    name, text = NOT_LISTED[case]
    (host.root / "etc/apt" / name).write_text(text)
    assert host(check=True)["changed"] and "etc/apt/keyrings/taco-train-docker.asc" not in host.files()
    result = host(update=["true"])
    assert result["changed"] and result["file"].endswith("sources.list.d/taco-train-docker.list")
    key = host.root / "etc/apt/keyrings/taco-train-docker.asc"
    ours = host.root / "etc/apt/sources.list.d/taco-train-docker.list"
    assert ours.read_text() == f"deb [signed-by={key}] {URL} bookworm stable\n" and key.read_text() == "a key"
    assert not host(update=["true"])["changed"]


@pytest.mark.parametrize("family", ["debian", "redhat"])
def test_the_file_is_removed_when_the_update_fails_and_the_reason_is_told(host, family):
    before = host.files()
    failing = ["sh", "-c", "echo Reading; echo 'E: Conflicting values set for option Signed-By' >&2; exit 100"]
    result = host(update=failing, family=family)
    assert result["failed"] and "Conflicting values set for option Signed-By" in result["msg"], result
    assert host.files() == before
    # apt ends with status 0 where an index can't be downloaded.
    silent = ["echo", f"W: Failed to fetch {URL}/dists/bookworm/InRelease  404  Not Found"]
    result = host(update=silent, family=family)
    assert result["failed"] and "404" in result["msg"]
    assert host.files() == before


@pytest.mark.parametrize("family", ["debian", "redhat"])
def test_the_file_of_an_earlier_run_stays_where_another_repository_is_what_fails(host, family):
    assert host(update=["true"], family=family)["changed"]
    before = {name: (host.root / name).read_bytes() for name in host.files()}
    failing = ["sh", "-c", "echo 'E: The repository of others has no Release file.' >&2; exit 100"]
    result = host(update=failing, family=family)
    assert result["failed"] and "also without it: E: The repository of others" in result["msg"], result
    assert {name: (host.root / name).read_bytes() for name in host.files()} == before
    if family == "debian":
        result = host(update=["true"], suite="bullseye", key_url="file:///nowhere/gpg")
        assert result["failed"] and "can't be downloaded" in result["msg"], result
        assert {name: (host.root / name).read_bytes() for name in host.files()} == before
    # One that a killed run left is the cause where the package manager works without it.
    ours = next(host.root / name for name in before if "taco-train-docker.list" in name or ".repo" in name)
    at_fault = ["sh", "-c", f"[ ! -e {ours} ] || {{ echo 'E: Conflicting values' >&2; exit 100; }}"]
    result = host(update=at_fault, family=family)
    assert result["failed"] and "so its file was removed again: E: Conflicting values" in result["msg"], result
    assert host.files() == []


def test_a_link_to_nowhere_among_the_lists_is_passed_over(host):
    (host.root / "etc/apt/sources.list.d/gone.list").symlink_to(host.root / "nowhere")
    assert host(update=["true"])["changed"]


def test_a_real_apt_refuses_the_second_key_and_works_again_afterwards(host):
    url = f"file://{host.root}/repository"
    (host.root / "repository/dists/bookworm").mkdir(parents=True)
    other = host.root / "etc/apt/sources.list.d/other.list"
    # The same suite with another component: not what is required, and still a conflict.
    other.write_text(f"deb [signed-by=/usr/share/keyrings/other.gpg] {url} bookworm test\n")
    before = host.files()
    result = host(url=url)
    assert result["failed"] and "Conflicting values set for option Signed-By" in result["msg"], result
    assert host.files() == before
    argv = ["apt-get", "-o", f"Dir={host.root}", "indextargets"]
    listed = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert listed.returncode == 0 and "Conflicting" not in listed.stderr

    other.write_text(f"deb [signed-by=/usr/share/keyrings/other.gpg] {url} bookworm stable\n")
    assert not host(url=url)["changed"]


def test_a_repository_of_yum_that_is_listed_is_used_as_it_is(host):
    file = host.root / "etc/yum.repos.d/docker-ce.repo"
    file.write_text(
        "[docker-ce-stable]\nname=Docker CE\nbaseurl=https://download.example.com/linux/centos/$releasever/$basearch/stable\n"
        "enabled=1\ngpgcheck=1\n"
    )
    options = {
        "family": "redhat",
        "url": "https://download.example.com/linux/centos/7/$basearch/stable",
        "release": "7",
    }
    assert host(**options)["file"] == str(file)
    file.write_text(file.read_text().replace("enabled=1", "enabled=0"))
    added = host(update=["true"], **options)
    assert added["changed"] and added["file"].endswith("taco-train-docker.repo")
    assert not host(update=["true"], **options)["changed"]


@given(st.text())
def test_any_file_of_a_package_manager_is_read(text):
    files = {"a.list": text, "b.sources": text}
    assert repositories.find_apt(files, URL, "bookworm", ["stable"]) in (None, *files)
    assert repositories.find_yum({"c.repo": text}, URL, "7") in (None, "c.repo")
