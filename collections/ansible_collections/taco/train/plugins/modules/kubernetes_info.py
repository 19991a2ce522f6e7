#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: kubernetes_info
short_description: Gather facts about a Kubernetes cluster
version_added: 1.0.0
description:
  - Reads the nodes and the CRD of MPIJobs, and checks every permission that the collection needs, from preflight to rollback. Changes
    nothing.
  - An unreachable API server is not a failure of this module. The result has the error, which M(taco.train.preflight) reports with all
    other failures.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - taco.train.kubernetes
  - taco.train.kubernetes.connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
options:
  namespace:
    type: str
    default: default
    description: The namespace of the training.
seealso:
  - module: taco.train.preflight
"""

EXAMPLES = r"""
- name: Gather the state of the Kubernetes cluster
  taco.train.kubernetes_info:
    namespace: training
  delegate_to: localhost
  run_once: true
  register: cluster
"""

RETURN = r"""
kubernetes:
  description: The facts of the cluster.
  returned: always
  type: dict
  contains:
    error:
      description: Why the API server cannot be reached, with a fix, or V(null).
      type: str
    missing:
      description: The missing permissions.
      type: list
      elements: str
      sample: [patch nodes]
    nodes:
      description: The nodes without long fields, or V(null) without the permission to list them.
      type: list
      elements: dict
    crd:
      description: The CRD of MPIJobs, or V(null).
      type: dict
    operators:
      description: The pods of the MPI Operator, or V(null) without the permission to list pods.
      type: list
      elements: dict
      contains:
        name:
          description: The namespace and the name, with C(/) between them.
          type: str
        ready:
          description: Whether the pod is Ready.
          type: bool
        why:
          description: Why it is not Ready.
          type: str
    crd_forbidden:
      description: Whether the permission to read the CRD is missing.
      type: bool
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils.cluster.arguments import access_arguments, client_of
from ansible_collections.taco.train.plugins.module_utils.cluster.cluster_facts import facts


def main():
    module = AnsibleModule(
        supports_check_mode=True,
        argument_spec=dict(access_arguments(), namespace=dict(type="str", default="default")),
    )
    module.exit_json(changed=False, kubernetes=facts(client_of(module), module.params["namespace"]))


if __name__ == "__main__":
    main()
