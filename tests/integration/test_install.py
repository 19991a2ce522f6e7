# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install the collection in each documented way into an empty project that has its own inventory, and use it there.

What is installed from git has the same files as a tarball, so it is not used once more.

Galaxy is not asked: what the collection depends on is in the `ansible` package of .venv.
"""

import json
import os
import re
import sys
import tarfile

import pytest
from integration.paths import ROOT

INVENTORY = """
gpu_nodes:
  hosts:
    one:
  vars:
    ansible_connection: local
    ansible_become: false
    ansible_python_interpreter: "{python}"
    taco_gpus_per_node: 4
    eni_count: 4
    hugepages_cuont: 30
    harp_source: none
"""

# Whatever a pattern here doesn't name stays out of the artifact, by build_ignore in galaxy.yml.
PLUGINS = "action|become|cache|callback|connection|doc_fragments|filter|inventory|lookup|module_utils|modules|plugin_utils|test"
WANTED = (
    r"(MANIFEST|FILES)\.json",
    r"(README|CHANGELOG)\.md",
    r"(LICENSE|COPYING|requirements\.txt|bindep\.txt)",
    r"changelogs/changelog\.yaml",
    r"docs/[\w/-]+\.(json|md|rst|svg|yml)",
    r"meta/[\w-]+\.yml",
    r"playbooks/\w+\.yml",
    rf"plugins/({PLUGINS})/(\w+/)?\w+\.(py|yml)",
    r"plugins/plugin_utils/report/templates/[\w.]+\.(j2|css)",
    r"roles/\w+/README\.md",
    r"roles/\w+/(defaults|handlers|meta|tasks|vars)/\w+\.yml",
    r"roles/\w+/(files|templates)/[\w.-]+",
)

OWN_PLAYBOOK = """
- hosts: gpu_nodes
  gather_facts: false
  tasks:
    - taco.train.hugepages:
        count: 2
        sysroot: "{{ playbook_dir }}/root"
        state_dir: "{{ playbook_dir }}/state"
        regenerate: false
      register: pages
    - ansible.builtin.debug:
        msg: "{{ pages.kernel_args.after | join(' ') }} reboot={{ pages.reboot_required }}"
- hosts: gpu_nodes
  gather_facts: false
  roles:
    - role: taco.train.eni
