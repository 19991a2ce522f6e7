#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: kubernetes_node
short_description: Drain a Kubernetes node for a reboot, and uncordon it
version_added: 1.0.0
description:
  - Cordons a node and drains it, uncordons it, or waits until it is Ready and has the required resources.
  - The annotation C(taco.train/cordoned) of the node marks a cordon of this module. A node that was cordoned by another person is drained
    too, but never uncordoned. If the node was uncordoned by hand, the annotation is removed. If it was then cordoned again by hand, the
    node's C(managedFields) show it, unless the client was the same.
  - Pods are evicted, those whose budget refuses it with increasing delays, until no pod is left or the time limit is reached. Then the
    error lists the pods and their PodDisruptionBudgets.
  - Pods of DaemonSets and static pods stay.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - taco.train.kubernetes
  - taco.train.kubernetes.connection
attributes:
  check_mode:
    support: full
    details: Predicts refusals by the kind of a pod, but no others.
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
      - V(drained) cordons the node and evicts its pods. If pods remain after the time limit, a node that this call cordoned is uncordoned
        again.
      - V(uncordoned) removes a cordon of this module, but no other.
      - V(ready) changes nothing. It waits until the node is Ready and offers O(resources) and O(pages), even if the node is temporarily
        missing in the cluster. A node that is missing at the start is refused.
  drain:
    type: bool
    default: true
    description: Whether pods are evicted with O(state=drained), or the node is only cordoned.
  force:
    type: bool
    default: false
    description: Whether to evict pods without a controller, which are not recreated elsewhere. Otherwise a node with such a pod is not
      changed.
  delete_emptydir_data:
    type: bool
    default: false
    description: Whether to evict pods with an emptyDir, whose data is lost. Otherwise a node with such a pod is not changed.
  grace:
    type: int
    description: Grace period of a pod in seconds, 1 or more. Not set means the pod's own.
  resources:
    type: dict
    default: {}
    description: Allocatable resources that the node must have with O(state=ready), such as C(hugepages-1Gi=50Gi).
  pages:
    type: dict
    default: {}
    description: Hugepages that the kubelet must report with O(state=ready), by their size C(1G) or C(2M).
  boot_id:
    type: str
    description: The host's boot id. With O(state=ready) the kubelet must have reported since this boot.
  gate:
    type: bool
    default: true
    description: Whether a node that is not ready in time is a failure. Otherwise RV(problems) has the missing resources.
  timeout:
    type: int
    default: 300
    description: Seconds for the pods to leave, or for the node to be ready. With 0 the node is checked once.
  poll:
    type: float
    default: 2
    description: Seconds between two requests.
seealso:
  - module: kubernetes.core.k8s_drain
    description: Ends at the first pod whose budget refuses the eviction and leaves the node cordoned. Has no mark for its cordon, and only
      warns about pods that have not left in time.
"""

EXAMPLES = r"""
- name: Drain the node before its reboot
  taco.train.kubernetes_node:
    name: "{{ inventory_hostname }}"
    state: drained
    timeout: 600
  delegate_to: localhost

- name: Wait until the node is ready and has its hugepages and GPUs
  taco.train.kubernetes_node:
    name: "{{ inventory_hostname }}"
    state: ready
    resources:
      hugepages-1Gi: 50Gi
      nvidia.com/gpu: 8
  delegate_to: localhost

- name: Uncordon the node if it was not cordoned before
  taco.train.kubernetes_node:
    name: "{{ inventory_hostname }}"
    state: uncordoned
  delegate_to: localhost
"""

RETURN = r"""
node:
  description: The node without long fields. With O(state=drained) its state before the change.
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
  description: Hugepages that its kubelet reports, by size.
  returned: success
  type: dict
  sample: {"1G": 50, "2M": 0}
ours:
  description: Whether the node is cordoned, or was until now, by this module.
  returned: with O(state=drained) and O(state=uncordoned)
  type: bool
  sample: true
pods:
  description: The evicted pods.
  returned: with O(state=drained)
  type: list
  elements: str
  sample: [default/web-1]
left:
  description: A sentence on the state of the node if it does not come back from its reboot; V(null) if another person cordoned it.
  returned: with O(state=drained)
  type: str
problems:
  description: The missing resources of the node, with O(gate=false).
  returned: with O(state=ready)
  type: list
  elements: str
  sample: []
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
from ansible_collections.taco.train.plugins.module_utils.cluster.node import Node, NodeError
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError


def main():
    module = AnsibleModule(
        supports_check_mode=True,
        argument_spec=dict(
            access_arguments(),
            name=dict(type="str", required=True),
            state=dict(type="str", choices=["drained", "uncordoned", "ready"], required=True),
            drain=dict(type="bool", default=True),
            force=dict(type="bool", default=False),
            delete_emptydir_data=dict(type="bool", default=False),
            grace=dict(type="int"),
            resources=dict(type="dict", default={}),
            pages=dict(type="dict", default={}),
            boot_id=dict(type="str"),
            gate=dict(type="bool", default=True),
            timeout=dict(type="int", default=300),
            poll=dict(type="float", default=2.0),
        ),
    )
    client = client_of(module)
    try:
        result = Node(client, module.params, module.check_mode).result()
    except MpijobError as error:
        module.fail_json(msg=f"node {module.params['name']}: {error}", progress=client.lines)
    except (KubernetesError, NodeError) as error:
        module.fail_json(msg=failure(error), progress=client.lines)
    module.exit_json(progress=client.lines, **result)


if __name__ == "__main__":
    main()
