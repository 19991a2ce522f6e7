# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Somebody else's thing with a name of this collection is neither changed nor removed, and a refusal names it and the ways out."""

import os
import re
import shutil

import pytest
from boot_host import DROP_IN, debian_host
from integration.paths import COLLECTION, ROOT

from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import remove
from ansible_collections.taco.train.plugins.modules import harp_config, host_folders, hugepages, ssh_trust

SSH = {"address": "127.0.0.1", "user": "root"}
TEMPLATE = {"source": "template", "rendered": [{"dest": "ztcp0.conf", "content": "new\n"}]}
NODE = {
    "hostname": "node-0",
    "nics": [],
    "gpus": {"devices": []},
    "cpu": {"count": 2},
    "hugepages": {"default_size_bytes": 2097152, "pools": []},
}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV4YW1wbGU alice@desk\n"
OUR_KEY = KEY.replace("alice@desk", "taco-train@gpu1")
OURS = re.compile(r"/harp/(setup-\w+|setup\.log|state\.json|running)$|/host-manifest\.json$")
LOGS = r"[0-9]{8}T[0-9]{6}Z?-.+-[0-9a-f]{6}\.log"


class Link(str):
    """The target of a link."""


# A name, somebody's files below the root, a module with its options, and words of the refusal; without words it succeeds and leaves
# the files.
ROWS = [
    (
        "a drop-in of GRUB",
        {DROP_IN: "# mine\n"},
        hugepages,
        {"count": 2},
        ["zz-taco-hugepages.cfg has the name", "no line of it", "rm "],
    ),
    ("a drop-in of GRUB", {DROP_IN: "# mine\n"}, hugepages, {"state": "restored"}, ["zz-taco-hugepages.cfg", "rm "]),
    (
        "a folder in the place of a drop-in",
        {DROP_IN + "/x": "x"},
        hugepages,
        {"count": 2},
        ["is a folder", "move it away"],
    ),
    (
        "a folder in the place of HARP's",
        {"config/ztcp0.conf/x": "x"},
        harp_config,
        TEMPLATE,
        ["ztcp0.conf is a folder"],
    ),
    ("a dangling link", {"config/ztcp0.conf": Link("none/x")}, harp_config, TEMPLATE, ["which no earlier run wrote"]),
    ("a folder in the place of a manifest", {"state/host-manifest.json/x": "x"}, harp_config, {"state": "absent"}, []),
    ("a file in the place of a folder", {"state/ssh": "x"}, ssh_trust, {"state": "identity"}, ["ssh is no folder"]),
    (
        "a configuration of HARP",
        {"config/ztcp0.conf": "mine\n"},
        harp_config,
        TEMPLATE,
        ["ztcp0.conf", "force: true (harp_force)"],
    ),
    ("a configuration of HARP", {"config/ztcp0.conf": "mine\n"}, harp_config, {"state": "absent"}, []),
    (
        "a manifest",
        {"state/host-manifest.json": "{}\n"},
        harp_config,
        {"source": "none", "node": NODE, "enis": []},
        ["host-manifest.json", "taco_state_dir"],
    ),
    ("a manifest", {"state/host-manifest.json": "{}\n", "state/harp/notes": "x"}, harp_config, {"state": "absent"}, []),
    ("a folder named history", {"state/harp/history/notes": "x"}, harp_config, {"state": "absent"}, []),
    ("a file named history", {"state/harp/history": "x"}, harp_config, {"state": "absent"}, []),
    (
        "files of a setup of HARP",
        {f"state/harp/{name}": "mine" for name in ("setup-0123456789ab", "setup.log", "state.json", "running")},
        harp_config,
        {"state": "absent"},
        [],
    ),
    ("copies of boot files", {"state/hugepages-change/notes": "x"}, hugepages, {"state": "restored"}, []),
    (
        "a key",
        {"state/ssh/id_ed25519": "k", "state/ssh/id_ed25519.pub": KEY},
        ssh_trust,
        {"state": "identity"},
        ["id_ed25519"],
    ),
    ("an SSH server", {"state/ssh/sshd_config": "Port 22\n"}, ssh_trust, SSH, ["sshd_config", "taco_state_dir"]),
    (
        "keys that may log in",
        {"state/ssh/id_ed25519.pub": OUR_KEY, "state/ssh/authorized_keys": KEY},
        ssh_trust,
        SSH,
        ["authorized_keys holds keys", "(line 1)", "/root/.ssh/authorized_keys"],
    ),
    ("a key", {"state/ssh/id_ed25519": "k", "state/ssh/id_ed25519.pub": KEY}, ssh_trust, {"state": "absent"}, []),
    (
        "a log",
        {"state/logs/syslog.log": "x"},
        host_folders,
        {"state": "cleared", "paths": ["state/logs"], "names": LOGS},
        [],
    ),
    ("a folder", {"state/logs/syslog.log": "x"}, host_folders, {"state": "absent"}, []),
]


