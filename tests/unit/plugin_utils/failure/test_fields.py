# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values of mpirun's help texts, by their names."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.failure.fields import fields_near, groups_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import tagged_lines

BOX = "-" * 60
TEXT = f"""  Local host: before
{BOX}
WARNING: the first line.

  Local host:      gpu1
  Peer hostname:   gpu2 ([[1,1],0])
  Process 2 ([[1,1],4]) is on host: gpu3
  Remote daemon: [prterun-a-1@0,1] on node gpu4
  Error:           No route to host (113)
{BOX}
  Value: behind
"""


def test_the_fields_of_a_text_end_at_its_rules():
    near = fields_near(tagged_lines(TEXT), 2)
    assert near == {
        "warning": "the first line.",
        "local host": "gpu1",
        "peer hostname": "gpu2 ([[1,1],0])",
        "process 2 is on host": "gpu3",
        "remote daemon": "[prterun-a-1@0,1] on node gpu4",
        "error": "No route to host (113)",
    }


@pytest.mark.parametrize(
    ("names", "host"),
    [(("local host",), "gpu1"), (("node", "peer hostname"), "gpu2"), (("remote daemon",), "gpu4"), (("node",), None)],
)
def test_a_host_is_the_first_of_its_fields(names, host):
    assert groups_of({"host": names}, tagged_lines(TEXT), 2).get("host") == host
