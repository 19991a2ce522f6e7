# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tasks of the role benchmark for roles that plan many runs."""

import json

import played
import pytest

PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Run the arm's commands after the run
      ansible.builtin.include_role:
        name: taco.train.benchmark
        tasks_from: after
      vars:
        benchmark_series: {arm: ARM}
        benchmark_exec_prefix: []
"""


@pytest.mark.parametrize("arm", ["tcp", {"name": "mine"}, {"name": "mine", "after": [["touch", "after"]]}])
def test_an_arm_is_a_name_or_a_mapping_as_everywhere(tmp_path, arm):
    rc, output = played.run(tmp_path, PLAY.replace("ARM", json.dumps(arm)), {"gpu1": {"taco_gpus_per_node": 8}}, {})
    assert rc == 0 and ("changed: [gpu1]" in output) == ("after" in arm), output


def test_the_error_names_the_series(tmp_path):
    rc, output = played.run(tmp_path, PLAY.replace("ARM", "fast"), {"gpu1": {"taco_gpus_per_node": 8}}, {})
    assert rc == 2 and "set benchmark_series.arm to one of taco, harp" in output, output
