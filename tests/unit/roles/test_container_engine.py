# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the role container_engine would do, in check mode. That it does it is tested on nodes that can be installed on."""

import playbook
from observed import NODE
from played import check, run

PLAY = """
- hosts: all
  gather_facts: false
  roles:
    - taco.train.container_engine
"""
ENGINE, TOOLKIT = NODE["container_engine"], "NVIDIA Container Toolkit"
NO_GPU = {"container_engine_gpu": False}
# Of each host what is observed, its variables, and what would be installed.
HOSTS = [
    ({}, {}, []),
    ({}, {"container_engine_prove": True}, []),
    ({"container_engine": dict(ENGINE, nvidia_toolkit=None)}, {}, [TOOLKIT]),
    ({"container_engine": dict(ENGINE, nvidia_toolkit=None)}, NO_GPU, []),
    ({"container_engine": None}, {}, ["Docker Engine", TOOLKIT]),
    # The install was interrupted before the engine knew the runtime.
    ({"container_engine": dict(ENGINE, runtimes=["runc"])}, {}, [TOOLKIT]),
    ({"container_engine": dict(ENGINE, runtimes=["runc"])}, NO_GPU, []),
    # Without the right to ask the engine no runtime is known.
    ({"container_engine": dict(ENGINE, runtimes=[])}, {}, []),
    ({"python": dict(NODE["python"], requests=False)}, {}, ["Python packages"]),
    # An empty list is a value: no package is to be installed.
    ({"python": dict(NODE["python"], requests=False)}, {"container_engine_python_packages": []}, []),
]


def test_check_mode_says_what_would_be_installed_and_ends_well(tmp_path):
    hosts = {f"gpu-{n}": {"taco_node": dict(NODE, **seen), **own} for n, (seen, own, _needed) in enumerate(HOSTS)}
    status, output = check(tmp_path, PLAY, hosts, {})
    assert status == 0, output
    said = playbook.results(tmp_path, "taco.train.container_engine : Report the components that would be installed")
    reasons = [f"missing: {', '.join(needed)}" if needed else None for _seen, _own, needed in HOSTS]
    assert [(said.get(host, {}).get("msg") or {}).get("reason") for host in hosts] == reasons, output
    assert all(said[host]["changed"] for host in said if "msg" in said[host])


def test_python_packages_that_cannot_be_installed_are_named_with_the_repository_that_has_them(tmp_path):
    """On CentOS 7 the package isn't in the base repository."""
    play = PLAY.replace("  roles:\n    - taco.train.container_engine\n", TASKS)
    el7 = {"id": "centos", "id_like": ["rhel", "fedora"], "version_id": "7", "name": "CentOS Linux 7"}
    node = dict(NODE, os=el7, python={"version": "3.6.8", "executable": "/usr/bin/python3", "requests": False})
    status, output = check(tmp_path, play, {"gpu-0": {"taco_node": node}}, {})
    assert status != 0
    said = " ".join(output.split())
    for words in ("gpu-0: python36-requests", "EPEL", "python3 -m pip install", "container_engine_python_packages"):
        assert words in said, said


TASKS = """
  tasks:
    - ansible.builtin.include_role:
        name: taco.train.container_engine
        tasks_from: python
"""


INSTALLING = """
- hosts: all
  gather_facts: false
  any_errors_fatal: true
  module_defaults:
    ansible.builtin.package: {use: ansible.legacy.stand_in}
  tasks:
    - ansible.builtin.include_role:
        name: taco.train.container_engine
        tasks_from: python
    - ansible.builtin.debug:
        msg: "{{ inventory_hostname }} went on"
"""
# In the place of apt or yum.
PACKAGES = """#!/bin/sh
if grep -q broken "$1"; then echo '{"failed": true, "msg": "no such package"}'; else echo '{"changed": false}'; fi
"""


def test_python_packages_that_one_host_lacks_stop_the_play_and_blame_no_other_host(tmp_path):
    (tmp_path / "library").mkdir()
    (tmp_path / "library/stand_in").write_text(PACKAGES)
    hosts = {name: {"container_engine_python_packages": [name]} for name in ("fine", "broken")}
    options = {"taco_results_dir": str(tmp_path / "results")}
    status, output = run(tmp_path, INSTALLING, hosts, options)
    assert status == 2 and "went on" not in output, output
    assert "broken: broken can't be installed (no such package)" in " ".join(output.split()), output
    assert "fine: fine can't be installed" not in " ".join(output.split()), output


def test_podman_and_a_rootless_daemon_are_refused_before_anything_is_installed(tmp_path):
    engines = {name: dict(ENGINE, name=name, running=False) for name in ("podman", "rootless docker")}
    hosts = {
        f"gpu-{number}": {"taco_node": dict(NODE, container_engine=engines[name])}
        for number, name in enumerate(engines)
    }
    status, output = check(tmp_path, PLAY, hosts, {})
    told = " ".join(output.split())
    assert status != 0 and "Report the components" not in told
    for words in (
        "gpu-0: the command docker is podman",
        "podman-docker",
        "gpu-1: the command docker is rootless docker",
    ):
        assert words in told, output
