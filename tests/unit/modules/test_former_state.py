# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts as 1.0 and 1.1 left them, also killed while they changed one: the state folder is read, and everything is restored."""

import json

import pytest
from boot_host import change_to_el7, debian_host
from integration.paths import ROOT
from killed_steps import tree

from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import remove
from ansible_collections.taco.train.plugins.modules import harp_config, host_folders, hugepages

# What differs from the host before, by name: the texts that the old code left, as its modules wrote them.
LEFT = json.loads((ROOT / "tests/fixtures/former_state.json").read_text())


def lay_out(root, name):
    """Lay out the host before its first change."""
    if "harp" in name:
        (root / "config").mkdir(parents=True)
        (root / "config/ztcp0.conf").write_text("old 0\n")
        (root / "config/ztcp9.conf").write_text("theirs\n")
    else:
        debian_host(root)
        if "el7" in name:
            change_to_el7(root)


def change(root, texts):
    """Write what the old code left."""
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text.replace("ROOT", str(root)))


@pytest.mark.parametrize("again", [False, True], ids=["restored at once", "run again before"])
@pytest.mark.parametrize("name", LEFT)
def test_a_host_that_an_earlier_version_changed_is_restored(tmp_path, run, name, again):
    root = tmp_path / "root"
    lay_out(root, name)
    before = tree(root)
    change(root, LEFT[name])
    module = harp_config if "harp" in name else hugepages
    places = {"state_dir": str(root / "state")} if "harp" in name else {"sysroot": str(root)}
    if again and module is hugepages:
        done = run(module.main, count=6, **places)
        assert not done.get("failed") and done["changed"], done
        assert not (root / "var/lib/taco-train/hugepages/manifest.json").exists()
    undone = {"state": "absent" if module is harp_config else "restored"}
    predicted = run(module.main, check=True, **undone, **places)
    done = run(module.main, **undone, **places)
    assert not done.get("failed") and done["changed"] and predicted["changed"], done
    if module is harp_config:
        run(host_folders.main, state="absent", state_dir=str(root / "state"))
    else:
        remove(CreatedFolders("/var/lib/taco-train", str(root)))
    after = tree(root)
    # 1.0 kept no record of the folders that it created.
    left = {path for path in after if path not in before}
    folders = {"state"} if module is harp_config else {"var", "var/lib", "var/lib/taco-train"}
    assert left == (folders if name.startswith("1.0") else set())
    assert {path: what for path, what in after.items() if path not in left} == before
    assert not run(module.main, **undone, **places)["changed"]
