#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: gpu_topology
short_description: Let nodes of ACK schedule their GPUs by topology, as usual, or as before
version_added: 1.0.0
description:
  - Sets the label C(ack.node.gpu.schedule) of nodes of Alibaba Cloud Container Service for Kubernetes, and waits until each
    of them offers its GPUs as the label says, C(aliyun.com/gpu) by topology and C(nvidia.com/gpu) as usual.
  - What the label was is kept on the node in the annotation C(taco.train/gpu-schedule-before), so that O(state=restored) can put it
    back from anywhere, also after a run that was killed.
  - All nodes are judged before any is changed. A node on which pods have GPUs is refused, and the pods are named.
  - A node is changed only as it was read. Where something else has changed it since, it is read and judged again.
  - The calls are made by M(kubernetes.core.k8s) and M(kubernetes.core.k8s_info) on the host that the task is for.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Nothing is written, and nothing is waited for.
  diff_mode:
    support: full
options:
  nodes:
    description: The names that the nodes have in the cluster.
    type: list
    elements: str
    required: true
  state:
    description:
      - V(topology) lets the GPUs of a node be scheduled by how they are connected, V(default) as usual.
      - V(restored) puts back what the label was before the first of these, by way of V(default) where there was none. A node on
        which nothing is remembered is left alone. One that the cluster has no more is warned of, when it has another of them.
    type: str
    choices: [topology, default, restored]
    required: true
  wait_timeout:
    description: Seconds to wait for the nodes to offer their GPUs.
    type: int
    default: 300
  poll:
    description: Seconds between two looks.
    type: float
    default: 2.0
  kubeconfig:
    description: The kubeconfig on the host that the task is for. Not set means what the client finds there.
    type: str
  context:
    description: The context of the kubeconfig. Not set means the current one.
    type: str
  access:
    description: Further options of M(kubernetes.core.k8s) on how the API server is reached, such as C(host) and C(api_key).
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Schedule the GPUs of two nodes by topology
  taco.train.gpu_topology:
    nodes: [cn-shanghai.192.168.16.172, cn-shanghai.192.168.16.173]
    state: topology
  delegate_to: localhost
  run_once: true

- name: Put back what the labels were
  taco.train.gpu_topology:
    nodes: [cn-shanghai.192.168.16.172, cn-shanghai.192.168.16.173]
    state: restored
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
before:
  description: The label of each node as it was, null where it had none.
  returned: success
  type: dict
after:
  description: The label of each node as it is to be.
  returned: success
  type: dict
"""
