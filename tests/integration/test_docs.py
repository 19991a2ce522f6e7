# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Follow the guide to inclusion from an empty folder, file by file and command by command, as a reader does."""

import yaml
from guides import blocks, commands
from packaging.specifiers import SpecifierSet

GUIDE = "docsite/rst/inclusion.rst"


def test_inclusion(command, tarballs, tmp_path):
    followed = [
        block for block in blocks() if GUIDE in block.where and (block.kind, block.mark) == ("tested", "inclusion")
    ]
    # In place of Galaxy, which is not asked here: what would be published.
    install = ("ansible-galaxy", "collection", "install", tarballs["folder"], "--no-deps", "-p", "collections")
    done = command(*install, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    said = ""
    for block in followed:
        if block.caption:
            (tmp_path / block.caption).parent.mkdir(exist_ok=True)
            (tmp_path / block.caption).write_text(block.text)
            continue
        for line in commands(block):
            done = command("bash", "-euc", line, cwd=tmp_path)
            assert done.returncode == 0, f"{block.where}: {line}\n{done.stdout}"
            said += done.stdout
    wanted = yaml.safe_load((tmp_path / "requirements.yml").read_text())["collections"][0]
    assert wanted["name"] == "taco.train"
    version = tarballs["folder"].name.replace("taco-train-", "").replace(".tar.gz", "")
    assert SpecifierSet(wanted["version"]).contains(version)
    assert "interfaces" in said and "Summary of 2 hosts" in said and "hugepages : Reserve hugepages" in said
    # It looked, and changed nothing.
    assert not (tmp_path / "results").exists()
