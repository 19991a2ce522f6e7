# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host on which HARP is configured, with a setup script that succeeds."""

import hashlib

from fake_urls import FakeServer

from ansible_collections.taco.train.plugins.module_utils._harp.configuration import ERRORS, configure
from ansible_collections.taco.train.plugins.module_utils._harp.options import OPTIONS

DEFAULTS = {name: option.get("default") for name, option in OPTIONS["argument_spec"].items()}
GOOD = """#!/bin/bash
n=0
for name in ${TACO_ENI_INTERFACES//,/ }; do echo "$name" > "$FOLDER/ztcp$n.conf"; n=$((n + 1)); done
echo ran >> "$FOLDER/ran"
echo "$EXTRA: Set up HARP successfully"
"""


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def nic(name, primary=False):
    return {
        "name": name,
        "mac": "52:54:00:00:00:0" + name[-1],
        "pci": f"0000:00:0{name[-1]}.0",
        "numa_node": None,
        "driver": "virtio_net",
        "kind": "physical",
        "up": True,
        "primary": primary,
        "addresses": [],
    }


def node(count):
    return {
        "hostname": "node-0",
        "nics": [nic("eth0", primary=True)] + [nic(f"eth{number}") for number in range(1, count + 1)],
        "gpus": {"devices": []},
        "cpu": {"count": 2},
        "hugepages": {
            "default_size_bytes": 2097152,
            "pools": [{"size_bytes": 2097152, "total": 1, "free": 1, "nodes": [{"node": 0, "total": 1, "free": 1}]}],
        },
    }


class HarpHost:
    """The folders of a host, and the options that each task on it has."""

    def __init__(self, root):
        self.config = root / "config"
        self.state = root / "state"
        self.root = root
        self.warnings = []
        self.server = FakeServer()
        self.config.mkdir()
        self.state.mkdir()

    def options(self, **options):
        """All options of the module harp_config, by default those of a host with two ENIs."""
        folders = {"config_dir": str(self.config), "state_dir": str(self.state)}
        return {**DEFAULTS, **folders, "environment": self.environment(), "node": node(2), **options}

    def __call__(self, check=False, **options):
        """Return the result of the module, or its error."""
        try:
            return configure(self.options(**options), check, self.warnings.append, self.server.open_url)
        except ERRORS as error:
            return {"failed": True, "msg": str(error)}

    def environment(self, **more):
        return dict({"FOLDER": str(self.config), "EXTRA": "here"}, **more)

    def script(self, text, name="setup.sh"):
        path = self.root / name
        path.write_text(text)
        return {"script": str(path), "sha256": sha256(text)}

    def runs(self):
        ran = self.config / "ran"
        return len(ran.read_text().splitlines()) if ran.exists() else 0

    def tree(self):
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for folder in (self.config, self.state)
            for path in sorted(folder.rglob("*"))
        }


def rendered(*contents):
    return [{"dest": f"ztcp{number}.conf", "content": content} for number, content in enumerate(contents)]
