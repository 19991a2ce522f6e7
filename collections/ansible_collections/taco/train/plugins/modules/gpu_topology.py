#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: gpu_topology
short_description: Set the GPU scheduling of ACK nodes, by topology or default, or restore it
version_added: 1.0.0
description:
  - Sets the label C(ack.node.gpu.schedule) of nodes of Alibaba Cloud Container Service for Kubernetes, and waits until each of them offers
    its GPUs as the matching resource, C(aliyun.com/gpu) for topology and C(nvidia.com/gpu) otherwise.
  - The previous label is stored on the node, in the annotation C(taco.train/gpu-schedule-before), so that O(state=restored) can restore it
    from any machine, also after a killed run.
  - All nodes are checked before one is changed. A node on which pods use GPUs is refused, and the error lists the pods.
  - If a node was changed by another client in the meantime, it is read and checked again before the change.
  - The host that the task is for asks the API server.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - taco.train.kubernetes
  - taco.train.kubernetes.connection
attributes:
  check_mode:
    support: full
    details: Writes nothing and does not wait.
  diff_mode:
    support: full
options:
  nodes:
    description: The names of the nodes in the Kubernetes cluster.
    type: list
    elements: str
    required: true
  state:
    description:
      - V(topology) schedules the GPUs of a node by their connections, V(default) in the default way.
      - V(restored) restores the label from before the first change. If there was none, the node has V(default) until its GPUs are back. A
        node without the annotation is not changed. A missing node is a warning if the cluster has another one of them.
    type: str
    choices: [topology, default, restored]
    required: true
  wait_timeout:
    description: Seconds to wait for the nodes to offer their GPUs.
    type: int
    default: 300
  poll:
    description: Seconds between two requests.
    type: float
    default: 2.0
"""

EXAMPLES = r"""
- name: Schedule the GPUs of two nodes by topology
  taco.train.gpu_topology:
    nodes: [cn-shanghai.192.168.16.172, cn-shanghai.192.168.16.173]
    state: topology
  delegate_to: localhost
  run_once: true

- name: Restore the labels
  taco.train.gpu_topology:
    nodes: [cn-shanghai.192.168.16.172, cn-shanghai.192.168.16.173]
    state: restored
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
before:
  description: The previous label of each node, null for none.
  returned: success
  type: dict
after:
  description: The new label of each node.
  returned: success
  type: dict
progress:
  description: What was waited for, and requests that were made again. Also of a task that fails.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils.cluster.arguments import access_arguments, client_of
from ansible_collections.taco.train.plugins.module_utils.cluster.client import KubernetesError
from ansible_collections.taco.train.plugins.module_utils.cluster.gpu_nodes import Nodes
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError


def main():
    module = AnsibleModule(
        supports_check_mode=True,
        argument_spec=dict(
            access_arguments(),
            nodes=dict(type="list", elements="str", required=True),
            state=dict(type="str", choices=["topology", "default", "restored"], required=True),
            wait_timeout=dict(type="int", default=300),
            poll=dict(type="float", default=2.0),
        ),
    )
    client = client_of(module)
    nodes = Nodes(client, module.params, module.check_mode)
    try:
        result = nodes.result()
    except MpijobError as error:
        module.fail_json(msg=f"the nodes can't be labelled: {error}", progress=client.lines)
    except KubernetesError as error:
        module.fail_json(msg=failure(error), progress=client.lines)
    for warning in nodes.warnings:
        module.warn(warning)
    module.exit_json(progress=client.lines, **result)


if __name__ == "__main__":
    main()
