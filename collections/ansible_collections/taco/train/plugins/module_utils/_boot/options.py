# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the module hugepages."""

OPTIONS = dict(
    argument_spec=dict(
        state=dict(type="str", choices=["present", "absent", "restored"], default="present"),
        count=dict(type="int"),
        gpus=dict(type="int"),
        page_size=dict(type="str", choices=["1G", "2M"], default="1G"),
        max_memory_fraction=dict(type="float", default=0.8),
        keep_other_sizes=dict(type="bool", default=True),
        runtime=dict(type="bool", default=False),
        regenerate=dict(type="bool", default=True),
        trial=dict(type="bool", default=False),
        force=dict(type="bool", default=False),
        sysroot=dict(type="path", default="/"),
        state_dir=dict(type="path", default="/var/lib/taco-train"),
    ),
    mutually_exclusive=[("count", "gpus")],
    required_if=[("state", "present", ("count", "gpus"), True)],
)