def tree(root):
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(root.rglob("*"))
    }


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}, {row[3].get('state', 'present')}" for row in ROWS])
def test_a_thing_of_somebody_else_with_our_name_is_neither_changed_nor_removed(tmp_path, run, row, check):
    _name, files, module, options, words = row
    if module is hugepages:
        debian_host(tmp_path)
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).symlink_to(text) if isinstance(text, Link) else (tmp_path / path).write_text(text)
    (tmp_path / "state").mkdir(exist_ok=True)
    places = {"state_dir": "/state" if module is hugepages else str(tmp_path / "state")}
    places.update({"sysroot": str(tmp_path)} if module is hugepages else {})
    places.update({"config_dir": str(tmp_path / "config")} if module is harp_config else {})
    places.update({"client_config": str(tmp_path / "home/config")} if module is ssh_trust else {})
    options = {
        key: [str(tmp_path / one) for one in value] if key == "paths" else value for key, value in options.items()
    }
    before = tree(tmp_path)
    result = run(module.main, check=check, **{**places, **options})
    after = tree(tmp_path)
    assert bool(result.get("failed")) == bool(words), result
    assert [word for word in words if word not in result["msg"]] == [], result
    assert result.get("failed") or not result["changed"]
    assert {path: after[path] for path in before if os.path.isfile(path)} == {
        path: seen for path, seen in before.items() if os.path.isfile(path)
    }
    named = [path for path in before if module is harp_config and path.startswith(str(tmp_path / "state"))]
    assert words or all(path in str(result.get("warnings")) for path in named if OURS.search(path))


def test_files_of_others_that_are_named_like_copies_stay_and_keep_their_folder(tmp_path, run):
    options = {"sysroot": str(debian_host(tmp_path / "root")), "state_dir": "/state"}
    assert run(hugepages.main, count=2, **options)["changed"]
    copies, theirs = tmp_path / "root/state/originals", [letter * 64 for letter in "012"]
    (copies / theirs[0]).write_text("x")
    (copies / theirs[1]).symlink_to(theirs[0])
    (copies / theirs[2]).mkdir()
    (copies / theirs[2] / "notes").write_text("x")
    for change in ({"count": 4}, {"state": "restored"}):
        assert run(hugepages.main, **change, **options)["changed"]
        assert set(os.listdir(str(copies))) >= set(theirs)
    remove(CreatedFolders("/state", str(tmp_path / "root")))
    assert sorted(os.listdir(str(copies))) == theirs and (copies / theirs[0]).read_text() == "x"
    shutil.rmtree(str(copies))
    remove(CreatedFolders("/state", str(tmp_path / "root")))
    assert not copies.parent.exists()


def test_files_of_this_collection_go_and_those_of_others_beside_them_stay(tmp_path, run):
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("20260131T120000Z-harp-0a1b2c.log", "notes.log"):
        (logs / name).write_text("x")
    options = {"state": "cleared", "paths": [str(logs)], "names": LOGS, "state_dir": str(tmp_path)}
    predicted = run(host_folders.main, check=True, **options)
    assert run(host_folders.main, **options)["removed"] == predicted["removed"]
    assert os.listdir(logs) == ["notes.log"]
    (logs / "notes.log").unlink()
    # A link to a larger disk stays.
    (tmp_path / "link").symlink_to(logs)
    (logs / "20260131T120000Z-harp-0a1b2c.log").write_text("x")
    assert len(run(host_folders.main, **{**options, "paths": [str(tmp_path / "link")]})["removed"]) == 1
    assert (tmp_path / "link").is_symlink() and os.listdir(logs) == []
    assert run(host_folders.main, **options)["removed"] == [str(logs)] and not logs.exists()
    assert not run(host_folders.main, **options)["changed"]


# Modules whose things of somebody else need an engine, a cluster or a worker, and the test of it.
ELSEWHERE = {
    "acceleration": "unit/modules/test_acceleration.py::test_a_folder_of_somebody_else_is_refused_and_left_alone",
    "arena_job": "unit/modules/test_arena_job_removed.py::test_a_job_of_another_manager_is_refused_unless_that_is_permitted",
    "gpu_topology": "unit/action/test_gpu_topology.py::test_a_mark_is_kept_when_another_run_restores_between_look_and_change",
    "kubernetes_node": "contract/test_nodes.py::test_a_node_that_another_client_has_cordoned_stays_so",
    "mpijob": "contract/test_mpijob.py::test_a_job_of_another_manager_is_refused_for_every_change",
    "plan": "unit/module_utils/files/test_owner_lock.py::test_the_second_owner_is_told_the_first_and_writes_nothing",
    "training_container": "unit/action/test_training_container.py::test_a_container_of_somebody_else_is_refused_with_the_ways_out",
}
# A module that removes something, or puts something into a place that has the same name on every host, says so in its options.
MAKES = re.compile(r"choices: \[[^\]]*\b(absent|restored|released|cordoned)\b")


@pytest.mark.parametrize("name", sorted(path.stem for path in (COLLECTION / "plugins/modules").glob("*.py")))
def test_each_module_that_removes_something_has_a_row_here_or_a_test_of_its_own(name):
    text = (COLLECTION / f"plugins/modules/{name}.py").read_text()
    here = {row[2].__name__.rpartition(".")[2] for row in ROWS}
    assert name in here | set(ELSEWHERE) or not MAKES.search(text)
    if name in ELSEWHERE:
        path, _colons, function = ELSEWHERE[name].partition("::")
        assert f"def {function}(" in (ROOT / "tests" / path).read_text()


def test_roles_remove_files_by_the_modules_above_or_have_a_test_of_their_own():
    removing = {
        path.parents[1].name
        for path in COLLECTION.glob("roles/*/tasks/*.yml")
        if re.search(
            r"ansible\.builtin\.(file|apt_repository|yum_repository):\n(.*\n){1,3}? +state: absent", path.read_text()
        )
    }
    assert removing == {"container_engine"}
    test = (ROOT / "tests/unit/roles/test_package_repositories.py").read_text()
    assert (
        "def test_a_repository_is_added_where_no_list_offers_the_package_and_is_removed_again(" in test
        and '"our-name"' in test
    )
