# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role container_engine adds a package repository where the host has none with the package, by a real apt on roots of its own."""

import hashlib
import os

import pytest
from observed import NODE
from played import run

PLAY = """
- hosts: all
  gather_facts: false
  environment:
    PATH: "{{ root }}/bin:{{ lookup('ansible.builtin.env', 'PATH') }}"
  tasks:
    - ansible.builtin.include_role:
        name: taco.train.container_engine
        tasks_from: TASKS
      vars:
        container_engine_repository: "{{ __container_engine.repositories | last }}"
"""
APT = """#!/bin/sh
exec /usr/bin/{0} -o Dir={1} -o Dir::State::status={1}/var/lib/dpkg/status -o APT::Architecture=amd64 -o APT::Sandbox::User=root \\
  -o Acquire::AllowInsecureRepositories=true -o Debug::NoLocking=1 "$@"
"""
PACKAGE = (
    "Package: nvidia-container-toolkit\nVersion: 1.17.8-1\nArchitecture: amd64\nFilename: x.deb\nSize: 1\nSHA256: {}\n"
)
NAME = "taco-train-nvidia-container-toolkit"
YUM = """#!/bin/sh
case "$*" in *list*) cat {1}/offered 2> /dev/null || exit 1;; esac
"""
KEY = "a key"
OUR_REPO = f"etc/yum.repos.d/{NAME}.repo"
LISTS, OURS, OUR_KEY = "etc/apt/sources.list.d", f"etc/apt/sources.list.d/{NAME}.list", f"etc/apt/keyrings/{NAME}.asc"
THEIRS = "deb [signed-by=/usr/share/keyrings/nvidia.gpg] @/deb/amd64 /\n"
EL9 = dict(NODE, os={"id": "rocky", "id_like": ["rhel"], "version_id": "9.4", "name": "Rocky Linux 9.4"})
# Of each host its files of apt, its variables, whether it has the file of the role afterwards, and words of the failure.
HOSTS = {
    "theirs": ({f"{LISTS}/nvidia-container-toolkit.list": THEIRS}, {}, False, []),
    "none": ({f"{LISTS}/n.list": "# " + THEIRS}, {}, True, []),
    "earlier": ({OURS: f"deb [signed-by=/etc/apt/keyrings/{NAME}.asc] @/old /\n", OUR_KEY: "old"}, {}, True, []),
    "pinned-away": (
        {
            f"{LISTS}/nvidia-container-toolkit.list": THEIRS,
            "etc/apt/preferences.d/no-gpus": "Package: nvidia-container-toolkit\nPin: version *\nPin-Priority: -1\n",
        },
        {},
        False,
        ["negative Pin-Priority", "apt-cache policy nvidia-container-toolkit"],
    ),
    "yum-theirs": (
        {"offered": "nvidia-container-toolkit.x86_64 1.17.8-1 cuda-rhel9-x86_64\n"},
        {"taco_node": EL9},
        False,
        [],
    ),
    "yum-none": ({}, {"taco_node": EL9}, True, []),
    "our-name": ({OURS: THEIRS}, {}, True, [f"{NAME}.list has lines that taco.train did not write", "move it away"]),
    "our-name-as-link": (
        {f"{LISTS}/x.save": THEIRS, OURS: "-> x.save"},
        {},
        True,
        [f"{NAME}.list is a link or a folder", "move it away"],
    ),
    "no-index": (
        {},
        {"container_engine_nvidia_deb_url": "@/nowhere"},
        False,
        ["File not found", "/nowhere/amd64/Packages", "was removed again"],
    ),
    "other-key": ({}, {"container_engine_nvidia_key_sha256": "0a" * 32}, False, ["was removed again", "checksum"]),
}

THEIR_FILES = ("our-name", "our-name-as-link")