"""


GIT = {"folder": f"git+file://{ROOT}#/collections/ansible_collections/taco/train", "root": f"git+file://{ROOT}"}


def install(command, source, folder):
    done = command("ansible-galaxy", "collection", "install", source, "--no-deps", "-p", "collections", cwd=folder)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="session", params=GIT)
def place(request):
    """The folder that the collection is built in: its own, or the root of the repository."""
    return request.param


@pytest.fixture(scope="session")
def project(place, command, tarballs, tmp_path_factory):
    """Return an empty project with its own inventory and the collection installed from the tarball that was built in a folder."""
    folder = tmp_path_factory.mktemp("project")
    install(command, tarballs[place], folder)
    (folder / "inventory.yml").write_text(INVENTORY.format(python=sys.executable))
    (folder / "ansible.cfg").write_text("[defaults]\ncollections_path = ./collections\n")
    return folder


def installed(folder):
    """Return {path: the target of a link, or None} of the files and links that are installed below a folder."""
    top = folder / "collections/ansible_collections/taco/train"
    targets = {path: os.readlink(path) if path.is_symlink() else None for path in top.rglob("*")}
    return {
        str(path.relative_to(top)): target
        for path, target in targets.items()
        if "__pycache__" not in path.parts and (target or path.is_file())
    }


def test_what_is_installed_from_git_is_what_the_tarball_holds(place, project, command, tmp_path):
    install(command, GIT[place], tmp_path)
    assert installed(tmp_path) == installed(project)


def test_a_playbook_runs_by_its_name_and_reports_everything_that_is_wrong(project, command):
    done = command("ansible-playbook", "taco.train.preflight", "-i", "inventory.yml", cwd=project)
    assert done.returncode == 2, done.stdout
    for check in ("gpu.count", "eni.count", "variables.known"):
        assert check in done.stdout, done.stdout
    assert "hugepages_count" in done.stdout
    verdicts = list(project.glob("results/*/verdict.json"))
    assert len(verdicts) == 1
    assert json.loads(verdicts[0].read_text())


def test_a_module_and_a_role_work_alone_in_a_playbook_of_the_users(project, command):
    root = project / "root"
    (root / "etc/default/grub.d").mkdir(parents=True, exist_ok=True)
    (root / "proc").mkdir(exist_ok=True)
    (root / "usr/sbin").mkdir(parents=True, exist_ok=True)
    (root / "usr/sbin/update-grub").write_text("#!/bin/sh\n")
    (root / "usr/sbin/update-grub").chmod(0o755)
    (root / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="quiet"\n')
    (root / "boot/grub").mkdir(parents=True, exist_ok=True)
    (root / "boot/grub/grub.cfg").write_text("menuentry 'Linux' {\n\tlinux /boot/vmlinuz root=/dev/vda1 quiet\n}\n")
    (root / "etc/os-release").write_text("ID=ubuntu\nID_LIKE=debian\n")
    (root / "proc/cmdline").write_text("BOOT_IMAGE=/boot/vmlinuz root=/dev/vda1 quiet\n")
    (root / "proc/meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable: 15000000 kB\n")
    (root / "proc/cpuinfo").write_text("flags\t\t: fpu pse pdpe1gb\n")
    (project / "own.yml").write_text(OWN_PLAYBOOK)
    done = command("ansible-playbook", "own.yml", "-i", "inventory.yml", cwd=project)
    assert "default_hugepagesz=1G hugepagesz=1G hugepages=2 reboot=True" in done.stdout, done.stdout
    # The role alone: this machine has no ENI for four GPUs, and that is what it must say.
    assert done.returncode == 2
    assert "0 of 4" in done.stdout or "eni" in done.stdout.lower().split("reboot=true")[1]


def test_every_plugin_and_role_is_documented_where_it_is_installed(project, command):
    for kind, files in (
        ("module", "plugins/modules/*.py"),
        ("filter", "plugins/filter/*.yml"),
        ("role", "roles/*/meta/argument_specs.yml"),
    ):
        count = len(list((ROOT / "collections/ansible_collections/taco/train").glob(files)))
        done = command("ansible-doc", "-t", kind, "-l", "taco.train", "--json", cwd=project)
        assert done.returncode == 0, done.stdout
        assert len(json.loads(done.stdout[done.stdout.index("{") :])) == count, done.stdout


def files_of(tarball):
    """Return the names of an artifact's files; folders say nothing that these don't."""
    with tarfile.open(tarball) as archive:
        return {member.name for member in archive.getmembers() if not member.isdir()}


def strange(names):
    return sorted(name for name in names if not any(re.fullmatch(pattern, name) for pattern in WANTED))


def test_the_artifact_holds_what_users_need_and_nothing_else(tarballs):
    names = files_of(tarballs["folder"])
    assert {"LICENSE", "playbooks/site.yml", "plugins/modules/hugepages.py", "roles/preflight/tasks/main.yml"} <= names
    assert not strange(names)


def test_one_built_at_the_root_holds_the_same_below_the_folder_of_the_collection(tarballs):
    """Links at the root let it be installed; what they point to is in it once."""
    folder = "collections/ansible_collections/taco/train/"
    names = files_of(tarballs["root"])
    below = {name[len(folder) :] for name in names if name.startswith(folder)}
    made = {"MANIFEST.json", "FILES.json"}
    assert names - {folder + name for name in below} == made | {
        "LICENSE",
        "README.md",
        "bindep.txt",
        "docs",
        "meta",
        "playbooks",
        "plugins",
        "requirements.txt",
        "roles",
    }
    assert below - {"galaxy.yml"} == files_of(tarballs["folder"]) - made
