# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Let an action see a cluster from its task's host, by modules of kubernetes.core."""

import os
from typing import Any, Mapping

from ansible.errors import AnsibleActionFail, AnsibleError

from ansible_collections.taco.train.plugins.plugin_utils.check import is_set
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.client import Cluster
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.messages import path_of
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.pods import PodConnection

# How the API server is reached, in every action that asks it.
ACCESS: dict[str, dict[str, Any]] = {
    "kubeconfig": {"type": "raw"},
    "context": {"type": "str"},
    "access": {"type": "dict", "default": {}},
}


def host_of(action: Any, task_vars: Mapping[str, Any] | None) -> str:
    """Return the host that the modules run on, as people call it."""
    return str(action._task.delegate_to or (task_vars or {}).get("inventory_hostname", "this host"))


def pods_reached(action: Any, options: Mapping[str, Any], host: str) -> PodConnection:
    """Return how kubectl, which runs on the controller, reaches the pods; raise when only the task's host has the kubeconfig."""
    given = options["kubeconfig"]
    path = os.path.expanduser(given) if isinstance(given, str) else given or ""
    missing = isinstance(path, str) and path and not os.path.exists(path)
    if missing and options["state"] == "present" and action._connection.transport != "local":
        shown = path_of(path) or "at taco_kubeconfig, which is not a path and not shown, since it may hold a token"
        raise AnsibleActionFail(
            f"{host}: the controller has no kubeconfig {shown}. The API server is asked from {host}, and the pods are reached by kubectl "
            "on the controller: copy the kubeconfig to the same path there, or set taco_kubeconfig to a path that both have"
        )
    return PodConnection(path, options["context"] or "", options["python"])


def cluster_of(
    action: Any, options: Mapping[str, Any], task_vars: dict[str, Any] | None, host: str | None = None
) -> Cluster:
    """Return the cluster of an action whose options hold those of ACCESS. host is named in errors, by default that of the modules."""

    def execute(module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        try:
            result: Mapping[str, Any] = action._execute_module(
                module_name=module, module_args=arguments, task_vars=task_vars
            )
            return result
        except AnsibleError as error:
            # Without the collection there is no result of a module that could say so.
            if f"{module} was not found" not in str(error):
                raise
            return {"failed": True, "msg": str(error)}

    given = {"kubeconfig": options["kubeconfig"], "context": options["context"], **options["access"]}
    access = {name: value for name, value in given.items() if is_set(value)}
    return Cluster(execute, host or host_of(action, task_vars), access, action._display.display)
