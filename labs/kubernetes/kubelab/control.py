# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a test tells a stand-in that runs in another process, below /kubelab: the same as methods of Cluster."""

from kubelab import status

CALLS = (
    "fail",
    "forbid",
    "allow",
    "script",
    "quota",
    "delete",
    "put",
    "forget_scripts",
    "stop_operator",
    "start_operator",
    "refuse_pods",
)


def perform(cluster, name, options):
    """Do what is asked for and return what came of it."""
    if name == "requests":
        return {"requests": list(cluster.requests)}
    if name not in CALLS:
        raise status.no_such_path()
    try:
        getattr(cluster, name)(**(options or {}))
    except (TypeError, ValueError, KeyError) as error:
        raise status.bad_request(str(error)) from error
    return {}
