# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the module harp_config, and where it keeps what: for the module and for those that look for its results."""

CONFIG_GLOB = "ztcp*.conf"
# In state_dir; the record is of the script that ran.
MANIFEST = "host-manifest.json"
RECORD = "harp/state.json"

RENDERED = dict(dest=dict(type="str", required=True), content=dict(type="str", required=True))
OPTIONS = dict(
    argument_spec=dict(
        state=dict(type="str", choices=["present", "absent"], default="present"),
        force=dict(type="bool", default=False),
        source=dict(type="str", choices=["script", "template", "none"], default="script"),
        script=dict(type="str"),
        script_content=dict(type="str"),
        sha256=dict(type="str"),
        allow_unverified=dict(type="bool", default=False),
        interpreter=dict(type="list", elements="str"),
        expected_text=dict(type="list", elements="str", default=["setup successfully", "Set up HARP successfully"]),
        environment=dict(type="dict", default={}),
        timeout=dict(type="int", default=600),
        rendered=dict(type="list", elements="dict", default=[], options=RENDERED),
        config_dir=dict(type="path", default="/usr/local/tfabric/tools/config"),
        config_glob=dict(type="str", default=CONFIG_GLOB),
        node=dict(type="dict"),
        eni_pattern=dict(type="str"),
        enis=dict(type="list", elements="str"),
        minimum_files=dict(type="str", default="1"),
        manifest=dict(type="bool", default=True),
        container=dict(type="str"),
        interrupt_running_work=dict(type="bool", default=False),
        state_dir=dict(type="path", default="/var/lib/taco-train"),
    )
)
