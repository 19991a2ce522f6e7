# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the module ssh_trust, as AnsibleModule and the controller check them."""

from typing import Any, Dict

_PEER: Dict[str, Any] = dict(
    name=dict(type="str", required=True),
    address=dict(type="str", required=True),
    port=dict(type="int", required=True),
    public_key=dict(type="str", required=True, no_log=False),
    host_key=dict(type="str", required=True, no_log=False),
)
OPTIONS: Dict[str, Any] = dict(
    argument_spec=dict(
        state=dict(type="str", choices=["identity", "trusted", "absent"], default="trusted"),
        container=dict(type="str", default=""),
        engine_command=dict(type="list", elements="str", default=["docker"]),
        peers=dict(type="list", elements="dict", default=[], options=_PEER),
        purge=dict(type="bool", default=True),
        address=dict(type="str"),
        port=dict(type="int", default=2222),
        user=dict(type="str", default="root"),
        client_config=dict(type="path", default="/root/.ssh/config"),
        prove=dict(type="bool", default=False),
        state_dir=dict(type="path", default="/var/lib/taco-train"),
    ),
    required_if=[("state", "trusted", ["address"])],
)
