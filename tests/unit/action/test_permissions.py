# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The permissions of the guides' manifest and the requests of the collection are the same.

The account of every test has the manifest's permissions and no others, so a request that it doesn't allow fails there. What is
shown here is the other direction: each permission is needed by something.
"""

from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleError
from ansible.playbook.task import Task
from kubernetes_modules import in_process
from node_objects import budget, pod, put

from ansible_collections.taco.train.plugins.action import kubernetes_info, kubernetes_node
from ansible_collections.taco.train.plugins.plugin_utils.preflight.kubernetes import PERMISSIONS


def perform(cluster, module, **options):
    task = Task()
    task.args = {"kubeconfig": cluster.kubeconfig, **options}
    task.check_mode = False
    action = module.ActionModule(task, MagicMock(), MagicMock(), None, MagicMock(), None)
    with in_process(action):
        return action.run(task_vars={"inventory_hostname": "gpu1"})


def test_every_permission_that_is_asked_for_is_used(on):
    actor = on()
    cluster = actor.cluster
    assert perform(cluster, kubernetes_info)["kubernetes"]["missing"] == []
    cluster.script("worker-1", ["NotReady"])
    actor.refused("1 of 2 workers are ready", wait_timeout=30)
    cluster.script("worker-1", ["Running"])
    actor.run()
    actor.run(clean_pod_policy="None")
    # A launcher that only waits has its processes listed by a command in it.
    actor.run(state="absent", check=True)
    actor.run(state="absent", interrupt_running_work=True)
    put(cluster, pod("web-1", "gpu-1"))
    cluster.put(budget("web", 1))
    with pytest.raises(AnsibleError, match="is held by the PodDisruptionBudget web"):
        perform(cluster, kubernetes_node, name="gpu-1", state="drained", timeout=1, poll=0.02)
    cluster.delete("PodDisruptionBudget", "web")
    perform(cluster, kubernetes_node, name="gpu-1", state="drained", timeout=20, poll=0.02)
    with pytest.raises(AnsibleError, match="is not back after 1 s"):
        perform(
            cluster,
            kubernetes_node,
            name="gpu-1",
            state="ready",
            resources={"example.com/none": 1},
            timeout=1,
            poll=0.02,
        )
    used = {(verb, group, resource) for verb, group, resource, _namespaced in cluster.used}
    asked = [(one.verb, one.group, "/".join(filter(None, (one.resource, one.subresource)))) for one in PERMISSIONS]
    assert used - set(asked) == set() and set(asked) - used == set()
