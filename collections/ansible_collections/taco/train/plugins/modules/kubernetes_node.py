#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: kubernetes_node
short_description: Take a node out of its cluster for a reboot, and back
version_added: 1.0.0
description:
  - Cordons a node and drains it, uncordons it, or waits until it is Ready and offers what it should.
  - The annotation C(taco.train/cordoned) of the node remembers that it was cordoned by this module. A node that somebody else has
    cordoned is drained all the same, and never uncordoned. A mark that stayed when somebody uncordoned the node by hand is removed.
    Where the mark stayed and somebody then cordoned the node again, the node's C(managedFields) tell, unless that was with the same
    client.
  - M(kubernetes.core.k8s_drain) does the evicting. It gives up when the first pod may not go, so it is run again, less and less
    often, until none is left or the time is up. Then the pods are named with the PodDisruptionBudgets that hold them.
  - Pods of DaemonSets, and static ones, stay.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
  - taco.train.kubernetes
  - taco.train.kubernetes.connection
attributes:
  check_mode:
    support: full
    details: Pods that could not be evicted for another reason than their kind are not known before.
  diff_mode:
    support: none
options:
  name:
    type: str
    required: true
    description: Name of the node in the cluster.
  state:
    type: str
    required: true
    choices: [drained, uncordoned, ready]
    description:
      - V(drained) cordons the node and has its pods leave. If they don't in time, a node that this call has cordoned is uncordoned again.
      - V(uncordoned) takes a cordon of this module away, and no other.
      - V(ready) changes nothing. It waits until the node is Ready and offers O(resources) and O(pages), also when the cluster doesn't
        have the node for a while meanwhile. One that it doesn't have at first is refused.
  drain:
    type: bool
    default: true
    description: Whether pods are evicted with O(state=drained), or the node is only cordoned.
  force:
    type: bool
    default: false
    description: Whether pods may be evicted that nothing would start again elsewhere. Without it a node with such a pod is not touched.
  delete_emptydir_data:
    type: bool
    default: false
    description: Whether pods with an emptyDir may be evicted, which is lost. Without it a node with such a pod is not touched.
  grace:
    type: int
    description: Seconds that a pod has to end after it was asked to, 1 or more. Not set means the pod's own.
  resources:
    type: dict
    default: {}
    description: Amounts that the node must be able to allocate with O(state=ready), such as C(hugepages-1Gi=50Gi).
  pages:
    type: dict
    default: {}
    description: Hugepages that the node's kubelet must have counted with O(state=ready), by their size C(1G) or C(2M).
  boot_id:
    type: str
    description: The host's boot id. With O(state=ready) the kubelet must have reported since this boot.
  gate:
    type: bool
    default: true
    description: Whether a node that is not ready in time is a failure. Otherwise what it lacks is returned.
  timeout:
    type: int
    default: 300
    description: Seconds for the pods to leave, or for the node to be ready. With 0 a node is looked at once.
  poll:
    type: float
    default: 2
    description: Seconds between two looks.
seealso:
  - module: kubernetes.core.k8s_drain
"""

EXAMPLES = r"""
- name: Drain the node before its reboot
  taco.train.kubernetes_node:
    name: "{{ inventory_hostname }}"
    state: drained
    timeout: 600
  delegate_to: localhost

- name: Wait until it offers its pages and GPUs again
  taco.train.kubernetes_node:
    name: "{{ inventory_hostname }}"
    state: ready
    resources:
      hugepages-1Gi: 50Gi
      nvidia.com/gpu: 8
  delegate_to: localhost

- name: Uncordon it, if it was not cordoned before
  taco.train.kubernetes_node:
    name: "{{ inventory_hostname }}"
    state: uncordoned
  delegate_to: localhost
"""

RETURN = r"""
node:
  description: The node, without what can be long. With O(state=drained) as it was before.
  returned: success
  type: dict
  contains:
    metadata:
      description: Its C(name), C(labels) and C(annotations).
      type: dict
    spec:
      description: All of it.
      type: dict
    status:
      description: Its C(allocatable), C(capacity), C(conditions) and C(nodeInfo).
      type: dict
pages:
  description: Hugepages that its kubelet has counted, by their size.
  returned: success
  type: dict
  sample: {"1G": 50, "2M": 0}
ours:
  description: Whether the node is, or was until now, cordoned by this module.
  returned: with O(state=drained) and O(state=uncordoned)
  type: bool
  sample: true
pods:
  description: The pods that had to leave.
  returned: with O(state=drained)
  type: list
  elements: str
  sample: [default/web-1]
left:
  description: How the node is left if it doesn't come back from its reboot, as a sentence; V(null) when somebody else has cordoned it.
  returned: with O(state=drained)
  type: str
problems:
  description: What the node still lacks, when O(gate=false).
  returned: with O(state=ready)
  type: list
  elements: str
  sample: []
"""
