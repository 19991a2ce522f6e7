# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module returns the observation, in check mode too, and reports why it has none."""

import pytest

from ansible_collections.taco.train.plugins.modules import node_info


@pytest.mark.parametrize("check", [True, False])
def test_the_observation_is_returned(run, tmp_path, check):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hostname").write_text("gpu1\n")
    result = run(node_info.main, check=check, sysroot=str(tmp_path))
    assert (result["changed"], result["node"]["schema"], result["node"]["hostname"]) == (False, 1, "gpu1")


def test_a_url_that_does_not_answer_fails(run, tmp_path):
    result = run(node_info.main, sysroot=str(tmp_path), metadata="http://127.0.0.1:9/")
    assert result["failed"] and "http://127.0.0.1:9/" in result["msg"] and "option metadata" in result["msg"]
