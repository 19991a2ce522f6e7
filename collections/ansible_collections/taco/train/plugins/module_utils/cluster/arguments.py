# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options by which modules reach an API server."""

import os
from typing import Any, Dict, Iterator, Mapping

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import path_of

try:
    from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC
except ImportError:
    # The first request says what is missing.
    AUTH_ARG_SPEC = {}

OWN = ("kubeconfig", "context")
# Of a kubeconfig; any other value may be a secret.
PLAIN = ("apiVersion", "kind", "name", "cluster", "user", "namespace", "current-context")


def access_arguments() -> Dict[str, Any]:
    """Return the options. The kubeconfig may be its content, with a token, and so may options whose specification is missing."""
    others = {name: spec for name, spec in AUTH_ARG_SPEC.items() if name not in OWN}
    access: Dict[str, Any] = dict(type="dict", default={}, no_log=not others)
    if others:
        access["options"] = others
    return dict(
        kubeconfig=dict(type="raw", no_log=True),
        context=dict(type="str"),
        access=access,
        progress_file=dict(type="path"),
    )


def expanded(kubeconfig: Any) -> Any:
    """Return the path of a kubeconfig without ~, and its content as it is given."""
    return os.path.expanduser(kubeconfig) if path_of(kubeconfig) else kubeconfig


def plain_values(content: Any) -> Iterator[str]:
    """Yield the values of a kubeconfig that are no secrets, such as its names. Ansible would hide each of them in all results."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            if name in PLAIN and isinstance(value, str):
                yield value
            yield from plain_values(value)
    elif isinstance(content, list):
        for value in content:
            yield from plain_values(value)


def client_of(module: Any) -> Client:
    """Return the client of a module with these options."""
    given = expanded(module.params["kubeconfig"])
    if path_of(given):
        # A path is no secret, and messages name it.
        module.no_log_values.discard(module.params["kubeconfig"])
    module.no_log_values.difference_update(plain_values(given))
    own = {"kubeconfig": given, "context": module.params["context"]}
    return Client({**(module.params["access"] or {}), **own}, module.params["progress_file"])
