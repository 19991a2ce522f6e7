# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the unit tests share."""

import json
import os

import pytest
from ansible.module_utils.testing import patch_module_args


@pytest.fixture(scope="session", autouse=True)
def unflushed():
    """Files aren't written through to the disk: nothing here outlives a machine that stops, and each flush takes milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(os, "sync", lambda: None)
        yield


@pytest.fixture
def run(capsys, tmp_path_factory, monkeypatch):
    """Return a function that runs a module's main() with options and returns what it printed, as a dictionary."""
    remote_tmp = tmp_path_factory.mktemp("remote-tmp")
    # On a host nothing of the controller is imported, which an action's test does: warnings would be displayed, not returned.
    monkeypatch.setattr("ansible.module_utils._internal.is_controller", False)
    for name in ("warnings", "deprecations"):
        monkeypatch.setattr(f"ansible.module_utils.common.warnings._global_{name}", {})

    def run_main(main, check=False, diff=True, **options):
        arguments = dict(
            options,
            _ansible_check_mode=check,
            _ansible_diff=diff,
            _ansible_remote_tmp=str(remote_tmp),
            _ansible_keep_remote_files=False,
        )
        with patch_module_args(arguments), pytest.raises(SystemExit):
            main()
        return json.loads(capsys.readouterr().out)

    return run_main