@pytest.fixture
def hosts(tmp_path):
    """The hosts' variables, and a repository with the toolkit on this machine."""
    repository = tmp_path / "repository"
    (repository / "deb/amd64").mkdir(parents=True)
    (repository / "deb/amd64/Packages").write_text(PACKAGE.format("0" * 64))
    (repository / "key").write_text(KEY)
    made = {}
    for name, (files, variables, _ours, _words) in HOSTS.items():
        root = tmp_path / name
        folders = (LISTS, "etc/apt/keyrings", "etc/apt/trusted.gpg.d", "var/lib/apt/lists/partial")
        for folder in (*folders, "etc/yum.repos.d", "var/cache/apt/archives/partial", "bin"):
            (root / folder).mkdir(parents=True)
        for path, text in {"var/lib/dpkg/status": "", **files}.items():
            (root / path).parent.mkdir(exist_ok=True, parents=True)
            if text.startswith("-> "):
                (root / path).symlink_to(text[3:])
            else:
                (root / path).write_text(text.replace("@", f"file://{repository}"))
        for program, text in (("apt-get", APT), ("apt-cache", APT), ("yum", YUM)):
            (root / "bin" / program).write_text(text.format(program, root))
            (root / "bin" / program).chmod(0o755)
        common = {
            "container_engine_nvidia_deb_url": f"file://{repository}/deb",
            "container_engine_nvidia_key_url": f"file://{repository}/key",
            "container_engine_nvidia_key_sha256": hashlib.sha256(KEY.encode()).hexdigest(),
        }
        given = {
            key: value.replace("@", f"file://{repository}") if isinstance(value, str) else value
            for key, value in variables.items()
        }
        made[name] = {"taco_node": NODE, "root": str(root), **common, **given}
    return made


def files(hosts):
    """The files of apt's configuration of each host, by its name."""
    return {
        name: {
            os.path.relpath(os.path.join(folder, file), variables["root"]): open(os.path.join(folder, file)).read()
            for folder, _folders, found in os.walk(os.path.join(variables["root"], "etc"))
            for file in found
        }
        for name, variables in hosts.items()
    }


def test_a_repository_is_added_where_no_list_offers_the_package_and_is_removed_again(tmp_path, hosts):
    extra = {"__container_engine_etc": "{{ root }}/etc", "taco_results_dir": str(tmp_path / "results")}
    before = files(hosts)
    status, output = run(tmp_path, PLAY.replace("TASKS", "repository"), hosts, extra)
    told, after = " ".join(output.split()), files(hosts)
    for name, (_files, _variables, ours, words) in HOSTS.items():
        assert bool({OURS, OUR_REPO} & set(after[name])) == ours, output
        assert [word for word in words if word not in told] == [], output
        assert after[name] == before[name] or name in ("none", "earlier", "yum-none"), name
        assert (f"{name}: " in told.partition("PLAY RECAP")[0].replace(f"[{name}]", "")) == bool(words), output
    assert status != 0
    for name in ("none", "earlier"):
        mark, entry = after[name][OURS].splitlines()
        assert mark.startswith("# Written by the role taco.train.container_engine") and entry.endswith("/deb/$(ARCH) /")
        assert after[name][OUR_KEY] == KEY
    assert "repo_gpgcheck=1\n" in after["yum-none"][OUR_REPO] and OUR_KEY not in after["yum-none"]
    working = {name: variables for name, variables in hosts.items() if not HOSTS[name][3]}
    status, output = run(tmp_path, PLAY.replace("TASKS", "repository"), working, extra)
    assert status == 0 and "changed: [" not in output and files(hosts) == after, output
    status, output = run(tmp_path, PLAY.replace("TASKS", "absent"), hosts, extra)
    gone = files(hosts)
    assert status == 0 and all(gone[name] == before[name] for name in THEIR_FILES), output
    assert all(not {OURS, OUR_REPO, OUR_KEY} & set(found) for name, found in gone.items() if name not in THEIR_FILES)
    assert gone["theirs"] == before["theirs"]
